//! A fixed piece of work on each CPU: how fast is this core at this moment.
//!
//! CPU time, not wall time: other processes on the core do not stretch it, but a lower frequency, a
//! busy sibling or a hypervisor that takes cycles away without saying so does.

use std::collections::BTreeMap;
use std::hint::black_box;

use rustix::thread::{CpuSet as Affinity, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use crate::model::CpuSet;
use crate::model::reading::FixedWork;

/// Pieces done on each CPU; the smallest counts.
pub const PIECES: u32 = 7;
/// Steps of one piece: about a millisecond on a core of the 2020s.
pub const STEPS: u32 = 400_000;
/// CPU time after which no further piece is begun on a CPU, nanoseconds.
pub const ENOUGH_NS: u64 = 20_000_000;

/// Why the work could not be done on a CPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot do the fixed work on CPU {cpu}: {because}")]
pub struct NoFixedWork {
    /// The CPU.
    pub cpu: u32,
    /// What the kernel said.
    pub because: String,
}

/// Does the fixed work on each CPU, one after the other, each on a thread that is pinned there and
/// ends with it. Blocks for some 10 ms per CPU.
///
/// # Errors
/// When a thread cannot be pinned to one of the CPUs.
pub fn measure(cpus: &CpuSet) -> Result<FixedWork, NoFixedWork> {
    let per_cpu_ns: Result<BTreeMap<u32, u64>, NoFixedWork> =
        cpus.iter().map(|cpu| Ok((cpu, on_cpu(cpu)?))).collect();
    Ok(FixedWork {
        per_cpu_ns: per_cpu_ns?,
    })
}

fn on_cpu(cpu: u32) -> Result<u64, NoFixedWork> {
    let fault = |because: String| NoFixedWork { cpu, because };
    let thread = std::thread::Builder::new()
        .name("loadlab-fixed".to_owned())
        .spawn(move || pin(cpu).map(|()| smallest_piece()))
        .map_err(|error| fault(error.to_string()))?;
    thread
        .join()
        .map_err(|_| fault("the thread ended early".to_owned()))?
        .map_err(fault)
}

fn pin(cpu: u32) -> Result<(), String> {
    let index = usize::try_from(cpu).map_err(|error| error.to_string())?;
    if index >= Affinity::MAX_CPU {
        return Err(format!(
            "only CPUs below {} can be named",
            Affinity::MAX_CPU
        ));
    }
    let mut wanted = Affinity::new();
    wanted.set(index);
    sched_setaffinity(None, &wanted).map_err(|error| error.to_string())?;
    let now = sched_getaffinity(None).map_err(|error| error.to_string())?;
    if now == wanted {
        Ok(())
    } else {
        Err("the kernel did not keep the affinity".to_owned())
    }
}

fn smallest_piece() -> u64 {
    let begun = thread_cpu_ns();
    let mut smallest = u64::MAX;
    for piece in 0..PIECES {
        let before = thread_cpu_ns();
        work(u64::from(piece));
        let after = thread_cpu_ns();
        smallest = smallest.min(after - before);
        if after - begun > ENOUGH_NS {
            break;
        }
    }
    smallest
}

/// A chain of dependent additions, shifts and multiplications: neither memory nor the branch
/// predictor plays a part.
fn work(seed: u64) {
    let mut state = black_box(seed | 1);
    for _ in 0..STEPS {
        state ^= state << 13;
        state ^= state >> 7;
        state = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    black_box(state);
}

/// CPU time of the calling thread, nanoseconds.
fn thread_cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_where_the_process_may_run_and_the_caller_keeps_its_affinity() {
        let before = sched_getaffinity(None).unwrap();
        let allowed = (0..1024).filter(|cpu| before.is_set(*cpu));
        let cpus = CpuSet::of(allowed.map(|cpu| u32::try_from(cpu).unwrap())).unwrap();
        let fixed = measure(&cpus).unwrap();
        assert_eq!(
            fixed.per_cpu_ns.keys().copied().collect::<Vec<_>>(),
            cpus.iter().collect::<Vec<_>>()
        );
        assert!(fixed.per_cpu_ns.values().all(|cpu_ns| *cpu_ns > 100_000));
        assert!(sched_getaffinity(None).unwrap() == before);
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        let missing = measure(&"1023".parse().unwrap()).unwrap_err();
        assert_eq!(missing.cpu, 1023);
        let beyond = measure(&"8000".parse().unwrap()).unwrap_err();
        assert_eq!(
            beyond.to_string(),
            "cannot do the fixed work on CPU 8000: only CPUs below 1024 can be named"
        );
    }
}
