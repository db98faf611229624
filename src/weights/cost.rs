//! What a request costs: the slope between two known amounts of work, the busy cores that follow from it,
//! and memory that is held.

use super::seen::{self, account, group_ns, median, ratio};
use super::{Row, Weighed, known};
use crate::model::{Account, CpuSet, Role};
use crate::record::event::Measured;

/// The difference in work between `heavy` and `light`, microseconds.
const STEP_US: f64 = 150.0;

/// What `holding` holds, bytes.
const HELD_BYTES: u64 = 64 << 20;

pub(super) fn rows(weighed: &Weighed<'_>) -> Vec<Row> {
    vec![
        empty(weighed),
        slope(weighed),
        theory(weighed),
        held(weighed),
    ]
}

/// Microseconds of CPU per request.
fn costs(measured: &[&Measured]) -> Vec<f64> {
    let each = measured
        .iter()
        .filter_map(|it| ratio(group_ns(it)?, account(it)?.answered.get()));
    each.map(|nanoseconds| nanoseconds / 1_000.0).collect()
}

/// An empty request costs something too; less when the machine is busier.
fn empty(weighed: &Weighed<'_>) -> Row {
    let measured = weighed.kept("cost", "empty");
    known::EMPTY.of(&costs(&measured), || {
        weighed.nothing_because("cost", "empty")
    })
}

fn slope(weighed: &Weighed<'_>) -> Row {
    let (light, heavy) = (weighed.kept("cost", "light"), weighed.kept("cost", "heavy"));
    let (of_light, of_heavy) = (costs(&light), costs(&heavy));
    let steps = of_heavy.iter().zip(&of_light);
    let values: Vec<f64> = steps
        .map(|(heavy, light)| (heavy - light) / STEP_US)
        .collect();
    let medians = median(&of_heavy).zip(median(&of_light));
    let seen = medians.map(|(heavy, light)| (heavy - light) / STEP_US);
    let nothing = || {
        let missing = if of_heavy.is_empty() {
            "heavy"
        } else {
            "light"
        };
        weighed.nothing_because("cost", missing)
    };
    let both = [light, heavy].concat();
    known::SLOPE
        .seen(seen, &values, nothing)
        .unless(seen::coarse(&both))
}

/// Achieved rate times CPU per request are the busy cores; the machine's own counter of those CPUs over
/// its own clock must say the same.
fn theory(weighed: &Weighed<'_>) -> Row {
    let measured = weighed.kept("cost", "heavy");
    let values: Vec<f64> = measured
        .iter()
        .filter_map(|it| of_theory(it, weighed.candidate))
        .collect();
    let nothing = || {
        let unread = measured
            .iter()
            .find_map(|it| it.after.host.used_per_cpu_ns.reason());
        unread.map_or_else(
            || weighed.nothing_because("cost", "heavy"),
            |because| format!("the machine's counter of each CPU could not be read: {because}"),
        )
    };
    known::THEORY
        .of(&values, nothing)
        .unless(seen::coarse(&measured))
}

fn of_theory(measured: &Measured, cpus: &CpuSet) -> Option<f64> {
    let account = account(measured)?;
    let rate = rate_per_ns(account)?;
    let cost = ratio(group_ns(measured)?, account.answered.get())?;
    let (before, after) = (&measured.before.host, &measured.after.host);
    let (used_before, used_after) = (
        before.used_per_cpu_ns.value()?,
        after.used_per_cpu_ns.value()?,
    );
    let mut busy_ns = 0;
    for cpu in cpus.iter() {
        busy_ns += used_after.get(&cpu)?.checked_sub(*used_before.get(&cpu)?)?;
    }
    let span_ns = after.monotonic_ns.checked_sub(before.monotonic_ns)?;
    Some(rate * cost / ratio(busy_ns, span_ns)?)
}

/// Answers per nanosecond of the generator's own time.
fn rate_per_ns(account: &Account) -> Option<f64> {
    ratio(account.answered.get(), account.elapsed_ns)
}

/// The largest sample of the group's memory, bytes.
fn peak(measured: &Measured) -> Option<u64> {
    let samples = measured.samples.iter();
    samples
        .filter_map(|sample| sample.memory_bytes.get(&Role::Candidate).copied())
        .max()
}

fn held(weighed: &Weighed<'_>) -> Row {
    let (without, with) = (
        weighed.kept("memory", "empty"),
        weighed.kept("memory", "holding"),
    );
    let pairs = with.iter().zip(&without);
    let values: Vec<f64> = pairs
        .filter_map(|(with, without)| ratio(peak(with)?.checked_sub(peak(without)?)?, HELD_BYTES))
        .collect();
    known::MEMORY.of(&values, || {
        let missing = if with.is_empty() { "holding" } else { "empty" };
        if with.is_empty() || without.is_empty() {
            weighed.nothing_because("memory", missing)
        } else {
            "the group's memory could not be read".to_owned()
        }
    })
}
