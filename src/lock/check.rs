//! Checking: does a lock still fit its experiment, and do programs still fit their pins?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::pin::{Agreement, compare, file_digests, generator_name};
use super::{Lock, Locked, Resolver, meaning, programs};
use crate::model::code::Caveat;
use crate::model::experiment::{ANALYSIS, PROTOCOL};
use crate::model::facts::GENERATOR;
use crate::model::{Digest, Experiment};

/// What a lock pins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pinned {
    /// The experiment's name.
    Experiment,
    /// Method and analysis.
    Model,
    /// The seed of the order.
    Seed,
    /// A file, by its path.
    File(String),
    /// A template of the experiment's own report, by its path. Changes the page, no measurement.
    Template(String),
    /// A program, by the name that the manifest uses.
    Program(String),
    /// The load generator.
    Generator,
    /// The version of the formulas.
    Analysis,
    /// The number of defaults and formats.
    Protocol,
    /// The thresholds of guards.
    Guards,
}

impl Pinned {
    /// Whether it only changes how a page looks: numbers and their meaning stay.
    #[must_use]
    pub const fn is_cosmetic(&self) -> bool {
        matches!(self, Self::Template(_))
    }
}

impl fmt::Display for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Experiment => f.write_str("the experiment's name"),
            Self::Model => f.write_str("the method and analysis"),
            Self::Seed => f.write_str("the seed of the order"),
            Self::File(path) => write!(f, "file `{}`", path.escape_debug()),
            Self::Template(path) => write!(f, "template `{}`", path.escape_debug()),
            Self::Program(name) => write!(f, "program `{}`", name.escape_debug()),
            Self::Generator => f.write_str("the load generator"),
            Self::Analysis => f.write_str("the version of the formulas"),
            Self::Protocol => f.write_str("the protocol number"),
            Self::Guards => f.write_str("the guards' thresholds"),
        }
    }
}

/// A pin that no longer fits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: the lock has {pinned}, now it is {now}; {remedy}")]
pub struct Mismatch {
    /// What is pinned.
    pub what: Pinned,
    /// What the lock has, escaped for printing.
    pub pinned: String,
    /// What is there now, escaped for printing.
    pub now: String,
    /// The way out.
    pub remedy: String,
}

const PIN_AGAIN: &str = "pin it with `loadlab lock`";

fn mismatch(what: Pinned, pinned: impl fmt::Display, now: impl fmt::Display) -> Mismatch {
    let shown = |value: String| value.escape_debug().to_string();
    Mismatch {
        what,
        pinned: shown(pinned.to_string()),
        now: shown(now.to_string()),
        remedy: PIN_AGAIN.to_owned(),
    }
}

/// Compares an experiment with its lock. Pure: neither programs nor files are looked at.
///
/// Under a profile's `scale` the loads are not the experiment's own; method and analysis are then
/// not compared, and what is measured carries the caveat `scaled` and cannot be published.
///
/// # Errors
/// Every pin that no longer fits, in a fixed order.
pub fn check(experiment: &Experiment, lock: &Lock) -> Result<Locked, Vec<Mismatch>> {
    let mut found = Vec::new();
    let mut expect = |what: Pinned, pinned: String, now: String| {
        if pinned != now {
            found.push(mismatch(what, pinned, now));
        }
    };
    let rules = &lock.rules;
    expect(
        Pinned::Experiment,
        lock.experiment.to_string(),
        experiment.name.to_string(),
    );
    if experiment.scale.is_none() {
        let now = meaning::model(experiment);
        expect(Pinned::Model, lock.model.to_string(), now.to_string());
    }
    let seed = meaning::seed(experiment);
    expect(Pinned::Seed, lock.seed.to_string(), seed.to_string());
    expect(
        Pinned::Analysis,
        rules.analysis.to_string(),
        ANALYSIS.to_string(),
    );
    expect(
        Pinned::Protocol,
        rules.protocol.to_string(),
        PROTOCOL.to_string(),
    );
    let guards = Digest::of_value(&experiment.guards);
    expect(Pinned::Guards, rules.guards.to_string(), guards.to_string());
    if rules.generator != GENERATOR {
        found.push(generator_moved(&rules.generator, GENERATOR));
    }
    let (templates, files) = file_digests(experiment);
    found.extend(moved(&lock.files, &files, Pinned::File));
    found.extend(moved(&rules.templates, &templates, Pinned::Template));
    found.extend(check_programs(experiment, lock));
    if found.is_empty() {
        Ok(Locked {
            experiment: experiment.clone(),
            lock: lock.clone(),
        })
    } else {
        Err(found)
    }
}

fn generator_moved(pinned: &str, now: &str) -> Mismatch {
    Mismatch {
        remedy: format!(
            "move the pin with `loadlab lock --upgrade {}`",
            generator_name(now)
        ),
        ..mismatch(Pinned::Generator, pinned, now)
    }
}

fn moved(
    pinned: &BTreeMap<String, Digest>,
    now: &BTreeMap<String, Digest>,
    what: fn(String) -> Pinned,
) -> Vec<Mismatch> {
    let paths: BTreeSet<&String> = pinned.keys().chain(now.keys()).collect();
    let shown = |digest: Option<&Digest>, absent: &str| {
        digest.map_or_else(|| absent.to_owned(), ToString::to_string)
    };
    paths
        .into_iter()
        .filter(|path| pinned.get(*path) != now.get(*path))
        .map(|path| {
            mismatch(
                what(path.clone()),
                shown(pinned.get(path), "no pin"),
                shown(now.get(path), "no longer named"),
            )
        })
        .collect()
}

fn check_programs(experiment: &Experiment, lock: &Lock) -> Vec<Mismatch> {
    let wanted = match programs::of_experiment(experiment) {
        Ok(wanted) => wanted,
        Err(unnamed) => {
            let shown: Vec<String> = unnamed.iter().map(ToString::to_string).collect();
            return vec![Mismatch {
                what: Pinned::Model,
                pinned: "named programs".to_owned(),
                now: shown.join("; "),
                remedy: "name the program in the manifest".to_owned(),
            }];
        }
    };
    let program = |name: &String| Pinned::Program(name.clone());
    let missing = wanted.iter().filter_map(|(name, rule)| {
        let Some(pin) = lock.programs.get(name) else {
            return Some(mismatch(program(name), "no pin", "named by the manifest"));
        };
        (rule.is_some() && pin.version.is_none())
            .then(|| mismatch(program(name), "no version", "one with a `version` rule"))
    });
    let extra = lock
        .programs
        .keys()
        .filter(|name| !wanted.contains_key(*name));
    missing
        .chain(extra.map(|name| mismatch(program(name), "a pin", "no longer named")))
        .collect()
}

/// Compares the programs of this machine with their pins, before a run.
///
/// Another version is a mismatch, and so are other bytes of a program that says no version. Other
/// bytes with the same version, or bytes that are pinned for other platforms only, are the caveat
/// `program_bytes_differ` with its text.
pub fn verify_programs(
    locked: &Locked,
    resolver: &mut dyn Resolver,
) -> (Vec<Mismatch>, Vec<(Caveat, String)>) {
    let mut mismatches = Vec::new();
    let mut caveats = Vec::new();
    let generator = resolver.generator();
    if locked.lock.rules.generator != generator {
        mismatches.push(generator_moved(&locked.lock.rules.generator, &generator));
    }
    let wanted = programs::of_experiment(&locked.experiment).unwrap_or_default();
    for (name, rule) in &wanted {
        let Some(pin) = locked.lock.programs.get(name) else {
            let what = Pinned::Program(name.clone());
            mismatches.push(mismatch(what, "no pin", "named by the manifest"));
            continue;
        };
        let pinned = pin.version.as_ref().map_or_else(
            || "its bytes".to_owned(),
            |version| format!("version {version}"),
        );
        match resolver.program(name, rule.as_ref()) {
            Err(because) => mismatches.push(Mismatch {
                remedy: format!(
                    "install `{}`, or move the pin with `loadlab lock --upgrade`",
                    name.escape_debug()
                ),
                ..mismatch(Pinned::Program(name.clone()), pinned, because)
            }),
            Ok(found) => match compare(name, pin, &found) {
                Agreement::Same => {}
                Agreement::NewPlatform if pin.version.is_none() => {
                    let now = format!("{} on {}", found.sha256, found.platform);
                    let pinned = "bytes for other platforms only";
                    mismatches.push(mismatch(Pinned::Program(name.clone()), pinned, now));
                }
                Agreement::NewPlatform | Agreement::OtherBytes => {
                    let pinned = pin.sha256.get(&found.platform).map_or_else(
                        || format!("no bytes for {}", found.platform),
                        |bytes| format!("sha256 {}", bytes.short()),
                    );
                    let text = format!(
                        "program `{}` says the version that the lock pins; the lock has {pinned}, this machine has sha256 {}",
                        name.escape_debug(),
                        found.sha256.short()
                    );
                    caveats.push((Caveat::ProgramBytesDiffer, text));
                }
                Agreement::Other { pinned, now } => mismatches.push(Mismatch {
                    remedy: format!(
                        "move the pin with `loadlab lock --upgrade {}`",
                        name.escape_debug()
                    ),
                    ..mismatch(Pinned::Program(name.clone()), pinned, now)
                }),
            },
        }
    }
    (mismatches, caveats)
}
