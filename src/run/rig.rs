//! The rig: everything a run needs from outside, each behind a seam.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::Engine;
use crate::guard::Rules;
use crate::load::LoadGenerator;
use crate::measure::{clock, host};
use crate::model::facts::HostFacts;
use crate::model::reading::{FixedWork, HostReading, Known};
use crate::model::{CpuSet, EngineKind, EntryName};
use crate::probe::fixed_work;
use crate::record::event::SetAside;

/// Reads the machine's counters.
pub trait HostReader: Send + Sync {
    /// Everything at this moment; cheap enough for the edge of a window.
    ///
    /// # Errors
    /// When the kernel's files cannot be read.
    fn read(&self) -> std::io::Result<HostReading>;
}

/// The monotonic clock. Waiting goes through tokio's time, so that tests can pause it.
pub trait Clock: Send + Sync {
    /// `CLOCK_MONOTONIC`, nanoseconds.
    fn monotonic_ns(&self) -> u64;
}

/// Does a fixed piece of work on each of the CPUs and takes the time.
pub trait FixedWorker: Send + Sync {
    /// Blocks for some ten milliseconds a CPU.
    fn work(&self, cpus: &CpuSet) -> Known<FixedWork>;
}

/// Watches the files of the programs that a run starts, so that what is started stays what the run
/// began with.
pub trait PinnedPrograms: Send + Sync {
    /// Each program that is no longer what it was when the session began, in words; empty: none.
    fn changed(&self) -> Vec<String>;
}

/// Watches no program.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unpinned;

impl PinnedPrograms for Unpinned {
    fn changed(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Programs that loadlab starts itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// The reference nginx.
    pub nginx: PathBuf,
    /// loadlab's own test server.
    pub stub: PathBuf,
    /// Where the programs that the manifest names were found when they were compared with the lock, so
    /// that what is started is what is pinned. A name that is not here is left to the engine.
    pub found: BTreeMap<String, PathBuf>,
}

impl Programs {
    /// A command with its program's place, where that is known.
    #[must_use]
    pub fn placed(&self, mut command: Vec<String>) -> Vec<String> {
        let found = command.first().and_then(|program| self.found.get(program));
        if let Some(found) = found.map(|found| found.to_string_lossy().into_owned()) {
            command[0] = found;
        }
        command
    }
}

/// Everything a run needs from outside.
pub struct Rig {
    /// The engines that roles may name.
    pub engines: BTreeMap<EngineKind, Arc<dyn Engine>>,
    /// The load generator.
    pub generator: Arc<dyn LoadGenerator>,
    /// The machine's counters.
    pub host: Arc<dyn HostReader>,
    /// The machine as it was observed when the session began.
    pub machine: HostFacts,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The fixed-work loop.
    pub fixed_work: Arc<dyn FixedWorker>,
    /// Programs that loadlab starts itself.
    pub programs: Programs,
    /// Whether the programs are still what the session began with; compared around every block.
    pub pinned: Arc<dyn PinnedPrograms>,
    /// The guards that a block must pass.
    pub rules: Rules,
    /// The experiment's folder: what files are read from.
    pub folder: PathBuf,
    /// The draft: what groups are tagged with.
    pub entry: EntryName,
    /// A torn last line that was set aside before this session.
    pub set_aside: Option<SetAside>,
    /// Whether loadlab moves itself to the load role's CPUs while it runs.
    pub pin_itself: bool,
}

/// The kernel's own monotonic clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct KernelClock;

impl Clock for KernelClock {
    fn monotonic_ns(&self) -> u64 {
        clock::monotonic_ns()
    }
}

/// This machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThisHost;

impl HostReader for ThisHost {
    fn read(&self) -> std::io::Result<HostReading> {
        Ok(host::reading())
    }
}

/// The probe's own piece of work, on this machine's cores.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProbeWork;

impl FixedWorker for ProbeWork {
    fn work(&self, cpus: &CpuSet) -> Known<FixedWork> {
        Known::from(fixed_work::measure(cpus))
    }
}
