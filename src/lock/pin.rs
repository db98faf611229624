//! Pinning: every name becomes a digest or a version, and pins that still fit stay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::check::brief;
use super::{LOCK_VERSION, Lock, Pin, Rules, meaning, named, programs};
use crate::model::candidate::VersionRule;
use crate::model::experiment::{ANALYSIS, PROTOCOL};
use crate::model::text::harmless;
use crate::model::{Digest, Experiment};

/// What a program's name resolved to on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedProgram {
    /// Where it was found, absolute. Never written into a lock.
    pub path: PathBuf,
    /// The version as it says it; absent: no rule was given.
    pub version: Option<String>,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// The platform, such as `linux/x86_64`.
    pub platform: String,
}

/// Finds out what names stand for on a machine. May run a program's version command.
pub trait Resolver {
    /// Looks a program up by the name that a command uses.
    ///
    /// # Errors
    /// What was tried, what was found and what was expected, as a fragment of a sentence.
    fn program(
        &mut self,
        name: &str,
        rule: Option<&VersionRule>,
    ) -> Result<ResolvedProgram, String>;

    /// Name and version of the load generator, such as `oha 1.16.0`.
    fn generator(&self) -> String;
}

/// Which pins may move.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Upgrade {
    /// None: a program that changed is a fault.
    #[default]
    None,
    /// All of them.
    All,
    /// Those of these programs; the load generator is called by its name.
    Names(BTreeSet<String>),
}

impl Upgrade {
    fn covers(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Names(names) => names.contains(name),
        }
    }
}

/// Something that cannot be pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot pin {what}: {because}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
pub struct PinFault {
    /// The object, such as ``program `nginx` ``.
    pub what: String,
    /// What was found and what was expected.
    pub because: String,
    /// The way out, when it is certain.
    pub hint: Option<String>,
}

/// Everything that cannot be pinned, at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct PinFaults(pub Vec<PinFault>);

/// Pins every input of an experiment.
///
/// Pins of `previous` stay where they still fit; a program that says another version than its pin,
/// or that has other bytes and no version, is a fault unless `upgrade` covers it. Programs and
/// platforms that are not pinned yet are added, files always follow the manifest, and what is no
/// longer named is dropped.
///
/// # Errors
/// All faults at once.
pub fn pin(
    experiment: &Experiment,
    resolver: &mut dyn Resolver,
    previous: Option<&Lock>,
    upgrade: &Upgrade,
) -> Result<Lock, PinFaults> {
    let mut faults = Vec::new();
    if experiment.scale.is_some() {
        faults.push(PinFault {
            what: format!("experiment `{}`", experiment.name),
            because: "a profile scales it for a rehearsal, expected the experiment's own loads"
                .into(),
            hint: Some("run `loadlab lock` without that profile".into()),
        });
    }
    let wanted = programs::of_experiment(experiment).unwrap_or_else(|unnamed| {
        faults.extend(unnamed.into_iter().map(|unnamed| PinFault {
            what: format!("a program of experiment `{}`", experiment.name),
            because: unnamed.to_string(),
            hint: None,
        }));
        BTreeMap::new()
    });
    let mut pins = BTreeMap::new();
    for (name, rule) in &wanted {
        let known = previous.and_then(|lock| lock.programs.get(name));
        match pin_program(resolver, name, rule.as_ref(), known, upgrade.covers(name)) {
            Ok(pin) => drop(pins.insert(name.clone(), pin)),
            Err(fault) => faults.push(fault),
        }
    }
    let generator = pin_generator(resolver, previous, upgrade).unwrap_or_else(|fault| {
        faults.push(fault);
        String::new()
    });
    if faults.is_empty() {
        faults.extend(misnamed(upgrade, &wanted, &generator));
    }
    if !faults.is_empty() {
        return Err(PinFaults(faults));
    }
    Ok(assemble(experiment, pins, generator))
}

fn assemble(experiment: &Experiment, programs: BTreeMap<String, Pin>, generator: String) -> Lock {
    let (templates, files) = file_digests(experiment);
    Lock {
        lock_version: LOCK_VERSION,
        experiment: experiment.name.clone(),
        model: meaning::model(experiment),
        seed: meaning::seed(experiment),
        files,
        programs,
        rules: Rules {
            analysis: ANALYSIS,
            protocol: PROTOCOL,
            generator,
            guards: Digest::of_value(&experiment.guards),
            templates,
        },
    }
}

type ByPath = BTreeMap<String, Digest>;

/// The report's own templates, and all other files, as the manifest has them now.
pub(super) fn file_digests(experiment: &Experiment) -> (ByPath, ByPath) {
    let entries = experiment.files.iter();
    entries
        .map(|file| (file.path.clone(), file.digest))
        .partition(|(path, _)| named::is_report_template(experiment, path))
}

fn pin_program(
    resolver: &mut dyn Resolver,
    name: &str,
    rule: Option<&VersionRule>,
    known: Option<&Pin>,
    may_move: bool,
) -> Result<Pin, PinFault> {
    let what = format!("program `{}`", harmless(name));
    let found = resolver.program(name, rule).map_err(|because| PinFault {
        what: what.clone(),
        because,
        hint: None,
    })?;
    let fresh = fresh_pin(name, &found);
    let Some(known) = known else {
        return Ok(fresh);
    };
    match compare(name, known, &found) {
        Agreement::Same | Agreement::NewPlatform => Ok(Pin {
            version: found.version,
            sha256: fresh
                .sha256
                .into_iter()
                .chain(known.sha256.clone())
                .collect(),
        }),
        Agreement::OtherBytes if may_move => Ok(Pin {
            version: found.version,
            sha256: known
                .sha256
                .clone()
                .into_iter()
                .chain(fresh.sha256)
                .collect(),
        }),
        Agreement::OtherBytes => Ok(known.clone()),
        Agreement::Other { .. } if may_move => Ok(fresh),
        Agreement::Other { pinned, now } => Err(PinFault {
            what,
            because: format!("the lock pins {}, here is {}", brief(&pinned), brief(&now)),
            hint: Some(format!(
                "move the pin with `loadlab lock --upgrade {}`",
                harmless(name)
            )),
        }),
    }
}

/// What loadlab itself builds is pinned by its version alone: its bytes differ with each build.
fn fresh_pin(name: &str, found: &ResolvedProgram) -> Pin {
    let bytes = (found.platform.clone(), found.sha256);
    Pin {
        version: found.version.clone(),
        sha256: (name != programs::STUB)
            .then_some(bytes)
            .into_iter()
            .collect(),
    }
}

/// How a program agrees with its pin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// The same version, the same bytes.
    Same,
    /// The same version; its bytes are not pinned for this platform.
    NewPlatform,
    /// The same version, other bytes.
    OtherBytes,
    /// Another program.
    Other {
        /// What the lock has.
        pinned: String,
        /// What was found.
        now: String,
    },
}

pub(super) fn compare(name: &str, pin: &Pin, found: &ResolvedProgram) -> Agreement {
    let bytes = pin.sha256.get(&found.platform);
    let same_bytes = bytes.map(|bytes| *bytes == found.sha256);
    let versions = pin.version.as_ref().zip(found.version.as_ref());
    match (versions, same_bytes) {
        (Some((pinned, now)), _) if pinned != now => Agreement::Other {
            pinned: format!("version {}", harmless(pinned)),
            now: format!("version {}", harmless(now)),
        },
        (Some(_), Some(false)) => Agreement::OtherBytes,
        (_, Some(true)) => Agreement::Same,
        (Some(_), None) if name == programs::STUB => Agreement::Same,
        (Some(_), None) => Agreement::NewPlatform,
        (None, None) if pin.version.is_none() && found.version.is_none() => Agreement::NewPlatform,
        (None, _) => Agreement::Other {
            pinned: pin.version.as_ref().map_or_else(
                || bytes.map_or_else(|| "no version".to_owned(), ToString::to_string),
                |version| format!("version {}", harmless(version)),
            ),
            now: found.version.as_ref().map_or_else(
                || found.sha256.to_string(),
                |version| format!("version {}", harmless(version)),
            ),
        },
    }
}

/// The name by which `--upgrade` calls a generator: the word before its version.
pub(super) fn generator_name(generator: &str) -> &str {
    generator.split(' ').next().unwrap_or(generator)
}

fn pin_generator(
    resolver: &dyn Resolver,
    previous: Option<&Lock>,
    upgrade: &Upgrade,
) -> Result<String, PinFault> {
    let now = resolver.generator();
    let name = generator_name(&now);
    let moved = previous
        .map(|lock| &lock.rules.generator)
        .filter(|pinned| **pinned != now && !upgrade.covers(name));
    moved.map_or_else(
        || Ok(now.clone()),
        |pinned| {
            Err(PinFault {
                what: "the load generator".into(),
                because: format!(
                    "the lock pins {}, this loadlab brings {now}",
                    harmless(pinned)
                ),
                hint: Some(format!("move the pin with `loadlab lock --upgrade {name}`")),
            })
        },
    )
}

/// Names given to `--upgrade` that are no program of this experiment.
fn misnamed(
    upgrade: &Upgrade,
    wanted: &BTreeMap<String, Option<VersionRule>>,
    generator: &str,
) -> Vec<PinFault> {
    let Upgrade::Names(names) = upgrade else {
        return Vec::new();
    };
    let known = wanted.keys().map(String::as_str);
    let known: BTreeSet<&str> = known.chain([generator_name(generator)]).collect();
    names
        .iter()
        .filter(|name| !known.contains(name.as_str()))
        .map(|name| PinFault {
            what: format!("program `{}`", harmless(name)),
            because: format!(
                "the experiment has no such program, it has {}",
                known.iter().copied().collect::<Vec<_>>().join(", ")
            ),
            hint: None,
        })
        .collect()
}
