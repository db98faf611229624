//! Caveat `generator_late`: the generator's threads waited for a CPU, or it stood still as a whole, so its
//! clock of the high quantiles is its own.
//!
//! What the generator releases late because it did not run, it also times late: only its own watch shows
//! that. A pause of more than the allowed share of the window moves at least that share of requests.

use crate::model::{Caveat, Role, Share};
use crate::record::event::Measured;

use super::share::{exceeds, percent};
use super::{Context, Verdict, Window, place};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let allowed = context.experiment.guards.generator_late;
    let mut verdict = Verdict::default();
    let mut late = |what: String| {
        let detail = format!("{}: the generator {what}", place(measured));
        verdict.add(Verdict::caveat(Caveat::GeneratorLate, detail));
    };
    if let Some((waited, busy)) =
        delay(measured).filter(|(waited, busy)| exceeds(*waited, *busy, allowed))
    {
        let share = percent(waited, busy);
        late(format!("waited for a CPU for {share} of its busy time"));
    }
    if let Some(pause) = pause(measured, allowed) {
        let (milliseconds, share) = (pause / 1_000_000, percent(pause, measured.window_ns));
        late(format!(
            "stood still for {milliseconds} ms, {share} of the window"
        ));
    }
    verdict
}

/// The longest pause of the generator where it is more than the allowed share of the window, nanoseconds.
fn pause(measured: &Measured, allowed: Share) -> Option<u64> {
    let pause = *measured.account.value()?.longest_pause_ns.value()?;
    exceeds(pause, measured.window_ns, allowed).then_some(pause)
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
pub fn was_late(measured: &Measured, allowed: Share) -> bool {
    delay(measured).is_some_and(|(waited, busy)| exceeds(waited, busy, allowed))
        || pause(measured, allowed).is_some()
}
