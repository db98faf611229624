//! `cpuset_mismatch`: a role may run on other CPUs than it was given.

use crate::model::{CpuSet, GuardCode, Known, Role};
use crate::record::event::Measured;

use super::{Context, Verdict};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    for (role, given) in &context.experiment.cores {
        verdict.add(of_role(measured, role, given));
    }
    verdict
}

fn of_role(measured: &Measured, role: &Role, given: &CpuSet) -> Verdict {
    let mut verdict = Verdict::default();
    for (edge, when) in [(&measured.before, "before"), (&measured.after, "after")] {
        let Some(Known::Value(found)) = edge.limits.get(role).map(|limits| &limits.cpus) else {
            continue;
        };
        if found != given {
            let evidence =
                format!("{role} could run on CPUs {found} {when} the window, given are {given}");
            verdict.add(Verdict::breach(
                GuardCode::CpusetMismatch,
                evidence,
                Some(&measured.id),
            ));
        }
    }
    verdict
}
