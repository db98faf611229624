//! The summary: all estimates of an entry, the only source of numbers in its report.
//!
//! Values are decimal strings (shortest form that reads back to the same double), in the metric's
//! one unit: requests per second, nanoseconds, cores, bytes. Nothing is rounded here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::model::code::CaveatNote;
use crate::model::code::{GuardCode, Outcome};
use crate::model::metric::{Metric, Unit};
use crate::model::phase::LoadPoint;
use crate::model::{
    CandidateName, Centre, EntryName, ExperimentName, MeasurementId, PhaseName, Role, ScenarioName,
};
use crate::record::event::Attempt;

pub use super::observed::{Cell, Counted, LimitsSeen, MemoryUse, RanOut, Requests, Watched};

pub use super::conclusion::{ComparisonResult, DerivedResult, DerivedRow, Verdict};
pub use super::decimal::Decimal;
pub use super::recovered::{Found, RecoveredPair, RecoveredStandards};
pub use crate::model::experiment::ANALYSIS;

/// The version of the summary's format that this build writes.
pub const SUMMARY_FORMAT: u32 = 1;

/// The shape of a [`CaveatNote`], for the schema.
#[derive(JsonSchema)]
#[schemars(rename = "CaveatNote")]
struct CaveatShape {
    /// The code.
    #[allow(dead_code)]
    code: String,
    /// Where and how much, in words.
    #[allow(dead_code)]
    detail: String,
}

/// The JSON Schema of a summary, as committed in `schemas/summary.v1.json`.
#[must_use]
pub fn schema() -> String {
    let schema = schemars::schema_for!(Summary);
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    format!("{text}\n")
}

/// All estimates of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of this format.
    pub format: u32,
    /// Version of the formulas.
    pub analysis: u32,
    /// Number of defaults and formats of the experiment.
    pub protocol: u32,
    /// The experiment.
    #[schemars(with = "String")]
    pub experiment: ExperimentName,
    /// The entry.
    #[schemars(with = "String")]
    pub entry: EntryName,
    /// First and last day of measuring, UTC, `YYYY-MM-DD`.
    pub measured_on: (String, String),
    /// Where the time went.
    pub time: TimeSpent,
    /// Whether every planned block has a kept attempt.
    pub complete: bool,
    /// Blocks per phase and candidate.
    pub counts: Vec<BlockCounts>,
    /// Every scenario, load point and candidate of every phase.
    pub cells: Vec<Cell>,
    /// Every estimate at one load point.
    pub estimates: Vec<Estimate>,
    /// Every estimate over load points.
    pub over_points: Vec<PointsEstimate>,
    /// Every comparison; the primary one first.
    pub comparisons: Vec<ComparisonResult>,
    /// Declared numbers.
    pub derived: Vec<DerivedResult>,
    /// The probe's readings.
    pub probe: ProbeSummary,
    /// What came back of the standards; absent: none were planted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standards: Option<RecoveredStandards>,
    /// Blocks and measurements that do not count.
    pub exclusions: Vec<Exclusion>,
    /// What weakens a conclusion, most important first.
    #[schemars(with = "Vec<CaveatShape>")]
    pub caveats: Vec<CaveatNote>,
    /// Every measurement of a candidate in the order of time, kept or not.
    pub timeline: Vec<TimelineRow>,
    /// Where counters came from: role to words.
    #[schemars(with = "BTreeMap<String, String>")]
    pub counters: BTreeMap<Role, String>,
    /// Where the machine's own counters came from, in words.
    pub machine_counters: String,
    /// Limits as the kernel had them at the edges of windows.
    pub limits: Vec<LimitsSeen>,
    /// Whether the kernel counted any stolen time since boot. Of a virtual machine where it never did,
    /// steal is not known.
    pub steal_was_seen: bool,
    /// Answers of all load windows, kept or not.
    pub answered_in_all: u64,
}

/// Where the time of a run went, whole milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSpent {
    /// From the first line to the last of each session, added up.
    pub wall_ms: u64,
    /// Load windows.
    pub load_ms: u64,
    /// Warm-up load.
    pub warmup_ms: u64,
    /// Probe load, calibration included.
    pub probe_ms: u64,
    /// CPU time of loadlab itself inside load windows over their length, one core is 1.
    pub own_cores: Option<Decimal>,
}

/// Blocks of a candidate in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockCounts {
    /// Phase.
    #[schemars(with = "String")]
    pub phase: PhaseName,
    /// Candidate.
    #[schemars(with = "String")]
    pub candidate: CandidateName,
    /// Blocks planned.
    pub planned: u64,
    /// Blocks with a kept attempt.
    pub kept: u64,
    /// Attempts excluded.
    pub excluded: u64,
    /// Blocks tried more than once.
    pub tried_again: u64,
}

/// The value of one repetition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repetition {
    /// The round.
    pub round: u32,
    /// The attempt that counts.
    pub attempt: u32,
    /// The value; absent: see `because`.
    pub value: Option<Decimal>,
    /// The largest value it may have where only bounds are known (then `value` is the smallest).
    pub at_most: Option<Decimal>,
    /// Why there is no value.
    pub because: Option<String>,
    /// What the measurement showed.
    #[schemars(with = "String")]
    pub outcome: Outcome,
    /// Whether it enters the estimate.
    pub accepted: bool,
}

/// How sure a printed number is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Comes from counters alone.
    Measured,
    /// Computed from measured numbers.
    Calculated,
    /// Computed from measured numbers under an assumption outside what was measured.
    Extrapolated,
}

/// An interval and what it truly covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: Decimal,
    /// Upper end.
    pub high: Decimal,
    /// True coverage, 1 is certain.
    pub coverage: Decimal,
    /// How it was made, in words: `order statistics of the median`, …
    pub kind: String,
}

/// One metric of one role in one cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Phase.
    #[schemars(with = "String")]
    pub phase: PhaseName,
    /// Scenario.
    #[schemars(with = "String")]
    pub scenario: ScenarioName,
    /// Load point.
    #[schemars(with = "String")]
    pub at: LoadPoint,
    /// Candidate.
    #[schemars(with = "String")]
    pub candidate: CandidateName,
    /// Role: whose CPU or memory; the candidate for all other metrics.
    #[schemars(with = "String")]
    pub role: Role,
    /// Metric.
    #[schemars(with = "String")]
    pub metric: Metric,
    /// Unit of every value here.
    #[schemars(with = "String")]
    pub unit: Unit,
    /// The estimator.
    #[schemars(with = "String")]
    pub centre: Centre,
    /// Repetitions that entered.
    pub n: u64,
    /// Every kept repetition in the order of rounds.
    pub values: Vec<Repetition>,
    /// The estimate; absent: see `because`, or the estimator is a range.
    pub value: Option<Decimal>,
    /// The largest value where only bounds are known.
    pub at_most: Option<Decimal>,
    /// `at least`: the generator ran out.
    pub at_least: bool,
    /// Why there is no estimate.
    pub because: Option<String>,
    /// Interval of the median, where n allows.
    pub interval: Option<Interval>,
    /// Smallest value.
    pub min: Option<Decimal>,
    /// Largest value.
    pub max: Option<Decimal>,
    /// Median, whatever the estimator.
    pub median: Option<Decimal>,
    /// Median achieved rate beside it, requests per second.
    pub achieved: Option<Decimal>,
    /// The same estimate with every complete attempt kept, whatever the guards say.
    pub with_everything: Option<Decimal>,
    /// Whether it is a response time under twice the probe's: the rig's own floor.
    pub rig_floor: bool,
    /// How sure it is.
    pub mark: Mark,
}

/// One metric over the load points of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PointsEstimate {
    /// Phase.
    #[schemars(with = "String")]
    pub phase: PhaseName,
    /// Scenario.
    #[schemars(with = "String")]
    pub scenario: ScenarioName,
    /// Candidate.
    #[schemars(with = "String")]
    pub candidate: CandidateName,
    /// Role.
    #[schemars(with = "String")]
    pub role: Role,
    /// Metric.
    #[schemars(with = "String")]
    pub metric: Metric,
    /// Unit.
    #[schemars(with = "String")]
    pub unit: Unit,
    /// The estimator over repetitions.
    #[schemars(with = "String")]
    pub repetitions: Centre,
    /// The estimator over load points.
    #[schemars(with = "String")]
    pub points: Centre,
    /// The estimate.
    pub value: Option<Decimal>,
    /// `at least`: the generator ran out at the load point it comes from.
    pub at_least: bool,
    /// The load point it comes from, where it comes from one.
    #[schemars(with = "Option<String>")]
    pub at: Option<LoadPoint>,
    /// The load point with the largest median, with that median.
    #[schemars(with = "Option<(String, Decimal)>")]
    pub best_median: Option<(LoadPoint, Decimal)>,
    /// The best single value and its load point.
    #[schemars(with = "Option<(String, Decimal)>")]
    pub best_single: Option<(LoadPoint, Decimal)>,
    /// Why there is no estimate.
    pub because: Option<String>,
}

/// The probe over the whole run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeSummary {
    /// Readings, calibration included.
    pub readings: u64,
    /// Lowest, median, highest achieved rate, requests per second.
    pub achieved: Option<[Decimal; 3]>,
    /// Lowest, median, highest CPU per request, nanoseconds.
    pub cpu_per_request: Option<[Decimal; 3]>,
    /// Lowest, median, highest p99, nanoseconds.
    pub p99: Option<[Decimal; 3]>,
    /// Lowest, median, highest fixed-work time over its calibration, by CPU.
    pub fixed_work: BTreeMap<u32, [Decimal; 3]>,
    /// Its ceiling, where it was measured, requests per second.
    pub ceiling: Option<Decimal>,
    /// Smallest ratio of two CPU costs per request that such readings of one and the same nginx can
    /// tell apart with as many repetitions as the experiment has; absent: too few readings.
    pub resolves: Option<Decimal>,
    /// The evidence for it, in words.
    pub resolves_because: String,
}

/// A block or measurement that does not count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Exclusion {
    /// Which attempt.
    #[schemars(with = "serde_json::Value")]
    pub attempt: Attempt,
    /// Which measurement; absent: the whole block.
    #[schemars(with = "Option<serde_json::Value>")]
    pub measurement: Option<MeasurementId>,
    /// The guard, or `manual`.
    #[schemars(with = "String")]
    pub code: GuardCode,
    /// The evidence, or the person's reason.
    pub evidence: String,
    /// Who decided; absent: a guard.
    pub by: Option<String>,
    /// When a person decided, `YYYY-MM-DD`.
    pub on: Option<String>,
}

/// One measurement in the order of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineRow {
    /// The try at the block.
    #[schemars(with = "serde_json::Value")]
    pub attempt: Attempt,
    /// Scenario and load point.
    #[schemars(with = "serde_json::Value")]
    pub id: MeasurementId,
    /// Since the first measurement of the run, whole milliseconds.
    pub at_ms: u64,
    /// Whether it is kept.
    pub kept: bool,
    /// What it showed.
    #[schemars(with = "String")]
    pub outcome: Outcome,
    /// Who ran out.
    pub ran_out: RanOut,
    /// Achieved rate: lowest and highest it may be, requests per second.
    pub achieved: Option<(Decimal, Decimal)>,
    /// CPU per request of the candidate, nanoseconds.
    pub cpu_per_request: Option<Decimal>,
    /// p50 and p99, nanoseconds.
    pub p50: Option<Decimal>,
    /// See `p50`.
    pub p99: Option<Decimal>,
}
