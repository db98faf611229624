//! Checking: does a lock still fit its experiment, and do programs still fit their pins?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::pin::{Agreement, compare, file_digests, generator_name};
use super::{Lock, Locked, Pin, Resolver, meaning, programs};
use crate::model::candidate::VersionRule;
use crate::model::code::Caveat;
use crate::model::experiment::{ANALYSIS, PROTOCOL};
use crate::model::facts::GENERATOR;
use crate::model::text::harmless;
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
            Self::File(path) => write!(f, "file `{}`", harmless(path)),
            Self::Template(path) => write!(f, "template `{}`", harmless(path)),
            Self::Program(name) => write!(f, "program `{}`", harmless(name)),
            Self::Generator => f.write_str("the load generator"),
            Self::Analysis => f.write_str("the version of the formulas"),
            Self::Protocol => f.write_str("the protocol number"),
            Self::Guards => f.write_str("the guards' thresholds"),
        }
    }
}

/// A pin that no longer fits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: the lock has {}, {}; {remedy}", brief(pinned), brief(now))]
pub struct Mismatch {
    /// What is pinned.
    pub what: Pinned,
    /// What the lock has, such as `version 1.22`; escaped for printing.
    pub pinned: String,
    /// What is there now, as a clause such as `here is version 1.24`; escaped for printing.
    pub now: String,
    /// The way out.
    pub remedy: String,
}

/// A digest by its first digits: enough for a person to see that two differ.
pub(super) fn brief(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let digest = word.parse::<Digest>();
        digest.map_or_else(
            |_| word.to_owned(),
            |digest| format!("sha256:{}…", digest.short()),
        )
    });
    words.collect::<Vec<_>>().join(" ")
}

const PIN_AGAIN: &str = "pin it with `loadlab lock`";

fn mismatch(what: Pinned, pinned: impl fmt::Display, now: impl fmt::Display) -> Mismatch {
    let shown = |value: String| harmless(&value);
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
            found.push(mismatch(what, pinned, format!("now it is {now}")));
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
        ..mismatch(
            Pinned::Generator,
            pinned,
            format!("this loadlab brings {now}"),
        )
    }
}

fn moved(
    pinned: &BTreeMap<String, Digest>,
    now: &BTreeMap<String, Digest>,
    what: fn(String) -> Pinned,
) -> Vec<Mismatch> {
    let paths: BTreeSet<&String> = pinned.keys().chain(now.keys()).collect();
    paths
        .into_iter()
        .filter(|path| pinned.get(*path) != now.get(*path))
        .map(|path| {
            let pinned = pinned
                .get(path)
                .map_or_else(|| "no pin".to_owned(), Digest::to_string);
            let now = now.get(path).map_or_else(
                || "the manifest no longer names it".to_owned(),
                |digest| format!("now it is {digest}"),
            );
            mismatch(what(path.clone()), pinned, now)
        })
        .collect()
}

fn check_programs(experiment: &Experiment, lock: &Lock) -> Vec<Mismatch> {
    let wanted = match programs::of_experiment(experiment) {
        Ok(wanted) => wanted,
        Err(unnamed) => {
            let shown: Vec<String> = unnamed.iter().map(ToString::to_string).collect();
            return vec![Mismatch {
                remedy: "name the program in the manifest".to_owned(),
                ..mismatch(Pinned::Model, "named programs", shown.join("; "))
            }];
        }
    };
    let program = |name: &String| Pinned::Program(name.clone());
    let missing = wanted.iter().filter_map(|(name, rule)| {
        let Some(pin) = lock.programs.get(name) else {
            return Some(unpinned(name));
        };
        let asks = "the manifest has a rule for its version";
        (rule.is_some() && pin.version.is_none())
            .then(|| mismatch(program(name), "no version", asks))
    });
    let pinned = lock.programs.keys();
    let extra = pinned.filter(|name| !wanted.contains_key(*name));
    let gone = "the manifest no longer names it";
    missing
        .chain(extra.map(|name| mismatch(program(name), "a pin", gone)))
        .collect()
}

fn unpinned(name: &str) -> Mismatch {
    let what = Pinned::Program(name.to_owned());
    mismatch(what, "no pin", "the manifest names it")
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
        let pin = locked.lock.programs.get(name).ok_or_else(|| unpinned(name));
        match pin.and_then(|pin| verify_program(name, rule.as_ref(), pin, resolver)) {
            Ok(caveat) => caveats.extend(caveat),
            Err(mismatch) => mismatches.push(mismatch),
        }
    }
    (mismatches, caveats)
}

fn verify_program(
    name: &str,
    rule: Option<&VersionRule>,
    pin: &Pin,
    resolver: &mut dyn Resolver,
) -> Result<Option<(Caveat, String)>, Mismatch> {
    let what = || Pinned::Program(name.to_owned());
    let found = resolver.program(name, rule).map_err(|because| {
        let version = pin.version.as_ref();
        let pinned = version.map_or_else(
            || "its bytes".to_owned(),
            |version| format!("version {version}"),
        );
        mismatch(what(), pinned, format!("here {because}"))
    });
    let found = found.map_err(|fault| Mismatch {
        remedy: format!(
            "install it, or move the pin with `loadlab lock --upgrade {}`",
            harmless(name)
        ),
        ..fault
    })?;
    match compare(name, pin, &found) {
        Agreement::Same => Ok(None),
        Agreement::NewPlatform if pin.version.is_none() => {
            let now = format!("here is {} for {}", found.sha256, found.platform);
            Err(mismatch(what(), "bytes for other platforms only", now))
        }
        Agreement::NewPlatform | Agreement::OtherBytes => {
            let pinned = pin.sha256.get(&found.platform).map_or_else(
                || format!("no bytes for {}", found.platform),
                Digest::to_string,
            );
            let text = format!(
                "program `{}` says the version that the lock pins; the lock has {}, here is {}",
                harmless(name),
                brief(&pinned),
                brief(&found.sha256.to_string())
            );
            Ok(Some((Caveat::ProgramBytesDiffer, text)))
        }
        Agreement::Other { pinned, now } => Err(Mismatch {
            remedy: format!(
                "move the pin with `loadlab lock --upgrade {}`",
                harmless(name)
            ),
            ..mismatch(what(), pinned, format!("here is {now}"))
        }),
    }
}
