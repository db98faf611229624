//! Adds up what was read in load windows beside the metrics.

use std::collections::{BTreeMap, BTreeSet};

use crate::guard::{self, Window};
use crate::model::account::{Count, Late};
use crate::model::reading::{Edge, EffectiveLimits, HostReading, Known};
use crate::model::{Account, Experiment, Metric, Role};
use crate::record::Records;
use crate::record::event::{Event, Measured};

use super::cell::Repetitions;
use super::centre::{Sample, whole};
use super::observed::{Counted, LimitsSeen, MemoryUse, Requests, Watched};
use super::slot::Slot;
use super::summary::Decimal;
use super::value::value;

/// What became of the requests of some windows; absent: none has an account.
pub(super) fn requests<'a>(windows: impl Iterator<Item = &'a Measured>) -> Option<Requests> {
    let mut all: Option<Requests> = None;
    for measured in windows {
        let Known::Value(account) = &measured.account else {
            continue;
        };
        let of_window = of_account(account, measured);
        all = Some(match all {
            None => of_window,
            Some(all) => added(all, of_window),
        });
    }
    all
}

const fn counted(count: Count) -> Counted {
    Counted {
        number: count.get(),
        observed: matches!(count, Count::Observed(_)),
    }
}

fn of_account(account: &Account, measured: &Measured) -> Requests {
    let (late, late_is_exact) = match account.late {
        Late::Exactly(late) => (late, true),
        Late::AtMost(late) => (late, false),
    };
    let witness = match &measured.witness {
        Some(Known::Value(seen)) => {
            let answers = seen.after.saturating_sub(seen.before);
            Some((answers.saturating_sub(seen.own), account.answered.get()))
        }
        _ => None,
    };
    Requests {
        windows: 1,
        planned: account.planned,
        sent: counted(account.sent),
        answered: counted(account.answered),
        by_status: account.by_status.clone(),
        aborted: counted(account.aborted),
        errors: account.errors.clone(),
        late,
        late_is_exact,
        witness,
    }
}

fn added(mut all: Requests, other: Requests) -> Requests {
    let sum = |a: Counted, b: Counted| Counted {
        number: a.number.saturating_add(b.number),
        observed: a.observed && b.observed,
    };
    all.windows += other.windows;
    all.planned = all
        .planned
        .zip(other.planned)
        .map(|(a, b)| a.saturating_add(b));
    all.sent = sum(all.sent, other.sent);
    all.answered = sum(all.answered, other.answered);
    all.aborted = sum(all.aborted, other.aborted);
    for (status, count) in other.by_status {
        *all.by_status.entry(status).or_default() += count;
    }
    for (error, count) in other.errors {
        *all.errors.entry(error).or_default() += count;
    }
    all.late = all.late.saturating_add(other.late);
    all.late_is_exact &= other.late_is_exact;
    all.witness = match (all.witness, other.witness) {
        (Some((seen, counted)), Some((more, also))) => {
            Some((seen.saturating_add(more), counted.saturating_add(also)))
        }
        (known, other) => known.or(other),
    };
    all
}

/// Memory of the candidate and of each service in a cell.
pub(super) fn memory(cell: &Repetitions<'_>, experiment: &Experiment) -> BTreeMap<Role, MemoryUse> {
    let services = experiment.services.keys().cloned().map(Role::Service);
    let of = |role: Role| {
        let used = memory_of(cell, &role, experiment);
        (role, used)
    };
    [Role::Candidate]
        .into_iter()
        .chain(services)
        .map(of)
        .collect()
}

fn memory_of(cell: &Repetitions<'_>, role: &Role, experiment: &Experiment) -> MemoryUse {
    let sampled = |metric| {
        let of = |slot: &Slot<'_>| value(slot, metric, role, experiment).ok();
        median(cell.kept.iter().filter_map(of).map(|it| it.low))
    };
    let read = |of: fn(&crate::model::reading::MemoryReading) -> Option<u64>| {
        let reading = |slot: &Slot<'_>| {
            let reading = slot.measured?.after.roles.get(role)?;
            of(reading.memory.value()?)
        };
        median(cell.kept.iter().filter_map(reading).map(whole))
    };
    MemoryUse {
        peak: sampled(Metric::MemoryPeak),
        mean: sampled(Metric::MemoryMean),
        kernel: read(|it| it.kernel_bytes.value().copied()),
        kernel_peak: read(|it| it.kernel_peak_bytes.value().copied()),
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<Decimal> {
    Sample::of(values).map(|sample| Decimal::from(sample.median()))
}

/// What the machine did in some windows.
pub(super) fn watched<'a>(windows: impl Iterator<Item = &'a Measured> + Clone) -> Watched {
    let over = |part: u64, all: u64| (all > 0).then(|| whole(part) / whole(all));
    let rise = |of: fn(&HostReading) -> Option<u64>| {
        move |it: &Measured| of(&it.after.host)?.checked_sub(of(&it.before.host)?)
    };
    let switches = rise(|host| host.context_switches.value().copied());
    let pressure = rise(|host| host.cpu_pressure_us.value().copied());
    let most = |of: fn(&HostReading) -> Option<u64>| windows.clone().filter_map(rise(of)).max();
    Watched {
        context_switches: median(windows.clone().filter_map(|it| {
            let per_ns = over(switches(it)?, Window::of(it).length_ns())?;
            Some(per_ns * 1e9)
        })),
        cpu_pressure: median(windows.clone().filter_map(|it| {
            over(
                pressure(it)?.saturating_mul(1000),
                Window::of(it).length_ns(),
            )
        })),
        generator_wait: windows
            .clone()
            .filter_map(|it| {
                let (waited, busy) = guard::generator_wait(it)?;
                over(waited, busy)
            })
            .reduce(f64::max)
            .map(Decimal::from),
        swapped_pages: most(|host| host.swapped_pages.value().copied()),
        retransmitted: most(|host| host.retransmitted_segments.value().copied()),
        listen_overflows: most(|host| host.listen_overflows.value().copied()),
        throttled_ns: windows.filter_map(throttled).max(),
    }
}

fn throttled(measured: &Measured) -> Option<u64> {
    let (before, after) = Window::of(measured).cpu(&Role::Candidate).ok()?;
    let before = *before.throttled_ns.value()?;
    after.throttled_ns.value()?.checked_sub(before)
}

/// The limits of every role as they were read back at both edges of every window, each state once.
pub(super) fn limits(records: &Records) -> Vec<LimitsSeen> {
    let mut seen: BTreeMap<LimitsSeen, u64> = BTreeMap::new();
    for edge in edges(records) {
        for (role, limits) in &edge.limits {
            *seen.entry(limits_of(role, limits)).or_default() += 1;
        }
    }
    let with_edges = |(state, edges): (LimitsSeen, u64)| LimitsSeen { edges, ..state };
    seen.into_iter().map(with_edges).collect()
}

fn edges(records: &Records) -> impl Iterator<Item = &Edge> {
    records
        .events()
        .filter_map(|event| match event {
            Event::Measured(measured) => Some([&measured.before, &measured.after]),
            _ => None,
        })
        .flatten()
}

fn limits_of(role: &Role, limits: &EffectiveLimits) -> LimitsSeen {
    let reasons = [
        limits.cpus.reason(),
        limits.memory.reason(),
        limits.processes.reason(),
    ];
    let reasons: BTreeSet<&String> = reasons.into_iter().flatten().collect();
    LimitsSeen {
        role: role.clone(),
        cpus: limits.cpus.value().map(ToString::to_string),
        memory_bytes: limits.memory.value().map(|it| it.0),
        processes: limits.processes.value().copied(),
        because: reasons.into_iter().cloned().collect(),
        edges: 0,
    }
}

/// Whether the kernel counted any stolen time since boot; of a virtual machine that never did, it
/// does not say whether there is any.
pub(super) fn steal_was_seen(records: &Records) -> bool {
    edges(records)
        .flat_map(|edge| edge.host.cpus.values())
        .any(|times| times.steal_ns > 0)
}

/// Where the machine's own counters came from, in words.
pub(super) fn machine_counters(records: &Records) -> String {
    let mut steps: BTreeSet<u64> = BTreeSet::new();
    let mut exact: BTreeSet<bool> = BTreeSet::new();
    let mut unsure = 0;
    for edge in edges(records) {
        steps.insert(edge.host.granularity_ns);
        exact.insert(edge.host.used_per_cpu_ns.value().is_some());
        unsure = unsure.max(edge.host.uncertainty_ns);
    }
    if steps.is_empty() {
        return "nothing was read".to_owned();
    }
    let used = match (exact.contains(&true), exact.contains(&false)) {
        (true, false) => "use of each CPU exact",
        (true, true) => "use of each CPU exact in some windows only",
        (false, _) => "use of each CPU by ticks, 5 % of a core unsure",
    };
    let steps: Vec<String> = steps.iter().map(|ns| format!("{ns} ns")).collect();
    format!(
        "{used}; steal and softirq from /proc/stat in steps of {}; read within {unsure} ns",
        steps.join(" or ")
    )
}
