//! The events of a run: one JSON line each, integers with the unit in the name.

mod kind;
mod session;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::account::Account;
use crate::model::code::{GuardCode, Outcome};
use crate::model::reading::{Edge, FixedWork, IdleReading, Known, ProbeReading, Sample};
use crate::model::{BlockId, Digest, MeasurementId, Role, ScenarioName};

pub use session::{Opened, Session, SetAside, SourceCommit};

/// The version of the record format that this build writes.
pub const RECORD_FORMAT: u32 = 1;

/// One line of `records.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Line {
    /// Position in the file, from 0.
    pub sequence: u64,
    /// Digest of the bytes of the line before, without its line end; of the empty text for the first.
    pub previous: Digest,
    /// Wall clock when it was written, nanoseconds since 1970.
    pub realtime_ns: u64,
    /// What happened.
    pub event: Event,
}

/// A try at a block.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Attempt {
    /// Which block.
    pub block: BlockId,
    /// The try, from 1.
    pub attempt: u32,
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.a{}", self.block, self.attempt)
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The draft was made. First line.
    Opened(Box<Opened>),
    /// loadlab began or resumed measuring.
    Session(Box<Session>),
    /// The instrument was read at the start of a session.
    Calibrated(Box<Calibrated>),
    /// A candidate was rehearsed before the first block; its answers are what later ones must equal.
    Rehearsed(Rehearsed),
    /// A try at a block began.
    BlockStarted(BlockStarted),
    /// The probe was driven.
    Probed(Box<Probed>),
    /// A step of a block was done.
    Step(Step),
    /// The contract was checked.
    ContractChecked(ContractChecked),
    /// A scenario was warmed up.
    WarmedUp(Box<WarmedUp>),
    /// A load window was measured.
    Measured(Box<Measured>),
    /// A try at a block ended.
    BlockFinished(BlockFinished),
    /// loadlab ended. `complete` when every block has a valid attempt or no tries left.
    Closed {
        /// Whether nothing is left to do.
        complete: bool,
        /// Why it ended, where it is not complete.
        because: Option<String>,
    },
    /// The seal: digests of all witness files. Last line of a published entry.
    Sealed {
        /// Every witness file but this one, by relative path.
        files: BTreeMap<String, Digest>,
    },
}

/// The instrument at the start of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Calibrated {
    /// The session.
    pub session: u32,
    /// Readings of the reference nginx.
    pub probe: Vec<ProbeReading>,
    /// The reference nginx in a closed loop, where asked.
    pub ceiling: Option<ProbeReading>,
    /// The fixed-work loop.
    pub fixed_work: Known<FixedWork>,
}

/// A candidate was rehearsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rehearsed {
    /// The candidate.
    pub candidate: crate::model::CandidateName,
    /// Each check of the contract, then each scenario.
    pub checks: Vec<Check>,
    /// Why it could not be rehearsed; absent: it could.
    pub failed: Option<(Outcome, String)>,
}

/// One answer that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Check {
    /// What was asked: `GET /page.html`.
    pub request: String,
    /// Status that came; absent: no answer.
    pub status: Option<u16>,
    /// Digest of the body after content decoding.
    pub body: Option<Digest>,
    /// Length of the body as it came over the wire, bytes.
    pub wire_bytes: Option<u64>,
    /// What differed from what is expected; absent: nothing.
    pub difference: Option<String>,
}

/// A try at a block began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BlockStarted {
    /// Which.
    pub attempt: Attempt,
    /// Position in the plan, from 0.
    pub position: u64,
    /// Session.
    pub session: u32,
    /// The block's method key in the plan.
    pub method_key: Option<Digest>,
    /// The block's environment key in the plan.
    pub environment_key: Option<Digest>,
    /// The machine before the block.
    pub host: crate::model::reading::HostReading,
}

/// When the probe was driven.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProbeTime {
    /// Before the block.
    Before,
    /// After the block.
    After,
}

/// The probe was driven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Probed {
    /// Which block.
    pub attempt: Attempt,
    /// Before or after it.
    pub when: ProbeTime,
    /// What it showed.
    pub reading: ProbeReading,
}

/// The steps of a block that are recorded with their time.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// A service was started and is ready.
    Service,
    /// Data was restored.
    Restore,
    /// A prewarm step of the experiment.
    Prewarm,
    /// The candidate was started and answers its ready request.
    Ready,
    /// A prewarm step of the candidate.
    CandidatePrewarm,
    /// Quiet after a warm-up.
    Quiet,
    /// The candidate was stopped.
    Stopped,
}

/// A step of a block was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Step {
    /// Which block.
    pub attempt: Attempt,
    /// What kind.
    pub kind: StepKind,
    /// What it was done to.
    pub what: String,
    /// How long it took, nanoseconds.
    pub took_ns: u64,
    /// Whether it came to its end, or what went wrong.
    pub failed: Option<String>,
    /// Facts that the step yields, such as a digest of what a command printed.
    pub facts: BTreeMap<String, String>,
}

/// The contract was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ContractChecked {
    /// Which block.
    pub attempt: Attempt,
    /// Each check in the manifest's order.
    pub checks: Vec<Check>,
}

/// A scenario was warmed up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WarmedUp {
    /// Which block.
    pub attempt: Attempt,
    /// Which scenario.
    pub scenario: ScenarioName,
    /// What the generator counted.
    pub account: Known<Account>,
    /// Answers sampled by loadlab itself under warm-up load.
    pub samples: Vec<Check>,
}

/// A load window was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Measured {
    /// Which block.
    pub attempt: Attempt,
    /// Scenario and load point.
    pub id: MeasurementId,
    /// `CLOCK_MONOTONIC` when the load began, nanoseconds; by the generator's marker.
    pub start_monotonic_ns: Known<u64>,
    /// Planned length of the load window, nanoseconds.
    pub window_ns: u64,
    /// What the generator counted.
    pub account: Known<Account>,
    /// Opening edge of the counter window.
    pub before: Edge,
    /// Closing edge of the counter window.
    pub after: Edge,
    /// CPU time of each role while idle before the window.
    pub idle: BTreeMap<Role, IdleReading>,
    /// Readings inside the window, one a second.
    pub samples: Vec<Sample>,
    /// The candidate's own count of answers at the edges, where it has one.
    pub witness: Option<Known<WitnessCount>>,
    /// The largest number of connections seen in the database; absent: no database.
    pub connections_peak: Option<u64>,
    /// Answers sampled by loadlab itself at the edges.
    pub answers: Vec<Check>,
    /// What happened to the candidate, seen by the engine, in words; empty: nothing.
    pub incidents: Vec<Incident>,
    /// What the measurement showed.
    pub outcome: Outcome,
    /// More about the outcome.
    pub detail: Option<String>,
    /// The generator's output, byte for byte, relative to the draft.
    pub raw: Vec<RawFile>,
    /// The generator's command line; its program by name, not by place.
    pub command: Vec<String>,
}

/// An independent count of answers at both edges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WitnessCount {
    /// Before the window.
    pub before: u64,
    /// After the window.
    pub after: u64,
    /// Requests that loadlab itself sent between the two.
    pub own: u64,
    /// CPU time that the candidate says its process used; absent where the witness does not say it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<WitnessCpu>,
}

/// What a candidate says of its own CPU time, since it started. loadlab's two requests for the account
/// are part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WitnessCpu {
    /// Before the window, nanoseconds.
    pub before_ns: u64,
    /// After the window, nanoseconds.
    pub after_ns: u64,
}

/// Something that happened to the candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Incident {
    /// The outcome that it means.
    pub outcome: Outcome,
    /// What was seen.
    pub detail: String,
}

/// A file that a generator wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RawFile {
    /// Path relative to the draft.
    pub file: String,
    /// Digest of its bytes.
    pub digest: Digest,
    /// Length in bytes.
    pub bytes: u64,
}

/// A try at a block ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BlockFinished {
    /// Which.
    pub attempt: Attempt,
    /// An outcome that ended the whole block early, such as `not_ready`: then measurements are missing.
    pub outcome: Option<(Outcome, String)>,
    /// Breaches of guards, as judged while measuring; empty: valid.
    pub breaches: Vec<Breach>,
    /// The machine after the block.
    pub host: Known<crate::model::reading::HostReading>,
}

/// A breach of a guard.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Breach {
    /// Which guard.
    pub code: GuardCode,
    /// The evidence: value, unit, limit.
    pub evidence: String,
    /// The measurement it was seen in; absent: the block.
    pub measurement: Option<MeasurementId>,
}
