//! `steal`: the hypervisor took the time of a role's cores during a window.
//!
//! Where the hypervisor exports nothing the kernel says 0; that this is unknown, and not none, is a
//! caveat of the whole run, recorded when it was opened.

use crate::model::{Caveat, CpuSet, GuardCode, Role};
use crate::record::event::Measured;

use super::share::{exceeds, percent};
use super::{Context, Verdict, Window, place};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    for (role, cpus) in &context.experiment.cores {
        verdict.add(of_role(measured, role, cpus, context));
    }
    verdict
}

fn of_role(measured: &Measured, role: &Role, cpus: &CpuSet, context: &Context<'_>) -> Verdict {
    let window = Window::of(measured);
    let guards = &context.experiment.guards;
    let Some(stolen) = window.host_ns(cpus, |times| times.steal_ns) else {
        return Verdict::default();
    };
    let capacity = window.capacity_ns(cpus);
    let seen = || {
        format!(
            "{} of the time of the cores of {role}",
            percent(stolen, capacity)
        )
    };
    if exceeds(stolen, capacity, guards.steal_invalid) {
        let evidence = format!("{} stolen, invalid above {}", seen(), guards.steal_invalid);
        Verdict::breach(GuardCode::Steal, evidence, Some(&measured.id))
    } else if exceeds(stolen, capacity, guards.steal_caveat) {
        Verdict::caveat(
            Caveat::StealSeen,
            format!("{}: {}", place(measured), seen()),
        )
    } else {
        Verdict::default()
    }
}
