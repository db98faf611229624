//! The lock: the file of hashes that fixes all inputs. Verb: pin.
//!
//! [`check`] reads files and the lock only: no engine, no process, no network. What looks at the
//! machine is a [`Resolver`]; the real one is [`resolve::Local`]. A lock holds no times, no host
//! names and no paths but those that the manifest itself writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{Digest, Experiment, ExperimentName};

mod check;
pub mod meaning;
pub mod named;
mod pin;
pub mod programs;
pub mod resolve;
mod text;

pub use check::{Mismatch, Pinned, check, verify_programs};
pub use pin::{PinFault, PinFaults, ResolvedProgram, Resolver, Upgrade, pin};
pub use text::{LOCK_BYTES, LockFault};

/// The newest version of the lock's format that this build reads.
pub const LOCK_VERSION: u32 = 1;

/// The JSON Schema of a lock.
pub const SCHEMA: &str = include_str!("../../schemas/lock.v1.json");

/// The hashes of every input: `<stem>.lock.json`. Keys sorted, one fact a line, no times, no host names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Version of this format.
    pub lock_version: u32,
    /// The experiment.
    pub experiment: ExperimentName,
    /// Digest of the model's method and analysis: cosmetic parts and the machine's left out.
    pub model: Digest,
    /// Seed of the order, below 2^53.
    pub seed: u64,
    /// Files of the experiment's folder that the model names, by relative path; without templates.
    #[serde(with = "text::digests")]
    pub files: BTreeMap<String, Digest>,
    /// Programs of the process engine, by the name that the manifest uses.
    #[serde(with = "text::distinct")]
    pub programs: BTreeMap<String, Pin>,
    /// The rules that numbers are made by.
    pub rules: Rules,
}

/// What a program's name resolved to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The version as the program says it; absent: no version rule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    /// Digest of its file, by platform (`linux/x86_64`); empty for what loadlab itself builds.
    #[serde(with = "text::distinct")]
    pub sha256: BTreeMap<String, Digest>,
}

/// The rules that numbers are made by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Version of the formulas.
    pub analysis: u32,
    /// Number of defaults and formats.
    pub protocol: u32,
    /// Name and version of the load generator.
    pub generator: String,
    /// Digest of guards' thresholds.
    pub guards: Digest,
    /// Digest of the experiment's own report templates ([`named::is_report_template`]), by path.
    #[serde(with = "text::digests")]
    pub templates: BTreeMap<String, Digest>,
}

/// An experiment whose lock agrees with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// The experiment.
    pub experiment: Experiment,
    /// Its lock.
    pub lock: Lock,
}
