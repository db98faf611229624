//! `counter_missing`: a counter that the numbers need is missing, went backwards, or belongs to a
//! group that was made anew.

use crate::model::{Caveat, GuardCode, Known, Role, Source};
use crate::record::event::Measured;

use super::{Context, Verdict, Window, place};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let services = context.experiment.services.keys().cloned();
    let mut roles = vec![Role::Candidate, Role::Load];
    roles.extend(services.map(Role::Service));
    let mut verdict = account(measured);
    for role in &roles {
        verdict.add(of_role(measured, role));
    }
    verdict
}

fn of_role(measured: &Measured, role: &Role) -> Verdict {
    let window = Window::of(measured);
    let counter = window.cpu_ns(role).and_then(|_| window.cpu(role));
    match counter {
        Err(evidence) => Verdict::breach(GuardCode::CounterMissing, evidence, Some(&measured.id)),
        Ok((before, _)) if is_coarse(before.source) => Verdict::caveat(
            Caveat::CoarseCounters,
            format!(
                "{}: CPU time of {role} in steps of {} ns",
                place(measured),
                before.granularity_ns
            ),
        ),
        Ok(_) => Verdict::default(),
    }
}

/// Whether a source counts in ticks of the kernel's clock.
pub(super) const fn is_coarse(source: Source) -> bool {
    matches!(source, Source::ProcessTree | Source::ProcStat)
}

fn account(measured: &Measured) -> Verdict {
    match &measured.account {
        Known::Value(_) => Verdict::default(),
        Known::Absent(because) => Verdict::breach(
            GuardCode::CounterMissing,
            format!("the load generator's counts could not be read: {because}"),
            Some(&measured.id),
        ),
    }
}
