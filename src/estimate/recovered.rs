//! The part of a summary that says what a run recovered of its standards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summary::{BlockCounts, Decimal, Interval};
use crate::model::metric::{Metric, Unit};
use crate::model::standards::Difference;
use crate::model::unit::{Rate, Share};
use crate::model::{CandidateName, PhaseName};

/// What a run recovered of its standards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecoveredStandards {
    /// The phase whose rounds they stood in.
    #[schemars(with = "String")]
    pub phase: PhaseName,
    /// Their rate.
    #[schemars(with = "String")]
    pub rate: Rate,
    /// Rounds that they were planned in.
    pub rounds: u64,
    /// The declared coverage.
    #[schemars(with = "String")]
    pub coverage: Share,
    /// Blocks of each planted server.
    pub counts: Vec<BlockCounts>,
    /// Every pair in the order of the manifest.
    pub pairs: Vec<RecoveredPair>,
    /// Smallest ratio of two CPU costs per request that the run can tell apart, by what came back of
    /// its own standards; absent: see the reason.
    pub resolves: Option<Decimal>,
    /// The evidence for it, or why it is not known, in words.
    pub resolves_because: String,
}

/// What came back of one planted pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecoveredPair {
    /// What was planted.
    #[schemars(with = "serde_json::Value")]
    pub difference: Difference,
    /// The server with the extra.
    #[schemars(with = "String")]
    pub compare: CandidateName,
    /// The server without.
    #[schemars(with = "String")]
    pub against: CandidateName,
    /// The metric that shows it.
    #[schemars(with = "String")]
    pub metric: Metric,
    /// The unit of what was planted and of what came back: 1 of a ratio.
    #[schemars(with = "String")]
    pub unit: Unit,
    /// What was planted: a ratio of CPU, else a difference.
    pub planted: Decimal,
    /// What it may truly be at most: a timer never wakes early.
    pub planted_at_most: Decimal,
    /// What came back.
    pub recovered: Option<Decimal>,
    /// Its interval; where n cannot reach the declared coverage, the widest there is.
    pub interval: Option<Interval>,
    /// Value of the server with the extra, in the metric's unit.
    pub compare_value: Option<Decimal>,
    /// Value of the one without.
    pub against_value: Option<Decimal>,
    /// Every value of both that entered, in the order of rounds.
    pub values: (Vec<Decimal>, Vec<Decimal>),
    /// n of both.
    pub n: (u64, u64),
    /// The computed word.
    pub found: Found,
    /// Whether the interval holds what was planted; absent: no interval at the declared coverage.
    pub agrees: Option<bool>,
    /// Why there is no word.
    pub because: Option<String>,
}

/// A computed word on a planted pair.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// A difference was planted, and one in its direction was shown.
    Found,
    /// A difference was planted, and none in its direction was shown.
    NotFound,
    /// Nothing was planted, and nothing was found.
    NothingFound,
    /// Nothing was planted, and a difference was shown.
    FalseAlarm,
    /// There are too few values for a word.
    Silent,
}
