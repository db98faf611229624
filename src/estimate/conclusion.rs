//! The parts of a summary that are concluded from estimates: comparisons and declared numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summary::{Decimal, Interval, Mark};
use crate::model::derived::{Comparison, DerivedRule};
use crate::model::metric::Unit;
use crate::model::{CandidateName, DerivedName, ScenarioName};

/// A computed word on a comparison.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The ratio is below 1 at the declared coverage.
    Lower,
    /// The ratio is above 1 at the declared coverage.
    Higher,
    /// The interval holds 1.
    NoDifferenceShown,
    /// The interval lies within the declared equivalence.
    EquivalentWithin,
    /// The ratio is nearer to 1 than what the run's standards show that it resolves: no rank.
    BelowResolution,
}

/// The ratio of two candidates in one metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonResult {
    /// What is compared, all parts filled in.
    #[schemars(with = "serde_json::Value")]
    pub comparison: Comparison,
    /// Whether it is the declared primary one.
    pub primary: bool,
    /// Value of the numerator.
    pub compare_value: Option<Decimal>,
    /// Value of the denominator.
    pub against_value: Option<Decimal>,
    /// Achieved rates of both.
    pub achieved: (Option<Decimal>, Option<Decimal>),
    /// n of both.
    pub n: (u64, u64),
    /// The ratio.
    pub ratio: Option<Decimal>,
    /// Its interval.
    pub interval: Option<Interval>,
    /// The verdict; absent: see `because`.
    pub verdict: Option<Verdict>,
    /// Why there is no ratio or no verdict.
    pub because: Option<String>,
    /// How many comparisons the verdict is corrected for (Holm); 1: none.
    pub corrected_for: u64,
    /// The p-value that Holm's procedure used.
    pub p_value: Option<Decimal>,
}

/// A declared number for each candidate, or one for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DerivedResult {
    /// The name.
    #[schemars(with = "String")]
    pub name: DerivedName,
    /// How the report calls it.
    pub title: String,
    /// The rule.
    #[schemars(with = "serde_json::Value")]
    pub rule: DerivedRule,
    /// The rows.
    pub rows: Vec<DerivedRow>,
}

/// One cell of a declared number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DerivedRow {
    /// The candidate; absent: the number is for all.
    #[schemars(with = "Option<String>")]
    pub candidate: Option<CandidateName>,
    /// The scenario, where the rule goes over several.
    #[schemars(with = "Option<String>")]
    pub scenario: Option<ScenarioName>,
    /// The value.
    pub value: Option<Decimal>,
    /// The same with the best single value where the ceiling enters.
    pub with_best_single: Option<Decimal>,
    /// Over the value of `against`.
    pub relative: Option<Decimal>,
    /// For a corroboration: whether the two agree.
    pub agrees: Option<bool>,
    /// Unit.
    #[schemars(with = "String")]
    pub unit: Unit,
    /// How sure it is.
    pub mark: Mark,
    /// The assumption, or why there is no value.
    pub note: Option<String>,
}
