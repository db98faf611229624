//! loadlab's own place: on the load role's CPUs while it measures, where it was before afterwards.

use rustix::thread::{CpuSet as Affinity, sched_getaffinity, sched_setaffinity};

use super::error::RunError;
use crate::model::CpuSet;

/// Keeps the calling thread, and every thread it starts, on some CPUs until it is dropped.
pub(super) struct Pinned {
    before: Affinity,
}

impl Pinned {
    /// Moves the calling thread.
    ///
    /// # Errors
    /// When the kernel refuses: the CPUs are not online or not allowed.
    pub(super) fn to(cpus: &CpuSet) -> Result<Self, RunError> {
        let refused = |error: rustix::io::Errno| {
            RunError::Unfit(format!(
                "cannot move loadlab itself to CPUs {cpus}: {error}"
            ))
        };
        let before = sched_getaffinity(None).map_err(refused)?;
        let mut wanted = Affinity::new();
        for cpu in cpus.iter() {
            let cpu = usize::try_from(cpu).unwrap_or(usize::MAX);
            if cpu >= Affinity::MAX_CPU {
                return Err(refused(rustix::io::Errno::INVAL));
            }
            wanted.set(cpu);
        }
        sched_setaffinity(None, &wanted).map_err(refused)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // It was allowed there before; should that have changed, nothing is lost by staying.
        let _ = sched_setaffinity(None, &self.before);
    }
}
