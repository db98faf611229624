//! One metric over the load points of a phase.

use indexmap::IndexMap;

use crate::model::{Centre, EstimateRule, Experiment, LoadPoint};

use super::centre::Sample;
use super::estimates::more_is_better;
use super::summary::{Decimal, Estimate, PointsEstimate};

/// Every metric whose rule goes over load points, from the estimates at each point. `estimates` is
/// in the order of the manifest, so that the points of one scenario and candidate have one order.
pub(super) fn over_points(estimates: &[Estimate], experiment: &Experiment) -> Vec<PointsEstimate> {
    let mut groups: IndexMap<_, Vec<&Estimate>> = IndexMap::new();
    let rule = |estimate: &Estimate| {
        let phase = experiment.phases.get(&estimate.phase)?;
        phase.estimate.get(&estimate.metric).copied()
    };
    for estimate in estimates {
        let key = (
            (&estimate.phase, &estimate.scenario, &estimate.candidate),
            (&estimate.role, estimate.metric),
        );
        if rule(estimate).is_some_and(|rule| rule.points.is_some()) {
            groups.entry(key).or_default().push(estimate);
        }
    }
    let of_group = |group: Vec<&Estimate>| of_points(&group, rule(group.first()?)?);
    groups.into_values().filter_map(of_group).collect()
}

fn of_points(group: &[&Estimate], rule: EstimateRule) -> Option<PointsEstimate> {
    let first = group.first()?;
    let points = rule.points?;
    let better = more_is_better(first.metric);
    let values: Vec<(&Estimate, f64)> = group
        .iter()
        .filter_map(|estimate| Some((*estimate, estimate.value.as_ref()?.get())))
        .collect();
    let sample = Sample::of(values.iter().map(|(_, value)| *value));
    let value = sample
        .as_ref()
        .and_then(|sample| sample.centre(points, better));
    let selects = matches!(points, Centre::Best | Centre::Min | Centre::Max);
    let from = values.iter().find(|(_, it)| selects && Some(*it) == value);
    let at_least = from.map_or_else(
        || group.iter().any(|estimate| estimate.at_least),
        |(estimate, _)| estimate.at_least,
    );
    Some(PointsEstimate {
        phase: first.phase.clone(),
        scenario: first.scenario.clone(),
        candidate: first.candidate.clone(),
        role: first.role.clone(),
        metric: first.metric,
        unit: first.unit,
        repetitions: rule.repetitions,
        points,
        value: value.map(Decimal::from),
        at_least,
        at: from.map(|(estimate, _)| estimate.at),
        best_median: best(group, better, |estimate| estimate.median.as_ref()),
        best_single: best(group, better, |estimate| {
            if better {
                estimate.max.as_ref()
            } else {
                estimate.min.as_ref()
            }
        }),
        because: value.is_none().then(|| because(group, points)),
    })
}

/// The load point with the best of some number; the first of equals.
fn best<'a>(
    group: &[&'a Estimate],
    more: bool,
    of: impl Fn(&'a Estimate) -> Option<&'a Decimal>,
) -> Option<(LoadPoint, Decimal)> {
    let numbers = group
        .iter()
        .filter_map(|estimate| Some((estimate.at, of(estimate)?)));
    let better = |new: f64, old: f64| if more { new > old } else { new < old };
    let best = numbers.reduce(|old, new| {
        if better(new.1.get(), old.1.get()) {
            new
        } else {
            old
        }
    });
    best.map(|(at, number)| (at, *number))
}

fn because(group: &[&Estimate], points: Centre) -> String {
    if points == Centre::Range {
        return "a range has no single number".to_owned();
    }
    let reason = group.iter().find_map(|estimate| estimate.because.clone());
    reason.unwrap_or_else(|| "no load point has an estimate".to_owned())
}
