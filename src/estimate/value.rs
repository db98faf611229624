//! The number that one repetition has for one metric, or why it has none.

use crate::guard::{self, Window};
use crate::model::account::Count;
use crate::model::reading::{Known, MemoryReading};
use crate::model::{
    Account, Experiment, LatencyValue, LoadPoint, Metric, Outcome, Quantile, Role, Scenario,
};
use crate::record::event::Measured;

use super::centre::whole;
use super::ratio::Between;

/// A number known to lie between two bounds, or why there is none.
pub(super) type Value = Result<Between, String>;

/// Quantiles above this are absent when the generator waited for a CPU.
const HIGH: u32 = 90_000;

/// The number of a recorded window whose outcome is this.
pub(super) fn value(
    measured: &Measured,
    outcome: Outcome,
    metric: Metric,
    role: &Role,
    rules: &Experiment,
) -> Value {
    if !has_number(outcome, metric) {
        return Err(outcome.code().to_owned());
    }
    match metric {
        Metric::Achieved => achieved(measured, rules),
        Metric::CpuPerRequest => cpu_per_request(measured, role),
        Metric::CoresUsed => cores_used(measured, role),
        Metric::BytesPerAnswer => bytes_per_answer(measured),
        Metric::MemoryPeak => memory_peak(measured, role),
        Metric::MemoryMean => memory_mean(measured, role),
        Metric::Latency(quantile) => latency(measured, outcome, quantile, rules),
    }
}

/// Whether an outcome leaves a metric its number. Failed or unexpected answers leave what does not
/// divide by answers: expected answers are counted apart, and cores and memory were really used.
const fn has_number(outcome: Outcome, metric: Metric) -> bool {
    match outcome {
        Outcome::Held | Outcome::NotHeld | Outcome::Completed => true,
        Outcome::Errors | Outcome::UnexpectedStatus => matches!(
            metric,
            Metric::Achieved | Metric::CoresUsed | Metric::MemoryPeak | Metric::MemoryMean
        ),
        _ => false,
    }
}

fn account(measured: &Measured) -> Result<&Account, String> {
    match &measured.account {
        Known::Value(account) => Ok(account),
        Known::Absent(because) => Err(because.clone()),
    }
}

fn status(measured: &Measured, rules: &Experiment) -> u16 {
    let scenario: Option<&Scenario> = rules.scenarios.get(&measured.id.scenario);
    scenario.map_or(200, |scenario| scenario.expect.status)
}

/// Expected answers inside the load window over its planned length, per second.
pub(super) fn achieved(measured: &Measured, rules: &Experiment) -> Value {
    let reached = guard::inside(account(measured)?, status(measured, rules));
    if measured.window_ns == 0 {
        return Err("the load window has no length".to_owned());
    }
    let per_second = |answers: u64| whole(answers) * 1e9 / whole(measured.window_ns);
    Ok(Between {
        low: per_second(reached.low),
        high: per_second(reached.high),
    })
}

/// Requests answered, at least 1.
fn answered(measured: &Measured) -> Result<u64, String> {
    let (Count::Observed(answered) | Count::Derived(answered)) = account(measured)?.answered;
    if answered == 0 {
        Err("no request was answered".to_owned())
    } else {
        Ok(answered)
    }
}

/// CPU time of the role's group over requests answered, both of the counter window, nanoseconds.
pub(super) fn cpu_per_request(measured: &Measured, role: &Role) -> Value {
    let cpu_ns = Window::of(measured).cpu_ns(role)?;
    Ok(Between::exactly(whole(cpu_ns) / whole(answered(measured)?)))
}

/// CPU time of the role's group over the time between its readings.
pub(super) fn cores_used(measured: &Measured, role: &Role) -> Value {
    let window = Window::of(measured);
    let (cpu_ns, length_ns) = (window.cpu_ns(role)?, window.role_length_ns(role)?);
    Ok(Between::exactly(whole(cpu_ns) / whole(length_ns)))
}

fn bytes_per_answer(measured: &Measured) -> Value {
    let bytes = account(measured)?.body_bytes;
    Ok(Between::exactly(whole(bytes) / whole(answered(measured)?)))
}

/// Anonymous plus shared memory; where the source folds the shared part into another number, the
/// anonymous part alone.
fn used_bytes(reading: &MemoryReading) -> u64 {
    let shared = reading.shared_bytes.value().copied().unwrap_or(0);
    reading.anonymous_bytes.saturating_add(shared)
}

/// Memory of a role at both edges and in every sample, bytes.
fn memory<'a>(
    measured: &'a Measured,
    role: &'a Role,
) -> Result<impl Iterator<Item = u64> + 'a, String> {
    let (before, after) = Window::of(measured).readings(role)?;
    let edges = match (&before.memory, &after.memory) {
        (Known::Value(before), Known::Value(after)) => [used_bytes(before), used_bytes(after)],
        (Known::Absent(because), _) | (_, Known::Absent(because)) => return Err(because.clone()),
    };
    let samples = measured.samples.iter();
    let samples = samples.filter_map(|sample| sample.memory_bytes.get(role).copied());
    Ok(edges.into_iter().chain(samples))
}

fn memory_peak(measured: &Measured, role: &Role) -> Value {
    let peak = memory(measured, role)?.max().unwrap_or(0);
    Ok(Between::exactly(whole(peak)))
}

/// The mean of the samples inside the window; of the edges where it was too short for one.
fn memory_mean(measured: &Measured, role: &Role) -> Value {
    let all = memory(measured, role)?.count();
    let edges = if all > 2 { 2 } else { 0 };
    let inside = memory(measured, role)?.skip(edges);
    let sum = inside.fold(0_u64, u64::saturating_add);
    Ok(Between::exactly(
        whole(sum) / super::centre::count(all - edges),
    ))
}

/// The response time at a rank among planned requests, nanoseconds.
fn latency(measured: &Measured, outcome: Outcome, quantile: Quantile, rules: &Experiment) -> Value {
    if outcome == Outcome::NotHeld {
        return Err("not_held: the response time is queueing".to_owned());
    }
    let allowed = rules.guards.generator_late;
    if quantile.hundred_thousandths() > HIGH && guard::was_late(measured, allowed) {
        return Err("generator_late: the generator waited for a CPU or stood still".to_owned());
    }
    let account = account(measured)?;
    let requests = match measured.id.at {
        LoadPoint::Rate(_) => account.planned.unwrap_or(0),
        LoadPoint::Connections(_) => account.answered.get(),
    };
    if requests < quantile.needs() {
        let needed = quantile.needs();
        return Err(format!(
            "too few requests: {requests}, {quantile} needs {needed}"
        ));
    }
    match account.latency.get(&quantile) {
        None => Err(format!("{quantile} was not recorded")),
        Some(LatencyValue::Absent(because)) => Err(because.clone()),
        Some(LatencyValue::Exactly(value)) => Ok(Between::exactly(whole(*value))),
        Some(LatencyValue::Between(low, high)) => Ok(Between {
            low: whole(*low),
            high: whole(*high),
        }),
    }
}
