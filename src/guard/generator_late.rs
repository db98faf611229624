//! Caveat `generator_late`: the generator's threads waited for a CPU, or it stood still as a whole, so its
//! clock of the high quantiles is its own.
//!
//! What the generator releases late because it did not run, it also times late: only its own watch shows
//! that. A pause of more than the allowed share of the window moves at least that share of requests.

use crate::model::{Caveat, Share};
use crate::record::event::Measured;

use super::share::{exceeds, percent};
use super::{Context, Verdict, place};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let allowed = context.experiment.guards.generator_late;
    let mut verdict = Verdict::default();
    let mut late = |what: String| {
        let detail = format!("{}: the generator {what}", place(measured));
        verdict.add(Verdict::caveat(Caveat::GeneratorLate, detail));
    };
    if let Some(waited) = delay(measured, allowed) {
        let share = percent(waited, measured.window_ns);
        late(format!("waited for a CPU for {share} of the window"));
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

/// Run delay by the generator's own watch, nanoseconds, since its threads are gone when the window is read;
/// absent: not known.
#[must_use]
pub fn run_delay(measured: &Measured) -> Option<u64> {
    measured.account.value()?.run_delay_ns.value().copied()
}

/// The run delay where it is more than the allowed share of the window: requests are due evenly over it, so
/// that share of them is released late.
fn delay(measured: &Measured, allowed: Share) -> Option<u64> {
    let waited = run_delay(measured)?;
    exceeds(waited, measured.window_ns, allowed).then_some(waited)
}

/// Whether the generator was late in a window; false where it is not known.
#[must_use]
pub fn was_late(measured: &Measured, allowed: Share) -> bool {
    delay(measured, allowed).is_some() || pause(measured, allowed).is_some()
}
