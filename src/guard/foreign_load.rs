//! `foreign_load`: processes outside the experiment used the candidate's cores during a window.
//!
//! Where the kernel counts CPU time per CPU exactly: used minus all known roles. Else by ticks,
//! which are sure to plus or minus one twentieth of a core, and where interrupt time may or may not
//! be charged to the groups: an interval, and a breach only where all of it is above the threshold.

use std::collections::BTreeSet;

use crate::model::{Caveat, CpuSet, Experiment, GuardCode, Known, Role, Share};
use crate::record::event::Measured;

use super::share::{exceeds, percent};
use super::{Context, Verdict, Window, place};

/// How unsure a reading by ticks is, of one core.
const TICKS_UNSURE: Share = Share::percent(5);

/// Foreign CPU time on some cores: between these, nanoseconds. Exact where both are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign {
    /// No less.
    pub low_ns: u64,
    /// No more.
    pub high_ns: u64,
}

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let Some(cpus) = context.experiment.cores.get(&Role::Candidate) else {
        return Verdict::default();
    };
    let mut verdict = Verdict::default();
    for part in parts(measured, cpus) {
        verdict.add(of_cpus(measured, &part, context));
    }
    verdict
}

/// Single CPUs where every role is known on each, else all of them as one.
fn parts(measured: &Measured, cpus: &CpuSet) -> Vec<CpuSet> {
    let window = Window::of(measured);
    let exact = measured.after.host.used_per_cpu_ns.value().is_some();
    let known = |role: &Role| cpus.iter().all(|cpu| window.cpu_on_ns(role, cpu).is_some());
    if exact && window.roles().all(known) {
        cpus.iter().filter_map(|cpu| CpuSet::of([cpu])).collect()
    } else {
        vec![cpus.clone()]
    }
}

fn of_cpus(measured: &Measured, cpus: &CpuSet, context: &Context<'_>) -> Verdict {
    let limit = context.experiment.guards.foreign_load;
    let length = Window::of(measured).length_ns();
    let Some(Foreign { low_ns, high_ns }) = foreign(measured, cpus, context.experiment) else {
        let detail = format!("{}: CPU use of cores {cpus} was not read", place(measured));
        return Verdict::caveat(Caveat::ForeignUnknown, detail);
    };
    if exceeds(low_ns, length, limit) {
        let evidence = format!(
            "other processes used {} of a core on CPUs {cpus}, invalid above {limit}",
            percent(low_ns, length)
        );
        Verdict::breach(GuardCode::ForeignLoad, evidence, Some(&measured.id))
    } else if low_ns == high_ns {
        Verdict::default()
    } else {
        let detail = format!(
            "{}: between {} and {} of a core on CPUs {cpus}",
            place(measured),
            percent(low_ns, length),
            percent(high_ns, length)
        );
        Verdict::caveat(Caveat::ForeignUnknown, detail)
    }
}

/// Foreign CPU time on some cores in a window; absent: the cores were not read.
#[must_use]
pub fn foreign(measured: &Measured, cpus: &CpuSet, experiment: &Experiment) -> Option<Foreign> {
    let window = Window::of(measured);
    let known = known_ns(&window, cpus, experiment);
    if let Some(used) = exactly_used_ns(measured, cpus) {
        let foreign = used.saturating_sub(known);
        return Some(Foreign {
            low_ns: foreign,
            high_ns: foreign,
        });
    }
    let busy = window.host_ns(cpus, |times| times.busy_ns)?;
    let softirq = window.host_ns(cpus, |times| times.softirq_ns)?;
    let unsure = u128::from(window.length_ns()) * u128::from(TICKS_UNSURE.millionths());
    let unsure = u64::try_from(unsure / 1_000_000).unwrap_or(u64::MAX);
    let low = busy.saturating_sub(softirq).saturating_sub(known);
    Some(Foreign {
        low_ns: low.saturating_sub(unsure),
        high_ns: busy.saturating_sub(known).saturating_add(unsure),
    })
}

fn exactly_used_ns(measured: &Measured, cpus: &CpuSet) -> Option<u64> {
    let (before, after) = (&measured.before.host, &measured.after.host);
    let (Known::Value(before), Known::Value(after)) =
        (&before.used_per_cpu_ns, &after.used_per_cpu_ns)
    else {
        return None;
    };
    let used = |cpu| after.get(&cpu)?.checked_sub(*before.get(&cpu)?);
    cpus.iter().map(used).sum()
}

/// CPU time of all known roles on these cores. A role that is not known per CPU counts whole where
/// its cores overlap with these, and so does loadlab itself, which runs on the load role's cores.
fn known_ns(window: &Window<'_>, cpus: &CpuSet, experiment: &Experiment) -> u64 {
    let asked: BTreeSet<u32> = cpus.iter().collect();
    let overlaps = |role: &Role| {
        let cores = experiment.cores.get(role);
        cores.is_none_or(|cores| cores.iter().any(|cpu| asked.contains(&cpu)))
    };
    let of_role = |role: &Role| {
        let on = cpus.iter().map(|cpu| window.cpu_on_ns(role, cpu));
        let per_cpu: Option<u64> = on.sum();
        per_cpu.unwrap_or_else(|| {
            let whole = window.cpu_ns(role).unwrap_or(0);
            if overlaps(role) { whole } else { 0 }
        })
    };
    let roles: u64 = window.roles().map(of_role).sum();
    // What left the candidate's group is the candidate's: an outcome, no fault of the machine.
    let outside = if overlaps(&Role::Candidate) {
        window.outside_ns(&Role::Candidate)
    } else {
        0
    };
    let own = if overlaps(&Role::Load) {
        window.own_cpu_ns()
    } else {
        0
    };
    roles.saturating_add(outside).saturating_add(own)
}
