//! The plan: every block and measurement in order, with the seed, before anything runs.
//!
//! Pure: no clock, no files, no processes. The same experiment and lock give the same bytes.

use serde::{Deserialize, Serialize};

use crate::model::unit::{Nanoseconds, Rate};
use crate::model::{BlockId, Digest, ExperimentName, MeasurementId};

/// Every block in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment.
    pub experiment: ExperimentName,
    /// The seed of the order.
    pub seed: u64,
    /// The blocks in the order they run.
    pub blocks: Vec<Block>,
    /// What it adds up to.
    pub totals: Totals,
}

/// One candidate's turn in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Phase, round and candidate (written as three fields of the block).
    #[serde(flatten)]
    pub id: BlockId,
    /// Digest of the parts of the model that influence it; absent before there is a lock.
    pub method_key: Option<Digest>,
    /// Digest of what names resolved to; absent before there is a lock.
    pub environment_key: Option<Digest>,
    /// Its load windows in order.
    pub measurements: Vec<Measurement>,
}

/// One load window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// Scenario and load point (written as two fields of the measurement).
    #[serde(flatten)]
    pub id: MeasurementId,
    /// Load before it to warm up; absent when the scenario was warmed up earlier in the block.
    pub warmup: Option<Nanoseconds>,
    /// The load window.
    pub duration: Nanoseconds,
    /// The rate planned; absent at a ceiling.
    pub rate: Option<Rate>,
    /// Connections.
    pub connections: u32,
}

/// What a plan adds up to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Blocks.
    pub blocks: u64,
    /// Load windows.
    pub measurements: u64,
    /// Load in windows, whole seconds rounded up.
    pub load_seconds: u64,
    /// Warm-up load, whole seconds rounded up.
    pub warmup_seconds: u64,
    /// Estimate of the whole run, whole seconds: load, warm-up, probes, starts, quiet times.
    pub wall_seconds: u64,
    /// Estimate of the disk needed, bytes.
    pub disk_bytes: u64,
}
