//! What a run tells while it runs. Nothing is printed here.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Closing;
use crate::model::{CandidateName, Role, ScenarioName};
use crate::plan::Measurement;
use crate::record::Attempt;
use crate::record::event::{BlockFinished, Measured, Rehearsed, StepKind};

/// Something that a watcher may want to see at once. Borrowed from the run; texts are not escaped.
#[derive(Debug)]
pub enum Notice<'a> {
    /// A session began.
    Session {
        /// From 1; above 1 it goes on with an earlier one.
        number: u32,
        /// Blocks that are asked for and done already.
        done: usize,
        /// Blocks that are asked for.
        blocks: usize,
        /// Estimate of the time left.
        left: Duration,
    },
    /// The reference nginx is read for calibration.
    Calibrating {
        /// Which reading, from 1.
        reading: u32,
        /// How many there will be.
        of: u32,
    },
    /// A candidate is rehearsed.
    Rehearsing(&'a CandidateName),
    /// A candidate was rehearsed.
    Rehearsed(&'a Rehearsed),
    /// A try at a block began.
    BlockStarted {
        /// Which.
        attempt: &'a Attempt,
        /// Position in the plan, from 0.
        position: usize,
        /// Blocks of the plan.
        blocks: usize,
        /// Estimate of the time left.
        left: Duration,
    },
    /// The probe is driven.
    Probing(&'a Attempt),
    /// A step begins.
    Step {
        /// Which block.
        attempt: &'a Attempt,
        /// What kind.
        kind: StepKind,
        /// What it is done to.
        what: &'a str,
    },
    /// A scenario is warmed up.
    WarmingUp {
        /// Which block.
        attempt: &'a Attempt,
        /// Which scenario.
        scenario: &'a ScenarioName,
        /// For how long.
        duration: Duration,
    },
    /// A load window opens.
    Window {
        /// Which block.
        attempt: &'a Attempt,
        /// Which measurement.
        measurement: &'a Measurement,
    },
    /// A reading inside the window, one a second.
    Reading {
        /// Seconds since the window opened.
        second: u64,
        /// Thousandths of a core that each role used since the reading before.
        millicores: &'a BTreeMap<Role, u64>,
    },
    /// A load window was measured.
    Measured(&'a Measured),
    /// A try at a block ended; breaches make it invalid.
    BlockFinished {
        /// Its end.
        finished: &'a BlockFinished,
        /// Whether it will be tried again at the end of its round; never when the session ends with it.
        again: bool,
        /// Estimate of the time left.
        left: Duration,
    },
    /// The run ended.
    Closed(&'a Closing),
}

/// Watches a run.
pub trait Observer: Send {
    /// Sees a notice. Must return at once and must not wait for a terminal.
    fn notice(&mut self, notice: Notice<'_>);
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn notice(&mut self, _: Notice<'_>) {}
}
