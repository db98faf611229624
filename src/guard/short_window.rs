//! Caveat `short_window`: too few ticks of CPU in a window whose counter is tick-based.

use crate::model::{Caveat, Role};
use crate::record::event::Measured;

use super::counter_missing::is_coarse;
use super::{Context, Verdict, Window, place};

/// Ticks of CPU that a window holds at least, per core of the role.
const TICKS_PER_CORE: u64 = 100;

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let window = Window::of(measured);
    let role = Role::Candidate;
    let (Ok(cpu_ns), Ok((reading, _))) = (window.cpu_ns(&role), window.cpu(&role)) else {
        return Verdict::default();
    };
    if !is_coarse(reading.source) || reading.granularity_ns == 0 {
        return Verdict::default();
    }
    let cores = context.experiment.cores.get(&role);
    let cores = cores.map_or(1, |cpus| u64::try_from(cpus.count()).unwrap_or(u64::MAX));
    let (ticks, needed) = (
        cpu_ns / reading.granularity_ns,
        TICKS_PER_CORE.saturating_mul(cores),
    );
    if ticks < needed {
        let detail = format!(
            "{}: {ticks} ticks of CPU, {needed} are needed",
            place(measured)
        );
        Verdict::caveat(Caveat::ShortWindow, detail)
    } else {
        Verdict::default()
    }
}
