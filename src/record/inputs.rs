//! What a run begins with, and how it is written into a draft.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::durable::{self, DiskError};
use super::event::SourceCommit;
use super::layout;
use crate::model::facts::{EngineFacts, GeneratorFacts, HostFacts};
use crate::model::{Caveat, Digest, EngineKind, EntryName, Experiment, Known};
use crate::plan::Plan;

/// Everything that a run begins with, as used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// Bytes of the manifest.
    pub manifest: Vec<u8>,
    /// Bytes of the lock; absent: `--unlocked`.
    pub lock: Option<Vec<u8>>,
    /// Bytes of the profile; absent: none.
    pub profile: Option<Vec<u8>>,
    /// Bytes of the author's `entry.md.j2`; absent: none.
    pub prose: Option<Vec<u8>>,
    /// The experiment's own report templates: relative path to bytes.
    pub templates: BTreeMap<String, Vec<u8>>,
    /// The model with every default.
    pub experiment: Experiment,
    /// The plan.
    pub plan: Plan,
    /// The machine.
    pub host: HostFacts,
    /// The engines and the load generator.
    pub engine: EngineFile,
}

/// What `engine.json` holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFile {
    /// The engines in use.
    pub engines: BTreeMap<EngineKind, EngineFacts>,
    /// The load generator.
    pub generator: GeneratorFacts,
}

/// What is known of loadlab and the source when a draft is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// loadlab's version.
    pub version: String,
    /// Digest of loadlab's program.
    pub program: Known<Digest>,
    /// Where the manifest came from.
    pub source: Known<SourceCommit>,
    /// Caveats that hold for the whole run, with what they are about.
    pub caveats: Vec<(Caveat, String)>,
}

/// The name of a new entry: the day it begins, UTC, and twelve digits of a digest over its inputs and
/// the moment, so that two runs of one day differ.
///
/// # Panics
/// Never: a day and hexadecimal digits make a name.
#[must_use]
pub fn entry_name(realtime_ns: u64, manifest: &[u8], lock: Option<&[u8]>) -> EntryName {
    let lock = lock.map(Digest::of);
    let digest = Digest::of_value(&(Digest::of(manifest), lock, realtime_ns));
    let name = format!("{}-{}", day(realtime_ns), digest.short());
    name.parse()
        .expect("a day and hexadecimal digits make a name")
}

/// The day of a moment, UTC, `YYYY-MM-DD`.
#[must_use]
pub fn day(realtime_ns: u64) -> String {
    let moment = jiff::Timestamp::from_nanosecond(i128::from(realtime_ns));
    moment.map_or_else(
        |_| "1970-01-01".to_owned(),
        |moment| moment.strftime("%Y-%m-%d").to_string(),
    )
}

/// The digest that `expanded.json` of this model has.
#[must_use]
pub fn expanded_digest(experiment: &Experiment) -> Digest {
    Digest::of(&pretty(experiment))
}

/// Pretty JSON with a line end, as every JSON file of a draft is written.
pub(super) fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("a model value has string keys");
    bytes.push(b'\n');
    bytes
}

pub(super) fn write(folder: &Path, inputs: &Inputs) -> Result<(), DiskError> {
    let optional = |name, bytes: &Option<Vec<u8>>| bytes.clone().map(|bytes| (name, bytes));
    let mut files = vec![(layout::MANIFEST, inputs.manifest.clone())];
    files.extend(optional(layout::LOCK, &inputs.lock));
    files.extend(optional(layout::PROFILE, &inputs.profile));
    files.extend(optional(layout::PROSE, &inputs.prose));
    files.push((layout::EXPANDED, pretty(&inputs.experiment)));
    files.push((layout::HOST, pretty(&inputs.host)));
    files.push((layout::ENGINE, pretty(&inputs.engine)));
    for (name, bytes) in &inputs.templates {
        let path = folder.join(layout::TEMPLATES).join(name);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(DiskError::because("create", parent))?;
        durable::create_synced(&path, bytes)?;
        durable::sync_folder(parent)?;
    }
    // The plan is last: a draft that has it has everything.
    files.push((layout::PLAN, pretty(&inputs.plan)));
    for (name, bytes) in files {
        durable::create_synced(&folder.join(name), &bytes)?;
    }
    Ok(())
}
