//! Adds up what was read in load windows beside the metrics.

use std::collections::BTreeMap;

use crate::guard::{self, Window};
use crate::model::account::{Count, Late};
use crate::model::reading::{HostReading, Known, MemoryReading};
use crate::model::{Account, Experiment, Metric, Role};
use crate::record::event::Measured;

use super::cell::Repetitions;
use super::centre::{Sample, whole};
use super::observed::{Counted, MemoryUse, Requests, Watched};
use super::shown::{Shown, roles, wanted};
use super::slot::Slot;
use super::summary::Decimal;

/// What became of the requests of some windows; absent: none has an account.
pub(super) fn requests<'a>(windows: impl Iterator<Item = &'a Shown>) -> Option<Requests> {
    let mut all: Option<Requests> = None;
    for of_window in windows.filter_map(|it| it.requests.as_deref()) {
        all = Some(match all {
            None => of_window.clone(),
            Some(all) => added(all, of_window),
        });
    }
    all
}

/// What became of the requests of a window; absent: it has no account.
pub(super) fn requests_of(measured: &Measured) -> Option<Box<Requests>> {
    let account = measured.account.value()?;
    Some(Box::new(of_account(account, measured)))
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

fn added(mut all: Requests, other: &Requests) -> Requests {
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
    for (status, count) in &other.by_status {
        let sum = all.by_status.entry(*status).or_default();
        *sum = sum.saturating_add(*count);
    }
    for (error, count) in &other.errors {
        let sum = all.errors.entry(error.clone()).or_default();
        *sum = sum.saturating_add(*count);
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
    let wanted = wanted(experiment.phases.get(cell.key.phase), experiment);
    let of = |(at, role): (usize, Role)| {
        let sampled = |metric| {
            let at = wanted.iter().position(|it| *it == (metric, role.clone()))?;
            let of = |slot: &Slot<'_>| slot.value(at).ok();
            median(cell.kept.iter().filter_map(of).map(|it| it.low))
        };
        let read = |of: fn(&KernelMemory) -> Option<u64>| {
            let reading = |slot: &Slot<'_>| of(slot.shown?.kernel_memory.get(at)?);
            median(cell.kept.iter().filter_map(reading).map(whole))
        };
        let used = MemoryUse {
            peak: sampled(Metric::MemoryPeak),
            mean: sampled(Metric::MemoryMean),
            kernel: read(|it| it.now),
            kernel_peak: read(|it| it.peak),
        };
        (role, used)
    };
    let roles = roles(Metric::MemoryPeak, experiment);
    roles.into_iter().enumerate().map(of).collect()
}

/// A role's memory at the closing edge by the kernel's own counts, bytes; absent: not read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KernelMemory {
    now: Option<u64>,
    peak: Option<u64>,
}

/// Of the candidate and of each service, in the order of [`roles`].
pub(super) fn kernel_memory(measured: &Measured, experiment: &Experiment) -> Box<[KernelMemory]> {
    let of = |role: Role| {
        let reading = measured.after.roles.get(&role);
        let reading: Option<&MemoryReading> = reading.and_then(|it| it.memory.value());
        KernelMemory {
            now: reading.and_then(|it| it.kernel_bytes.value().copied()),
            peak: reading.and_then(|it| it.kernel_peak_bytes.value().copied()),
        }
    };
    let roles = roles(Metric::MemoryPeak, experiment);
    roles.into_iter().map(of).collect()
}

fn median(values: impl Iterator<Item = f64>) -> Option<Decimal> {
    Sample::of(values).map(|sample| Decimal::from(sample.median()))
}

/// What the machine did in one window; absent: not known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch {
    context_switches: Option<f64>,
    cpu_pressure: Option<f64>,
    generator_wait: Option<f64>,
    swapped_pages: Option<u64>,
    retransmitted: Option<u64>,
    listen_overflows: Option<u64>,
    throttled_ns: Option<u64>,
}

impl Watch {
    pub(super) fn of(measured: &Measured) -> Self {
        let over = |part: u64, all: u64| (all > 0).then(|| whole(part) / whole(all));
        let (before, after) = (&measured.before.host, &measured.after.host);
        let rise = |of: fn(&HostReading) -> Option<u64>| of(after)?.checked_sub(of(before)?);
        let length = Window::of(measured).length_ns();
        let switches = rise(|host| host.context_switches.value().copied());
        let pressure = rise(|host| host.cpu_pressure_us.value().copied());
        Self {
            context_switches: switches.and_then(|it| Some(over(it, length)? * 1e9)),
            cpu_pressure: pressure.and_then(|it| over(it.saturating_mul(1000), length)),
            generator_wait: guard::generator_wait(measured)
                .and_then(|waited| over(waited, measured.window_ns)),
            swapped_pages: rise(|host| host.swapped_pages.value().copied()),
            retransmitted: rise(|host| host.retransmitted_segments.value().copied()),
            listen_overflows: rise(|host| host.listen_overflows.value().copied()),
            throttled_ns: throttled(measured),
        }
    }
}

/// What the machine did in some windows.
pub(super) fn watched<'a>(windows: impl Iterator<Item = &'a Shown> + Clone) -> Watched {
    let seen = windows.map(|it| &it.watch);
    Watched {
        context_switches: median(seen.clone().filter_map(|it| it.context_switches)),
        cpu_pressure: median(seen.clone().filter_map(|it| it.cpu_pressure)),
        generator_wait: seen
            .clone()
            .filter_map(|it| it.generator_wait)
            .reduce(f64::max)
            .map(Decimal::from),
        swapped_pages: seen.clone().filter_map(|it| it.swapped_pages).max(),
        retransmitted: seen.clone().filter_map(|it| it.retransmitted).max(),
        listen_overflows: seen.clone().filter_map(|it| it.listen_overflows).max(),
        throttled_ns: seen.filter_map(|it| it.throttled_ns).max(),
    }
}

fn throttled(measured: &Measured) -> Option<u64> {
    let (before, after) = Window::of(measured).cpu(&Role::Candidate).ok()?;
    let before = *before.throttled_ns.value()?;
    after.throttled_ns.value()?.checked_sub(before)
}
