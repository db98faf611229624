//! What is recorded of a draft and of each session of measuring.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::facts::{EngineFacts, GeneratorFacts};
use crate::model::reading::Known;
use crate::model::{Digest, EngineKind, EntryName, ExperimentName};

/// The draft was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Opened {
    /// Version of the record format.
    pub format: u32,
    /// Number of defaults and formats.
    pub protocol: u32,
    /// The experiment.
    pub experiment: ExperimentName,
    /// The entry; its name comes from here, not from its folder.
    pub entry: EntryName,
    /// loadlab's version.
    pub version: String,
    /// Digest of loadlab's program.
    pub program: Known<Digest>,
    /// Digest of the manifest's bytes.
    pub manifest: Digest,
    /// Digest of the lock's bytes; absent when measured with `--unlocked`.
    pub lock: Option<Digest>,
    /// Digest of `expanded.json`.
    pub expanded: Digest,
    /// Digest of `plan.json`.
    pub plan: Digest,
    /// Caveats that hold for the whole run, with what they are about.
    pub caveats: Vec<(crate::model::Caveat, String)>,
    /// Where the manifest came from.
    pub source: Known<SourceCommit>,
}

/// Where a manifest came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SourceCommit {
    /// The repository's address, as the remote `origin` says it, without credentials; absent: none.
    pub repository: Option<String>,
    /// The commit.
    pub commit: String,
    /// Whether the experiment's folder had no change against the commit.
    pub clean: bool,
    /// The manifest's path from the top of the repository; absent: git does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
}

/// loadlab began or resumed measuring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Session {
    /// From 1.
    pub number: u32,
    /// Identity of the machine's boot.
    pub boot_id: Known<String>,
    /// loadlab's process id.
    pub pid: u32,
    /// Digest of `host.json` without the boot: the machine's identity.
    pub machine: Digest,
    /// A torn last line that was set aside before this session, with its file and length.
    pub set_aside: Option<SetAside>,
    /// The engines in use.
    pub engines: BTreeMap<EngineKind, EngineFacts>,
    /// The load generator.
    pub generator: GeneratorFacts,
}

/// A torn last line that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SetAside {
    /// Where its bytes are now, relative to the draft.
    pub file: String,
    /// How many bytes.
    pub bytes: u64,
}
