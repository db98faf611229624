//! Numbers declared in the manifest that are computed from estimates alone.

use serde::{Deserialize, Serialize};

use super::metric::{Metric, Unit};
use super::name::{CandidateName, DerivedName, PhaseName, ScenarioName};
use super::phase::LoadPoint;
use super::role::Role;
use super::unit::{Rate, Share};

/// A declared number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derived {
    /// The name, unique in the experiment.
    pub name: DerivedName,
    /// How the report calls it; cosmetic.
    pub title: String,
    /// How it is computed.
    pub rule: DerivedRule,
}

/// How a declared number is computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DerivedRule {
    /// target x CPU per request, per candidate.
    CoresByCpuTime {
        /// The rate to serve.
        target: Rate,
        /// Which request.
        scenario: ScenarioName,
        /// The phase whose CPU per request is taken.
        phase: PhaseName,
        /// The candidate that the others are divided by.
        against: Option<CandidateName>,
    },
    /// target / ceiling x cores of the budget, per candidate.
    CoresByInstance {
        /// The rate to serve.
        target: Rate,
        /// Which request.
        scenario: ScenarioName,
        /// The ceiling phase.
        phase: PhaseName,
        /// The candidate that the others are divided by.
        against: Option<CandidateName>,
    },
    /// A metric of one scenario over the same metric of another, per candidate.
    Share {
        /// The numerator.
        of: ScenarioName,
        /// The denominator.
        within: ScenarioName,
        /// The metric.
        metric: Metric,
        /// The phase.
        phase: PhaseName,
    },
    /// Achieved at a target not held against the ceiling: do two phases agree?
    Corroboration {
        /// The fixed-rate phase.
        target: PhaseName,
        /// The ceiling phase.
        ceiling: PhaseName,
        /// The largest difference that still agrees.
        within: Share,
    },
    /// An expression over `value(…)`, units checked.
    Formula {
        /// The expression as written.
        formula: String,
        /// The unit that it must have.
        unit: Unit,
    },
}

/// One way to name a number everywhere. Absent parts take the only one there is; several: an error.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ValueName {
    /// The candidate.
    pub candidate: Option<CandidateName>,
    /// The scenario.
    pub scenario: Option<ScenarioName>,
    /// The phase.
    pub phase: Option<PhaseName>,
    /// The load point.
    pub at: Option<LoadPoint>,
    /// The role; absent: the candidate.
    pub role: Option<Role>,
    /// The metric.
    pub metric: Metric,
}

/// A declared comparison of two candidates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The metric.
    pub metric: Metric,
    /// The phase.
    pub phase: PhaseName,
    /// The scenario; absent: the only one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scenario: Option<ScenarioName>,
    /// The load point; absent: the only one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<LoadPoint>,
    /// The role; absent: the candidate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub role: Option<Role>,
    /// The numerator.
    pub compare: CandidateName,
    /// The denominator.
    pub against: CandidateName,
    /// The largest difference that counts as the same; absent: equivalence is not asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub equivalent_within: Option<Share>,
}
