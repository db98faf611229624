//! `limits_changed`: a limit that was set was another one when it was read back.

use crate::model::reading::EffectiveLimits;
use crate::model::{Budget, Caveat, GuardCode, Known, Role};
use crate::record::event::Measured;

use super::{Context, Verdict, place};

/// The kernel rounds memory limits down to whole pages; the largest page size in use is 64 KiB.
const PAGE: u64 = 65_536;

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    for (role, budget) in &context.experiment.budgets {
        for (edge, when) in [(&measured.before, "before"), (&measured.after, "after")] {
            if let Some(limits) = edge.limits.get(role) {
                verdict.add(changed(measured, role, budget, limits, when));
            }
        }
        if let Some(limits) = measured.before.limits.get(role) {
            verdict.add(not_enforced(measured, role, budget, limits));
        }
    }
    verdict
}

fn changed(
    measured: &Measured,
    role: &Role,
    budget: &Budget,
    limits: &EffectiveLimits,
    when: &str,
) -> Verdict {
    let mut verdict = Verdict::default();
    let mut breach = |what: &str, found: String, set: String| {
        let evidence =
            format!("{what} of {role} was {found} {when} the window, the budget is {set}");
        verdict.add(Verdict::breach(
            GuardCode::LimitsChanged,
            evidence,
            Some(&measured.id),
        ));
    };
    if let (Some(set), Known::Value(found)) = (budget.memory, &limits.memory) {
        let rounded = found.0 <= set.0 && set.0 - found.0 < PAGE;
        if !rounded {
            breach("the memory limit", found.to_string(), set.to_string());
        }
    }
    if let (Some(set), Known::Value(found)) = (budget.processes, &limits.processes)
        && *found != u64::from(set)
    {
        breach("the limit of processes", found.to_string(), set.to_string());
    }
    verdict
}

fn not_enforced(
    measured: &Measured,
    role: &Role,
    budget: &Budget,
    limits: &EffectiveLimits,
) -> Verdict {
    let mut verdict = Verdict::default();
    let mut note = |what: &str, because: &str| {
        let detail = format!("{}: {what} of {role}: {because}", place(measured));
        verdict.add(Verdict::caveat(Caveat::NotEnforced, detail));
    };
    if let (Some(_), Known::Absent(because)) = (budget.memory, &limits.memory) {
        note("memory", because);
    }
    if let (Some(_), Known::Absent(because)) = (budget.processes, &limits.processes) {
        note("processes", because);
    }
    verdict
}
