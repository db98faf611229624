//! Caveat `not_steady`: CPU use in the last third of a window differed from the first third.

use crate::model::{Caveat, Role, Share};
use crate::record::event::Measured;

use super::share::percent;
use super::{Context, Verdict, place};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let allowed = context.experiment.guards.not_steady;
    match thirds(measured) {
        Some((first, last)) if differs(first, last, allowed) => Verdict::caveat(
            Caveat::NotSteady,
            format!(
                "{}: CPU use of the last third was {} of the first",
                place(measured),
                percent(last, first)
            ),
        ),
        _ => Verdict::default(),
    }
}

/// Whether the candidate's CPU use was not steady in a window; absent: too few samples to say.
#[must_use]
pub fn is_unsteady(measured: &Measured, allowed: Share) -> Option<bool> {
    thirds(measured).map(|(first, last)| differs(first, last, allowed))
}

fn differs(first: u64, last: u64, allowed: Share) -> bool {
    super::share::exceeds(first.abs_diff(last), first, allowed)
}

/// CPU use of the candidate in the first and the last third of the samples, millionths of a core.
fn thirds(measured: &Measured) -> Option<(u64, u64)> {
    let samples = &measured.samples;
    let third = samples.len().checked_sub(1)? / 3;
    if third == 0 {
        return None;
    }
    let use_between = |from: usize, to: usize| {
        let (from, to) = (samples.get(from)?, samples.get(to)?);
        let of =
            |sample: &crate::model::reading::Sample| sample.cpu_ns.get(&Role::Candidate).copied();
        let cpu_ns = of(to)?.checked_sub(of(from)?)?;
        let passed = to.monotonic_ns.checked_sub(from.monotonic_ns)?;
        u64::try_from(u128::from(cpu_ns) * 1_000_000 / u128::from(passed.max(1))).ok()
    };
    let end = samples.len() - 1;
    Some((use_between(0, third)?, use_between(end - third, end)?))
}
