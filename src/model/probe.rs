//! The reference probe as the manifest declares it.

use serde::{Deserialize, Serialize};

use super::unit::{Nanoseconds, Rate};

/// When the probe is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeTimes {
    /// Before and after each block.
    #[default]
    BeforeAndAfter,
    /// Before each block.
    Before,
}

/// The reference nginx: no application code, on the candidate's cores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// When it is driven.
    pub when: ProbeTimes,
    /// Open-loop rate.
    pub rate: Rate,
    /// Connections.
    pub connections: u32,
    /// The load window.
    pub duration: Nanoseconds,
    /// Achieved rate below which a block is invalid.
    pub at_least: Rate,
    /// Readings at the start of the run that later ones are compared with, at least 3.
    pub calibration: u32,
    /// Whether the probe's own ceiling is measured once a run: `Some(connections)`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ceiling: Option<u32>,
}
