//! The rules by which numbers are made from repetitions: fixed in the manifest before any data.

use serde::{Deserialize, Serialize};

/// How several values become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Centre {
    /// The middle value; the mean of the two middle ones for an even n.
    Median,
    /// The largest where more is better (achieved), else the smallest. Selects: all values and the median are printed beside it.
    Best,
    /// The arithmetic mean.
    Mean,
    /// The mean without the smallest and the largest fifth, rounded down, of the values.
    TrimmedMean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The smallest and the largest; no single number.
    Range,
}

/// An estimator in two steps: over repetitions at each load point, then over load points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EstimateRule {
    /// Over the kept repetitions at one load point.
    pub repetitions: Centre,
    /// Over load points; absent: every load point keeps its own estimate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub points: Option<Centre>,
}

/// How an interval is made. The kind is named before any data.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum RatioInterval {
    /// Exact two-sample ranks (Hodges-Lehmann shift of logarithms).
    #[default]
    TwoSample,
    /// Exact signed ranks of the ratios within each round.
    Paired,
}
