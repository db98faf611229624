//! The plan: every block and measurement in order, with the seed, before anything runs.
//!
//! Pure: no clock, no files, no processes. The same experiment and lock give the same bytes.

use serde::{Deserialize, Serialize};

use crate::lock::{Lock, meaning};
use crate::model::unit::{Nanoseconds, Rate};
use crate::model::{
    BlockId, CandidateName, Digest, Experiment, ExperimentName, LoadPoint, LoadShape,
    MeasurementId, Phase, ScenarioName,
};

mod caveats;
mod cost;
mod display;
mod keys;
mod order;
mod select;
mod standards;

pub use caveats::caveats;
pub use display::{display, expanded};
pub use order::{Balance, balance};
pub use select::{Asked, NothingSelected, only};
use standards::Standing;

/// The JSON Schema of a plan, as `plan --format json` prints it.
pub const SCHEMA: &str = include_str!("../../schemas/plan.v1.json");

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
    /// Whether it is a planted server's turn, not a candidate's.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub standard: bool,
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
    /// What the standards add to all of this; absent: there are none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standards: Option<Added>,
}

/// What standards add to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// Rounds that they stand in.
    pub rounds: u64,
    /// Blocks.
    pub blocks: u64,
    /// Load windows.
    pub measurements: u64,
    /// Load in windows, whole seconds rounded up.
    pub load_seconds: u64,
    /// Warm-up load, whole seconds rounded up.
    pub warmup_seconds: u64,
    /// Estimate of the time they take, whole seconds.
    pub wall_seconds: u64,
    /// Estimate of the disk needed, bytes.
    pub disk_bytes: u64,
}

impl Totals {
    /// Estimate of the whole run with its standards, whole seconds.
    #[must_use]
    pub fn whole_seconds(&self) -> u64 {
        self.wall_seconds + self.standards.map_or(0, |added| added.wall_seconds)
    }

    /// Estimate of the disk needed with the standards, bytes.
    #[must_use]
    pub fn whole_disk_bytes(&self) -> u64 {
        self.disk_bytes + self.standards.map_or(0, |added| added.disk_bytes)
    }
}

impl Plan {
    /// The same without, or with nothing but, the planted servers' blocks. What it adds up to stays.
    #[must_use]
    pub fn only_standards(&self, standards: bool) -> Self {
        let blocks = self.blocks.iter();
        let wanted = blocks.filter(|block| block.standard == standards);
        Self {
            blocks: wanted.cloned().collect(),
            ..self.clone()
        }
    }
}

/// Lays out every block and measurement in order: phases as the manifest has them, rounds from 1,
/// inside a round the candidates in the order of the rule, and planted servers between them.
///
/// Before there is a lock the keys are absent, and the seed is the manifest's or derived as the
/// lock would derive it, so that the order stays the same when it is locked.
#[must_use]
pub fn build(experiment: &Experiment, lock: Option<&Lock>) -> Plan {
    let seed = lock.map_or_else(|| meaning::seed(experiment), |lock| lock.seed);
    let keys = lock.map(|lock| keys::Keys::of(experiment, lock));
    let mut rounds: Vec<(&Phase, u32, Vec<Block>)> = Vec::new();
    for phase in experiment.phases.values() {
        let measurements = measurements(phase);
        let orders = order::rounds(phase, experiment.order.rule, seed);
        for (round, candidates) in (1..).zip(orders) {
            let id = |candidate: &CandidateName| BlockId {
                phase: phase.name.clone(),
                round,
                candidate: candidate.clone(),
            };
            let blocks = candidates.into_iter();
            let blocks = blocks.map(|name| block(id(name), measurements.clone(), keys.as_ref()));
            rounds.push((phase, round, blocks.collect()));
        }
    }
    let of_candidates: Vec<Block> = rounds
        .iter()
        .flat_map(|(.., blocks)| blocks.clone())
        .collect();
    let standing = Standing::of(experiment, &of_candidates, lock, seed);
    let joined = rounds
        .into_iter()
        .flat_map(|(phase, round, blocks)| match &standing {
            Some(standing) => standing.join(&phase.name, round, blocks),
            None => blocks,
        });
    let blocks: Vec<Block> = joined.collect();
    Plan {
        experiment: experiment.name.clone(),
        seed,
        totals: cost::totals(experiment, &blocks),
        blocks,
    }
}

fn block(id: BlockId, measurements: Vec<Measurement>, keys: Option<&keys::Keys>) -> Block {
    Block {
        method_key: keys.and_then(|keys| keys.method(&id.phase, &id.candidate)),
        environment_key: keys.and_then(|keys| keys.environment(&id.candidate)),
        id,
        measurements,
        standard: false,
    }
}

/// The load windows of each block of a phase; the first of each scenario has the warm-up.
fn measurements(phase: &Phase) -> Vec<Measurement> {
    let common = phase.load.common();
    let warmup = Some(common.warmup).filter(|warmup| warmup.0 > 0);
    let window = |scenario: &ScenarioName, (index, at, rate, connections)| Measurement {
        id: MeasurementId {
            scenario: scenario.clone(),
            at,
        },
        warmup: warmup.filter(|_| index == 0),
        duration: common.duration,
        rate,
        connections,
    };
    match &phase.load {
        LoadShape::FixedRate {
            rates, connections, ..
        } => rates
            .iter()
            .flat_map(|(scenario, rates)| {
                let points = rates.iter().enumerate();
                points.map(move |(index, rate)| {
                    let at = LoadPoint::Rate(*rate);
                    window(scenario, (index, at, Some(*rate), *connections))
                })
            })
            .collect(),
        LoadShape::Ceiling {
            scenarios,
            connections,
            ..
        } => scenarios
            .iter()
            .flat_map(|scenario| {
                let points = connections.iter().enumerate();
                points.map(move |(index, count)| {
                    let at = LoadPoint::Connections(*count);
                    window(scenario, (index, at, None, *count))
                })
            })
            .collect(),
    }
}
