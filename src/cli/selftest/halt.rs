//! Stops the load generator for a moment, as a machine that stands still would.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::cli::progress::Progress;
use crate::load::oha::PROGRAM;
use crate::measure::process;
use crate::run::{Notice, Observer};
use crate::weights::{HALT, HALTED};

/// From the opening of the window until the generator is stopped.
const AFTER: Duration = Duration::from_secs(1);

/// Shows progress, and stops the generator in the windows of [`HALTED`].
pub struct Halting {
    progress: Progress,
}

impl Halting {
    /// Shows what it is told through this.
    #[must_use]
    pub const fn new(progress: Progress) -> Self {
        Self { progress }
    }
}

impl Observer for Halting {
    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::Window { attempt, .. } = &notice
            && attempt.block.candidate.as_str() == HALTED
        {
            std::thread::spawn(halt);
        }
        self.progress.notice(notice);
    }
}

fn halt() {
    std::thread::sleep(AFTER);
    let generators = generators();
    for pid in &generators {
        let _ = kill_process(*pid, Signal::STOP);
    }
    std::thread::sleep(HALT);
    for pid in &generators {
        let _ = kill_process(*pid, Signal::CONT);
    }
}

/// The generator's processes among those that descend from this one.
fn generators() -> Vec<Pid> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let all = process::all();
    let tree = process::tree(&all, |it| it.pid == own || it.parent == own);
    tree.into_iter()
        .filter(|pid| process::name(*pid).is_some_and(|name| name == PROGRAM))
        .filter_map(Pid::from_raw)
        .collect()
}
