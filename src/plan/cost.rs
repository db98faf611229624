//! What a plan costs in time and disk. Load is exact; all the rest is an estimate from the constants here.

use std::collections::BTreeSet;

use super::{Added, Block, Measurement, Totals};
use crate::model::experiment::Experiment;
use crate::model::probe::{Probe, ProbeTimes};
use crate::model::{LoadShape, Phase};

/// Start, ready answer, contract and stop of a block's processes, milliseconds.
const BLOCK: u64 = 500;
/// Quiet time after a warm-up, milliseconds; less where the phase allows less.
const QUIET: u64 = 1_000;
/// The generator's start and the drain of answers, around each load window, milliseconds.
const WINDOW: u64 = 300;
/// Start of the reference nginx and the fixed-work loop, around each probe, milliseconds.
const PROBE: u64 = 500;

/// Records of a block without its windows: readings, limits, probes, logs, bytes.
const BLOCK_BYTES: u64 = 64 << 10;
/// Records and raw output of a load window, bytes.
const WINDOW_BYTES: u64 = 24 << 10;
/// Readings of all roles, bytes a second.
const SECOND_BYTES: u64 = 4 << 10;
/// One kept request, bytes.
const REQUEST_BYTES: u64 = 100;
/// Inputs, summary and report, bytes.
const ENTRY_BYTES: u64 = 2 << 20;

const MILLISECOND: u64 = 1_000_000;

/// What is exact: load windows, and nanoseconds of load and of warm-up.
struct Load {
    windows: u64,
    load: u64,
    warmup: u64,
}

impl Load {
    fn of(blocks: &[Block]) -> Self {
        let windows = || blocks.iter().flat_map(|block| &block.measurements);
        let warmups = windows().filter_map(|each| each.warmup);
        Self {
            windows: windows().count() as u64,
            load: windows().map(|each| each.duration.0).sum(),
            warmup: warmups.map(|warmup| warmup.0).sum(),
        }
    }
}

/// What a plan adds up to; what standards add stands apart.
pub(super) fn totals(experiment: &Experiment, blocks: &[Block]) -> Totals {
    let (planted, own): (Vec<Block>, Vec<Block>) =
        blocks.iter().cloned().partition(|block| block.standard);
    let load = Load::of(&own);
    let view = experiment.of_standards();
    Totals {
        blocks: own.len() as u64,
        measurements: load.windows,
        load_seconds: seconds(load.load),
        warmup_seconds: seconds(load.warmup),
        wall_seconds: run(experiment, &own).div_ceil(1_000),
        disk_bytes: ENTRY_BYTES + disk(experiment, &own),
        standards: view.map(|view| {
            let wall = self::blocks(&view, &planted) + rehearsals(&view);
            added(&planted, wall.div_ceil(1_000), disk(&view, &planted))
        }),
    }
}

fn added(blocks: &[Block], wall_seconds: u64, disk_bytes: u64) -> Added {
    let load = Load::of(blocks);
    let rounds: BTreeSet<_> = (blocks.iter())
        .map(|block| (&block.id.phase, block.id.round))
        .collect();
    Added {
        rounds: rounds.len() as u64,
        blocks: blocks.len() as u64,
        measurements: load.windows,
        load_seconds: seconds(load.load),
        warmup_seconds: seconds(load.warmup),
        wall_seconds,
        disk_bytes,
    }
}

/// Milliseconds of a run of these blocks, calibration and rehearsals included.
pub(super) fn run(experiment: &Experiment, blocks: &[Block]) -> u64 {
    let ceiling = experiment
        .probe
        .ceiling
        .map_or(0, |_| probe(&experiment.probe));
    let calibration = u64::from(experiment.probe.calibration) * probe(&experiment.probe);
    self::blocks(experiment, blocks) + calibration + ceiling + rehearsals(experiment)
}

/// Milliseconds of these blocks with their probes.
pub(super) fn blocks(experiment: &Experiment, blocks: &[Block]) -> u64 {
    let Load { load, warmup, .. } = Load::of(blocks);
    let probes = blocks.len() as u64 * probes_a_block(&experiment.probe);
    let beside = blocks.iter().map(|each| overhead(experiment, each));
    (load + warmup).div_ceil(MILLISECOND) + beside.sum::<u64>() + probes * probe(&experiment.probe)
}

/// Milliseconds of the rehearsals of every candidate.
pub(super) fn rehearsals(experiment: &Experiment) -> u64 {
    experiment.candidates.len() as u64 * BLOCK
}

/// Bytes that these blocks leave on disk.
fn disk(experiment: &Experiment, blocks: &[Block]) -> u64 {
    let Load { load, warmup, .. } = Load::of(blocks);
    let windows = blocks.iter().map(|each| windows_bytes(experiment, each));
    blocks.len() as u64 * BLOCK_BYTES + seconds(load + warmup) * SECOND_BYTES + windows.sum::<u64>()
}

/// The totals of a part of a plan's blocks. Load is exact again; time around it and disk are shared
/// out by blocks and by load windows.
pub(super) fn part(whole: &Totals, blocks: &[Block]) -> Totals {
    let (planted, own): (Vec<Block>, Vec<Block>) =
        blocks.iter().cloned().partition(|block| block.standard);
    let all = added(&[], whole.wall_seconds, whole.disk_bytes);
    let all = Added {
        blocks: whole.blocks,
        measurements: whole.measurements,
        load_seconds: whole.load_seconds,
        warmup_seconds: whole.warmup_seconds,
        ..all
    };
    let part = part_of(&all, &own);
    Totals {
        blocks: part.blocks,
        measurements: part.measurements,
        load_seconds: part.load_seconds,
        warmup_seconds: part.warmup_seconds,
        wall_seconds: part.wall_seconds,
        disk_bytes: part.disk_bytes,
        standards: whole.standards.map(|all| part_of(&all, &planted)),
    }
}

fn part_of(whole: &Added, blocks: &[Block]) -> Added {
    let Load {
        windows,
        load,
        warmup,
    } = Load::of(blocks);
    let overhead = whole.wall_seconds.saturating_sub(whole.load_seconds);
    let overhead = overhead.saturating_sub(whole.warmup_seconds) * blocks.len() as u64;
    let wall_seconds = seconds(load + warmup) + overhead.div_ceil(whole.blocks.max(1));
    let disk_bytes = (whole.disk_bytes * windows).div_ceil(whole.measurements.max(1));
    added(blocks, wall_seconds, disk_bytes)
}

const fn seconds(nanoseconds: u64) -> u64 {
    nanoseconds.div_ceil(1_000_000_000)
}

const fn probes_a_block(probe: &Probe) -> u64 {
    match probe.when {
        ProbeTimes::BeforeAndAfter => 2,
        ProbeTimes::Before => 1,
    }
}

const fn probe(probe: &Probe) -> u64 {
    probe.duration.0 / MILLISECOND + PROBE
}

fn phase_of<'a>(experiment: &'a Experiment, block: &Block) -> Option<&'a Phase> {
    experiment.phases.get(&block.id.phase)
}

/// Milliseconds of a block that are neither load nor warm-up nor probe.
fn overhead(experiment: &Experiment, block: &Block) -> u64 {
    let allowed = phase_of(experiment, block).map_or(0, |phase| phase.load.common().quiet.0);
    let quiet = QUIET.min(allowed / MILLISECOND);
    let scenarios = block
        .measurements
        .iter()
        .filter(|each| each.warmup.is_some());
    BLOCK + scenarios.count() as u64 * quiet + block.measurements.len() as u64 * WINDOW
}

fn windows_bytes(experiment: &Experiment, block: &Block) -> u64 {
    let kept = phase_of(experiment, block).map_or(0, |phase| match &phase.load {
        LoadShape::FixedRate { common, .. } => common.keep_requests,
        LoadShape::Ceiling { .. } => 0,
    });
    let requests = |each: &Measurement| {
        let planned = each.rate.map_or(0, |rate| rate.planned(each.duration));
        if planned <= kept { planned } else { 0 }
    };
    block
        .measurements
        .iter()
        .map(|each| WINDOW_BYTES + requests(each) * REQUEST_BYTES)
        .sum()
}
