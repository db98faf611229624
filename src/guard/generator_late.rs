//! Caveat `generator_late`: the generator's threads waited for a CPU, so its clock of the high
//! quantiles is its own.

use crate::model::{Caveat, Role};
use crate::record::event::Measured;

use super::share::{exceeds, percent};
use super::{Context, Verdict, Window, place};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let allowed = context.experiment.guards.generator_late;
    match delay(measured) {
        Some((waited, busy)) if exceeds(waited, busy, allowed) => Verdict::caveat(
            Caveat::GeneratorLate,
            format!(
                "{}: the generator waited for a CPU for {} of its busy time",
                place(measured),
                percent(waited, busy)
            ),
        ),
        _ => Verdict::default(),
    }
}

/// Run delay and CPU time of the generator in the window, nanoseconds; absent: not known.
#[must_use]
pub fn delay(measured: &Measured) -> Option<(u64, u64)> {
    let window = Window::of(measured);
    let (before, after) = window.readings(&Role::Load).ok()?;
    let waited = after
        .run_delay_ns
        .value()?
        .checked_sub(*before.run_delay_ns.value()?)?;
    Some((waited, window.cpu_ns(&Role::Load).ok()?))
}

/// Whether the generator was late in a window; false where it is not known.
#[must_use]
pub fn was_late(measured: &Measured, allowed: crate::model::Share) -> bool {
    delay(measured).is_some_and(|(waited, busy)| exceeds(waited, busy, allowed))
}
