//! Phases: a load shape with its load points, repetitions and estimators.

use std::fmt;
use std::str::FromStr;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::estimator::EstimateRule;
use super::metric::Metric;
use super::name::{CandidateName, PhaseName, ScenarioName};
use super::unit::{Nanoseconds, Rate};

/// A load shape with its load points, repetitions and estimators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The name, unique in the experiment.
    pub name: PhaseName,
    /// How the report calls it; cosmetic.
    pub title: String,
    /// The load and its load points.
    pub load: LoadShape,
    /// Rounds, at least 1.
    pub repetitions: u32,
    /// The candidates that take part, in the order of the manifest.
    pub candidates: Vec<CandidateName>,
    /// The estimator of each metric that is reported, in the order of the manifest.
    pub estimate: IndexMap<Metric, EstimateRule>,
    /// Which repetitions enter an estimate; absent: every kept one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accept: Option<Accept>,
}

/// Which repetitions enter an estimate. Those not accepted are printed all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accept {
    /// Only measurements whose target was held.
    pub held: bool,
}

/// A load shape. Settings that both have are read through [`LoadShape`]'s methods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadShape {
    /// Open loop, with correction for coordinated omission.
    FixedRate {
        /// The load points of each scenario, in the order they are measured.
        rates: IndexMap<ScenarioName, Vec<Rate>>,
        /// Connections, at least 1; requests wait for a free one.
        connections: u32,
        /// The share of the planned requests that counts as held, in millionths of planned.
        held_at: super::unit::Share,
        /// Settings that every shape has.
        common: LoadCommon,
    },
    /// Closed loop over a sweep of connections.
    Ceiling {
        /// The scenarios, in the order they are measured.
        scenarios: Vec<ScenarioName>,
        /// The load points, in the order they are measured.
        connections: Vec<u32>,
        /// Settings that every shape has.
        common: LoadCommon,
    },
}

/// Settings that every load shape has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadCommon {
    /// Load before the first load point of each scenario and block; zero: none.
    pub warmup: Nanoseconds,
    /// The load window.
    pub duration: Nanoseconds,
    /// Longest wait for one answer; then it counts as an error.
    pub timeout: Nanoseconds,
    /// Longest quiet time after the warm-up.
    pub quiet: Nanoseconds,
    /// Largest number of planned requests for which every request is kept; zero: never.
    pub keep_requests: u64,
}

impl LoadShape {
    /// Settings that every shape has.
    #[must_use]
    pub const fn common(&self) -> &LoadCommon {
        match self {
            Self::FixedRate { common, .. } | Self::Ceiling { common, .. } => common,
        }
    }

    /// The scenarios in the order they are measured.
    #[must_use]
    pub fn scenarios(&self) -> Vec<&ScenarioName> {
        match self {
            Self::FixedRate { rates, .. } => rates.keys().collect(),
            Self::Ceiling { scenarios, .. } => scenarios.iter().collect(),
        }
    }

    /// The load points of a scenario in the order they are measured.
    #[must_use]
    pub fn points(&self, scenario: &ScenarioName) -> Vec<LoadPoint> {
        match self {
            Self::FixedRate { rates, .. } => rates
                .get(scenario)
                .into_iter()
                .flatten()
                .copied()
                .map(LoadPoint::Rate)
                .collect(),
            Self::Ceiling { connections, .. } => connections
                .iter()
                .copied()
                .map(LoadPoint::Connections)
                .collect(),
        }
    }
}

/// One setting of a phase. Text form: `1000/s` or `64`.
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
#[serde(try_from = "String", into = "String")]
pub enum LoadPoint {
    /// A rate, open loop.
    Rate(Rate),
    /// A number of connections, closed loop.
    Connections(u32),
}

impl FromStr for LoadPoint {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let count = text
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .map(Self::Connections);
        count
            .or_else(|| text.parse().ok().map(Self::Rate))
            .ok_or_else(|| {
                format!(
                    "expected a rate such as `1000/s` or a number of connections, found `{}`",
                    text.escape_debug()
                )
            })
    }
}

impl fmt::Display for LoadPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => rate.fmt(f),
            Self::Connections(count) => count.fmt(f),
        }
    }
}

super::written::written! {
    LoadPoint, or String;
}
