//! How blocks and measurements are named in plans, records and folders.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::name::{CandidateName, PhaseName, ScenarioName};
use super::phase::LoadPoint;

/// One candidate's turn in a round of a phase. Printed `fixed-rate.r01.plain`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct BlockId {
    /// The phase.
    pub phase: PhaseName,
    /// The round, from 1: repetition r of the phase.
    pub round: u32,
    /// Whose turn it is.
    pub candidate: CandidateName,
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.r{:02}.{}", self.phase, self.round, self.candidate)
    }
}

/// One load window in a block. Printed `page.1000-per-s` or `page.64-connections`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct MeasurementId {
    /// What is sent.
    pub scenario: ScenarioName,
    /// At which setting.
    pub at: LoadPoint,
}

impl fmt::Display for MeasurementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            LoadPoint::Rate(rate) => write!(f, "{}.{}-per-s", self.scenario, rate.get()),
            LoadPoint::Connections(count) => write!(f, "{}.{count}-connections", self.scenario),
        }
    }
}
