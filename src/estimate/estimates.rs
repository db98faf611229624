//! Estimates: one metric of one role in one cell, and the same over load points.

use crate::model::{Centre, EstimateRule, Experiment, LoadPoint, Metric, Role};

use super::cell::Repetitions;
use super::centre::Sample;
use super::interval::{self, Bounds};
use super::ratio::Between;
use super::shown::{roles, wanted};
use super::slot::Slot;
use super::summary::{Decimal, Estimate, Interval, Mark, Repetition};
use super::value::Value;

/// Whether more of a metric is better.
pub(super) const fn more_is_better(metric: Metric) -> bool {
    matches!(metric, Metric::Achieved)
}

/// Every declared metric of a cell, of every role that has it.
pub(super) fn of_cell(cell: &Repetitions<'_>, experiment: &Experiment) -> Vec<Estimate> {
    let Some(phase) = experiment.phases.get(cell.key.phase) else {
        return Vec::new();
    };
    let wanted = wanted(Some(phase), experiment);
    let place = |of: (Metric, Role)| wanted.iter().position(|it| *it == of);
    let achieved = place((Metric::Achieved, Role::Candidate));
    let achieved = achieved.and_then(|at| median(cell, at));
    let mut estimates = Vec::new();
    for (metric, rule) in &phase.estimate {
        for role in roles(*metric, experiment) {
            if let Some(at) = place((*metric, role.clone())) {
                let named = Named {
                    metric: *metric,
                    role,
                    at,
                };
                estimates.push(estimate(cell, named, *rule, experiment, &achieved));
            }
        }
    }
    estimates
}

/// Which number of every window is estimated.
struct Named {
    metric: Metric,
    role: Role,
    /// Its place in what is wanted of the phase.
    at: usize,
}

fn median(cell: &Repetitions<'_>, at: usize) -> Option<Decimal> {
    let values = values(&cell.kept, at);
    let sample = Sample::of(accepted(&cell.kept, &values).map(|value| value.low))?;
    Some(Decimal::from(sample.median()))
}

fn values(slots: &[Slot<'_>], at: usize) -> Vec<Value> {
    slots.iter().map(|slot| slot.value(at)).collect()
}

/// The values that enter an estimate.
fn accepted<'a>(slots: &'a [Slot<'_>], values: &'a [Value]) -> impl Iterator<Item = Between> + 'a {
    let pairs = slots.iter().zip(values).filter(|(slot, _)| slot.accepted);
    pairs.filter_map(|(_, value)| value.as_ref().ok().copied())
}

fn estimate(
    cell: &Repetitions<'_>,
    named: Named,
    rule: EstimateRule,
    experiment: &Experiment,
    achieved: &Option<Decimal>,
) -> Estimate {
    let Named { metric, role, at } = named;
    let values = values(&cell.kept, at);
    let entering: Vec<Between> = accepted(&cell.kept, &values).collect();
    let lows = Sample::of(entering.iter().map(|value| value.low));
    let highs = Sample::of(entering.iter().map(|value| value.high));
    let better = more_is_better(metric);
    let centre = |sample: &Option<Sample>| sample.as_ref()?.centre(rule.repetitions, better);
    let (value, at_most) = (centre(&lows), centre(&highs));
    Estimate {
        phase: cell.key.phase.clone(),
        scenario: cell.key.scenario.clone(),
        at: cell.key.at,
        candidate: cell.key.candidate.clone(),
        unit: metric.unit(),
        metric,
        centre: rule.repetitions,
        n: u64::try_from(entering.len()).unwrap_or(u64::MAX),
        value: value.map(Decimal::from),
        at_most: at_most
            .filter(|high| Some(*high) != value)
            .map(Decimal::from),
        at_least: metric == Metric::Achieved && is_at_least(cell),
        because: because(cell, &values, lows.as_ref(), rule.repetitions),
        interval: lows.as_ref().zip(highs.as_ref()).and_then(|(lows, highs)| {
            interval(lows, highs, interval::coverage(experiment.coverage))
        }),
        min: lows.as_ref().map(|lows| Decimal::from(lows.smallest())),
        max: highs.as_ref().map(|highs| Decimal::from(highs.largest())),
        median: lows.as_ref().map(|lows| Decimal::from(lows.median())),
        achieved: *achieved,
        with_everything: with_everything(cell, metric, at, rule, value),
        values: repetitions(&cell.kept, &values),
        role,
        rig_floor: false,
        mark: Mark::Measured,
    }
}

/// Whether a closed loop's generator ran out in a repetition that enters.
fn is_at_least(cell: &Repetitions<'_>) -> bool {
    let closed_loop = matches!(cell.key.at, LoadPoint::Connections(_));
    let mut entering = cell.kept.iter().filter(|slot| slot.accepted);
    closed_loop && entering.any(|slot| slot.shown.is_some_and(|it| it.generator_ran_out))
}

fn because(
    cell: &Repetitions<'_>,
    values: &[Value],
    sample: Option<&Sample>,
    centre: Centre,
) -> Option<String> {
    match sample {
        Some(_) if centre == Centre::Range => Some("a range has no single number".to_owned()),
        Some(_) => None,
        None if cell.kept.is_empty() => Some("no repetition was kept".to_owned()),
        None => {
            let reason = values.iter().find_map(|value| value.as_ref().err());
            let not_accepted = "no repetition has the outcome that enters estimates".to_owned();
            Some(reason.cloned().unwrap_or(not_accepted))
        }
    }
}

fn interval(lows: &Sample, highs: &Sample, asked: f64) -> Option<Interval> {
    let (low, high) = (
        interval::of_median(lows, asked)?,
        interval::of_median(highs, asked)?,
    );
    Some(Interval {
        low: Decimal::from(low.low),
        high: Decimal::from(high.high),
        coverage: Decimal::from(low.coverage),
        kind: "order statistics of the median".to_owned(),
    })
}

/// An interval of numbers with the words that say how it was made.
pub(super) fn named(bounds: Bounds, kind: &str) -> Interval {
    Interval {
        low: Decimal::from(bounds.low),
        high: Decimal::from(bounds.high),
        coverage: Decimal::from(bounds.coverage),
        kind: kind.to_owned(),
    }
}

/// The estimate with every complete attempt, whatever guards and people say.
fn with_everything(
    cell: &Repetitions<'_>,
    metric: Metric,
    at: usize,
    rule: EstimateRule,
    value: Option<f64>,
) -> Option<Decimal> {
    let attempts = |slots: &[Slot<'_>]| -> Vec<(u32, u32)> {
        slots
            .iter()
            .map(|slot| (slot.round(), slot.attempt.attempt))
            .collect()
    };
    if attempts(&cell.kept) == attempts(&cell.everything) {
        return value.map(Decimal::from);
    }
    let values = values(&cell.everything, at);
    let sample = Sample::of(accepted(&cell.everything, &values).map(|value| value.low))?;
    sample
        .centre(rule.repetitions, more_is_better(metric))
        .map(Decimal::from)
}

fn repetitions(slots: &[Slot<'_>], values: &[Value]) -> Vec<Repetition> {
    let repetition = |(slot, value): (&Slot<'_>, &Value)| {
        let between = value.as_ref().ok();
        Repetition {
            round: slot.round(),
            attempt: slot.attempt.attempt,
            value: between.map(|value| Decimal::from(value.low)),
            at_most: between
                .filter(|value| value.high != value.low)
                .map(|value| Decimal::from(value.high)),
            because: value.as_ref().err().cloned(),
            outcome: slot.outcome,
            accepted: slot.accepted,
        }
    };
    slots.iter().zip(values).map(repetition).collect()
}
