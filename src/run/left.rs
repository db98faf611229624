//! The time left, from the plan and from what blocks took so far.

use std::time::Duration;

use crate::plan::{Block, Plan};
use crate::record::Progress;

/// Estimates the time left. Load is known; what a block takes beside it is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeLeft {
    /// What a block is expected to take beside its load, nanoseconds.
    beside_ns: u64,
    /// Blocks it was learnt from; 0: it is the plan's own estimate.
    learnt: u64,
}

impl TimeLeft {
    /// Before any block: what the plan expects.
    pub(super) fn of(plan: &Plan) -> Self {
        let load: u64 = plan.blocks.iter().map(load_ns).sum();
        let whole_ns = plan.totals.whole_seconds() * 1_000_000_000;
        let beside_ns = whole_ns.saturating_sub(load);
        let beside_ns = beside_ns.checked_div(plan.blocks.len() as u64);
        Self {
            beside_ns: beside_ns.unwrap_or(0),
            learnt: 0,
        }
    }

    /// Learns from a block that took this long.
    pub(super) fn learn(&mut self, block: &Block, took_ns: u64) {
        let beside = took_ns.saturating_sub(load_ns(block));
        let sum = self.beside_ns * self.learnt + beside;
        self.learnt += 1;
        self.beside_ns = sum / self.learnt;
    }

    /// The time that the open blocks will take if none is tried again.
    pub(super) fn of_open(&self, plan: &Plan, progress: &Progress, attempts: u32) -> Duration {
        let blocks = plan.blocks.iter().zip(progress.blocks());
        let open = blocks.filter(|(_, so_far)| so_far.is_open(attempts));
        let left: u64 = open.map(|(block, _)| load_ns(block) + self.beside_ns).sum();
        Duration::from_nanos(left)
    }
}

/// Load of a block, warm-ups included, nanoseconds.
fn load_ns(block: &Block) -> u64 {
    let windows = block.measurements.iter();
    let load = windows.map(|window| window.duration.0 + window.warmup.map_or(0, |warmup| warmup.0));
    load.sum()
}
