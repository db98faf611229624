//! The thresholds of guards and caveats: fixed in the lock before any data, judged from readings.

use serde::{Deserialize, Serialize};

use super::unit::{Nanoseconds, Share};

/// Every threshold that makes a block invalid or adds a caveat. Shares are of one core's time,
/// of the planned requests, or of a calibration reading, as each field says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// Smallest change of a probe reading that can be drift, of the calibration median.
    pub probe_drift_at_least: Share,
    /// Robust standard deviations that a probe reading may be off its calibration.
    pub probe_drift_deviations: u32,
    /// Change of the fixed-work loop that is a caveat, of the calibration median.
    pub fixed_work_caveat: Share,
    /// Change of the fixed-work loop that is invalid.
    pub fixed_work_invalid: Share,
    /// Generator busy time that spoils latency, of the load role's cores.
    pub generator_busy_caveat: Share,
    /// Generator busy time at a rate not held that is invalid.
    pub generator_busy_invalid: Share,
    /// Generator's run delay that makes high quantiles absent, of the window.
    pub generator_late: Share,
    /// Foreign CPU on a candidate core that is invalid, of one core.
    pub foreign_load: Share,
    /// Steal that is a caveat, of the window on all of a role's cores.
    pub steal_caveat: Share,
    /// Steal that is invalid.
    pub steal_invalid: Share,
    /// Step of the wall clock against the monotonic clock that is invalid.
    pub clock_step: Nanoseconds,
    /// Time asleep (boot time against monotonic) that is invalid.
    pub suspended: Nanoseconds,
    /// Swapped pages allowed in a window.
    pub swap_pages: u64,
    /// Difference between witness and answers that is still explained, of the answers.
    pub accounting: Share,
    /// Width of the achieved rate's interval that is a caveat, of the planned rate.
    pub late_unknown: Share,
    /// Change of the last third of a window against the first that is printed as not steady.
    pub not_steady: Share,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            probe_drift_at_least: Share::percent(15),
            probe_drift_deviations: 3,
            fixed_work_caveat: Share::percent(10),
            fixed_work_invalid: Share::percent(20),
            generator_busy_caveat: Share::percent(70),
            generator_busy_invalid: Share::percent(90),
            generator_late: Share::percent(1),
            foreign_load: Share::percent(5),
            steal_caveat: Share::percent(1),
            steal_invalid: Share::percent(5),
            clock_step: Nanoseconds::milliseconds(1),
            suspended: Nanoseconds::milliseconds(1),
            swap_pages: 0,
            accounting: Share(0),
            late_unknown: Share(2_000),
            not_steady: Share::percent(5),
        }
    }
}
