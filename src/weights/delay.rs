//! Time: a known wait, a server that stands still, a generator that is stopped.

use std::time::Duration;

use super::seen::account;
use super::{HALTED, Judgement, Row, Weighed, known};
use crate::estimate::summary::Repetition;
use crate::model::{GuardCode, LatencyValue, Metric, Quantile};
use crate::record::event::Measured;

/// How long the generator of the candidate [`HALTED`] is stopped in each window.
pub const HALT: Duration = Duration::from_millis(500);

pub(super) fn rows(weighed: &Weighed<'_>) -> Vec<Row> {
    vec![waiting(weighed), stalling(weighed), halted(weighed)]
}

/// A quantile of each measurement, milliseconds; what is between two values counts as the lower one.
fn milliseconds(measured: &[&Measured], quantile: &str) -> Vec<f64> {
    let quantile: Quantile = quantile.parse().expect("a quantile");
    let values = measured
        .iter()
        .filter_map(|it| match account(it)?.latency.get(&quantile)? {
            LatencyValue::Exactly(value) | LatencyValue::Between(value, _) => Some(*value),
            LatencyValue::Absent(_) => None,
        });
    values.map(in_milliseconds).collect()
}

fn in_milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

fn waiting(weighed: &Weighed<'_>) -> Row {
    let measured = weighed.kept("delay", "patient");
    known::DELAY.of(&milliseconds(&measured, "p50"), || {
        weighed.nothing_because("delay", "patient")
    })
}

fn stalling(weighed: &Weighed<'_>) -> Row {
    let measured = weighed.kept("delay", "stalling");
    known::STALL.of(&milliseconds(&measured, "p99"), || {
        weighed.nothing_because("delay", "stalling")
    })
}

/// A generator that stood still either shows it as latency, or its high quantiles are withheld, or a guard
/// refuses the window: never none of these.
fn halted(weighed: &Weighed<'_>) -> Row {
    let repetitions = p99_of_halted(weighed);
    let values: Vec<f64> = repetitions
        .iter()
        .filter_map(|repetition| Some(repetition.value.as_ref()?.get() / 1e6))
        .collect();
    let lowest = values.iter().copied().reduce(f64::min);
    let mut row = known::HALT.seen(lowest, &values, || weighed.nothing_because("delay", HALTED));
    let mut reasons: Vec<String> = repetitions
        .iter()
        .filter_map(|it| it.because.clone())
        .collect();
    reasons.extend(refusals(weighed));
    reasons.sort();
    reasons.dedup();
    if row.judgement != Judgement::NotOk && !reasons.is_empty() {
        row.judgement = Judgement::Ok;
        row.because = Some(reasons.join("; "));
    }
    row
}

/// The p99 that a reader of the report would see, by repetition.
fn p99_of_halted<'a>(weighed: &Weighed<'a>) -> &'a [Repetition] {
    let p99: Quantile = "p99".parse().expect("a quantile");
    let estimates = &weighed.summary.estimates;
    let of_it = estimates.iter().find(|estimate| {
        estimate.candidate.as_str() == HALTED && estimate.metric == Metric::Latency(p99)
    });
    of_it.map_or(&[], |estimate| &estimate.values)
}

/// The guards that refused a window whose generator was stopped, for what they saw of it.
fn refusals(weighed: &Weighed<'_>) -> Vec<String> {
    let exclusions = weighed.summary.exclusions.iter();
    let of_it = exclusions.filter(|exclusion| {
        let of_generator = matches!(
            exclusion.code,
            GuardCode::GeneratorSaturated | GuardCode::AccountingMismatch | GuardCode::Suspended
        );
        of_generator && exclusion.attempt.block.candidate.as_str() == HALTED
    });
    of_it
        .map(|exclusion| format!("refused: {}", exclusion.code))
        .collect()
}
