//! Clocks, in nanoseconds.

use rustix::time::{ClockId, Timespec, clock_gettime};

fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds * 1_000_000_000 + rest
}

/// `CLOCK_MONOTONIC`: never set, stands still while the machine sleeps.
#[must_use]
pub fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// `CLOCK_BOOTTIME`: as the monotonic clock, and goes on while the machine sleeps.
#[must_use]
pub fn boottime_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Boottime))
}

/// `CLOCK_REALTIME`: since 1970; may be set.
#[must_use]
pub fn realtime_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

/// `CLOCK_PROCESS_CPUTIME_ID`: CPU time of this process, all threads, user and system.
#[must_use]
pub fn own_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}
