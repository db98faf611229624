//! `suspended`: the machine slept during the block (boot time goes on, monotonic time does not).

use crate::model::GuardCode;
use crate::model::reading::HostReading;
use crate::record::AttemptRecords;

use super::{Context, Verdict};

pub(super) fn judge(attempt: &AttemptRecords<'_>, context: &Context<'_>) -> Verdict {
    let allowed = context.experiment.guards.suspended;
    let mut readings: Vec<&HostReading> = Vec::new();
    readings.extend(attempt.started.map(|started| &started.host));
    for measured in &attempt.measured {
        readings.extend([&measured.before.host, &measured.after.host]);
    }
    readings.extend(attempt.finished.and_then(|end| end.host.value()));
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return Verdict::default();
    };
    let asleep = asleep_ns(first, last);
    if asleep > allowed.0 {
        let evidence =
            format!("the machine slept for {asleep} ns during the block, allowed is {allowed}");
        Verdict::breach(GuardCode::Suspended, evidence, None)
    } else {
        Verdict::default()
    }
}

fn asleep_ns(before: &HostReading, after: &HostReading) -> u64 {
    let awake = after.monotonic_ns.saturating_sub(before.monotonic_ns);
    let passed = after.boottime_ns.saturating_sub(before.boottime_ns);
    let unsure = before.uncertainty_ns.saturating_add(after.uncertainty_ns);
    passed.saturating_sub(awake).saturating_sub(unsure)
}
