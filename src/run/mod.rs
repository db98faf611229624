//! The loop: sessions, rounds, blocks, measurements. The only stage that waits; it computes no statistic.
//!
//! It runs on one thread on the load role's CPUs and sleeps between events. Inside a counter window it
//! reads and waits, and does nothing else: no line is written, nothing is synced, nobody is asked.

mod affinity;
mod answers;
mod ask;
mod bench;
pub mod bind;
mod block;
mod broken;
mod calibration;
pub mod cancel;
mod contract;
mod edge;
pub mod error;
pub mod fake;
pub mod files;
mod groups;
pub mod http;
mod incidents;
mod left;
mod measurement;
pub mod observer;
pub mod preflight;
mod prewarm;
mod probing;
mod quiet;
mod ready;
mod reference;
mod rehearsal;
pub mod rig;
mod role;
mod scenario;
mod session;
mod shooting;
mod turn;
mod unmeasured;
mod watch;
mod witness;

pub use cancel::Cancel;
pub use error::RunError;
pub use files::Files;
pub use observer::{Notice, Observer, Unobserved};
pub use preflight::preflight;
pub use rig::{
    Clock, FixedWorker, HostReader, KernelClock, PinnedPrograms, ProbeWork, Programs, Rig,
    ThisHost, Unpinned,
};
pub use unmeasured::Unmeasured;

use crate::model::Experiment;
use crate::plan::Asked;
use crate::record::event::Rehearsed;
use crate::record::{Journal, Progress, Records};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// Whether every block that was asked for has a valid attempt or no tries left.
    pub complete: bool,
    /// Why it ended, where it is not complete.
    pub because: Option<String>,
    /// Blocks that nobody asked for, and that still have to be measured.
    pub not_asked: usize,
    /// Blocks with a valid attempt.
    pub valid: usize,
    /// Blocks whose every try was invalid: exit code 6.
    pub invalid: usize,
    /// Blocks that were asked for and still have to be measured.
    pub left: usize,
    /// Candidates of whose valid blocks some hold no measurement: that is a result, and no number.
    pub unmeasured: Vec<Unmeasured>,
}

/// Measures every block that is asked for and that the earlier records do not have, into the journal.
///
/// `earlier` holds the lines written so far, at least `opened`; a run that is complete already writes
/// nothing. The first request to stop marks the block in progress and ends with a closing that is not
/// complete; the second returns at once and cleans nothing up. Give it a runtime of one thread: that
/// thread is moved to the load role's CPUs and back.
///
/// # Errors
/// When the run cannot begin or go on. What was recorded until then stays, and can be resumed.
pub async fn run(
    asked: &Asked,
    experiment: &Experiment,
    earlier: &Records,
    rig: &Rig,
    journal: &mut dyn Journal,
    observer: &mut dyn Observer,
    cancel: &Cancel,
) -> Result<Closing, RunError> {
    let files = Files::read(experiment, &rig.folder)?;
    let plan = &asked.plan;
    let progress = Progress::of(earlier, plan)?;
    let mut progress = progress.asked_for(|block| asked.includes(block));
    if progress.complete(experiment.attempts) {
        let tally = unmeasured::Tally::of(earlier);
        return Ok(session::closing(
            &progress,
            experiment.attempts,
            &tally,
            None,
        ));
    }
    let standards = experiment.of_standards();
    let whole = bench::Whole {
        experiment,
        standards: standards.as_ref(),
    };
    let mut bench = bench::Bench::new(whole, rig, cancel, files, journal, observer);
    let load = rig.pin_itself.then(|| bench.load_cpus()).transpose()?;
    let _pinned = load.map(affinity::Pinned::to).transpose()?;
    tokio::select! {
        biased;
        () = cancel.insisted() => Err(RunError::Abandoned),
        closing = session::session(&mut bench, plan, earlier, &mut progress) => closing,
    }
}

/// Starts every candidate once and asks it everything once, without load.
///
/// What a candidate cannot do stands in its `failed` and in the differences of its checks.
///
/// # Errors
/// When the services cannot be started, or loadlab or an engine fails.
pub async fn rehearse(
    experiment: &Experiment,
    rig: &Rig,
    journal: &mut dyn Journal,
    observer: &mut dyn Observer,
    cancel: &Cancel,
) -> Result<Vec<Rehearsed>, RunError> {
    let files = Files::read(experiment, &rig.folder)?;
    let standards = experiment.of_standards();
    let whole = bench::Whole {
        experiment,
        standards: standards.as_ref(),
    };
    let mut bench = bench::Bench::new(whole, rig, cancel, files, journal, observer);
    tokio::select! {
        biased;
        () = cancel.insisted() => Err(RunError::Abandoned),
        rehearsed = session::rehearse(&mut bench) => rehearsed,
    }
}
