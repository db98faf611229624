//! `clock_step`: the wall clock was set while a measurement ran.

use crate::model::GuardCode;
use crate::model::reading::HostReading;
use crate::record::event::Measured;

use super::{Context, Verdict};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let allowed = context.experiment.guards.clock_step;
    let step = step_ns(&measured.before.host, &measured.after.host);
    if step > allowed.0 {
        let evidence = format!("the wall clock stepped by {step} ns, allowed is {allowed}");
        Verdict::breach(GuardCode::ClockStep, evidence, Some(&measured.id))
    } else {
        Verdict::default()
    }
}

/// How far the wall clock moved against the time since boot, less what the readings' own length
/// explains. Both are slewed alike and both go on while the machine sleeps, so only a step shows.
fn step_ns(before: &HostReading, after: &HostReading) -> u64 {
    let passed = i128::from(after.boottime_ns) - i128::from(before.boottime_ns);
    let realtime = i128::from(after.realtime_ns) - i128::from(before.realtime_ns);
    let unsure = u128::from(before.uncertainty_ns) + u128::from(after.uncertainty_ns);
    let step = (realtime - passed).unsigned_abs().saturating_sub(unsure);
    u64::try_from(step).unwrap_or(u64::MAX)
}
