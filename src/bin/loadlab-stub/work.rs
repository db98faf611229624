//! Burning an exact amount of CPU time, and how exact it is.

use std::hint::black_box;
use std::time::Duration;

use loadlab::load::stub::Calibration;
use rustix::time::{ClockId, clock_gettime};

/// Lengths of work that the calibration tries, nanoseconds.
const TRIED: [u64; 4] = [50_000, 150_000, 300_000, 1_000_000];

/// How often each is tried.
const TIMES: u64 = 400;

/// A clock's time, nanoseconds.
pub fn clock_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}

/// Burns this much CPU time of the calling thread, to less than a microsecond.
pub fn burn(work_ns: u64) {
    if work_ns == 0 {
        return;
    }
    let end = clock_ns(ClockId::ThreadCPUTime) + work_ns;
    let mut state = 1_u64;
    while clock_ns(ClockId::ThreadCPUTime) < end {
        for _ in 0..64 {
            state = black_box(state.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (state >> 7));
        }
    }
}

/// Burns this share of a core, in millionths, for a hundredth of a second.
pub fn busy_period(millionths: u64) {
    const PERIOD: Duration = Duration::from_millis(10);
    let begun = std::time::Instant::now();
    burn(millionths.min(1_000_000) * 10);
    std::thread::sleep(PERIOD.saturating_sub(begun.elapsed()));
}

/// Burns known amounts of work and says what two clocks that [`burn`] does not look at show of it.
pub fn calibrate() -> Vec<Calibration> {
    TRIED.iter().map(|work_ns| calibration(*work_ns)).collect()
}

fn calibration(work_ns: u64) -> Calibration {
    burn(20 * work_ns);
    let mut fastest_ns = u64::MAX;
    let before_ns = clock_ns(ClockId::ProcessCPUTime);
    for _ in 0..TIMES {
        let begun_ns = clock_ns(ClockId::Monotonic);
        burn(work_ns);
        fastest_ns = fastest_ns.min(clock_ns(ClockId::Monotonic) - begun_ns);
    }
    Calibration {
        work_ns,
        times: TIMES,
        cpu_ns: clock_ns(ClockId::ProcessCPUTime) - before_ns,
        fastest_ns,
    }
}
