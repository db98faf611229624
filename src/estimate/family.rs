//! The comparisons that are made: fixed by the experiment before any data.

use crate::model::derived::Comparison;
use crate::model::{Experiment, LoadShape, Metric, Phase, Role};

/// The comparisons that an experiment asks for before any data, the primary one first: CPU per
/// request of the candidate at each fixed rate, and achieved at ceilings, of every candidate
/// against the first one of the phase.
pub(super) fn declared(experiment: &Experiment) -> Vec<Comparison> {
    let mut comparisons: Vec<Comparison> = experiment
        .primary
        .iter()
        .map(|primary| filled(primary, experiment))
        .collect();
    for phase in experiment.phases.values() {
        for comparison in of_phase(phase) {
            if !comparisons.iter().any(|known| is_same(known, &comparison)) {
                comparisons.push(comparison);
            }
        }
    }
    comparisons
}

/// A comparison with every part that has only one possibility filled in.
fn filled(comparison: &Comparison, experiment: &Experiment) -> Comparison {
    let mut comparison = comparison.clone();
    comparison.role.get_or_insert(Role::Candidate);
    let Some(phase) = experiment.phases.get(&comparison.phase) else {
        return comparison;
    };
    let scenarios = phase.load.scenarios();
    if let (None, [only]) = (&comparison.scenario, scenarios.as_slice()) {
        comparison.scenario = Some((*only).clone());
    }
    let points = comparison.scenario.as_ref().map(|it| phase.load.points(it));
    if let (None, Some([only])) = (comparison.at, points.as_deref()) {
        comparison.at = Some(*only);
    }
    comparison
}

fn of_phase(phase: &Phase) -> Vec<Comparison> {
    let metric = match phase.load {
        LoadShape::FixedRate { .. } => Metric::CpuPerRequest,
        LoadShape::Ceiling { .. } => Metric::Achieved,
    };
    let (Some(rule), Some((against, others))) =
        (phase.estimate.get(&metric), phase.candidates.split_first())
    else {
        return Vec::new();
    };
    let mut comparisons = Vec::new();
    for scenario in phase.load.scenarios() {
        let points = phase.load.points(scenario);
        let points = if rule.points.is_some() && points.len() > 1 {
            vec![None]
        } else {
            points.into_iter().map(Some).collect()
        };
        for at in points {
            comparisons.extend(others.iter().map(|compare| Comparison {
                metric,
                phase: phase.name.clone(),
                scenario: Some(scenario.clone()),
                at,
                role: Some(Role::Candidate),
                compare: compare.clone(),
                against: against.clone(),
                equivalent_within: None,
            }));
        }
    }
    comparisons
}

/// Whether two comparisons are of the same two numbers, whichever is above.
fn is_same(left: &Comparison, right: &Comparison) -> bool {
    let pair = |it: &Comparison| {
        let (low, high) = (it.compare.clone(), it.against.clone());
        if low < high { (low, high) } else { (high, low) }
    };
    (
        left.metric,
        &left.phase,
        &left.scenario,
        left.at,
        &left.role,
    ) == (
        right.metric,
        &right.phase,
        &right.scenario,
        right.at,
        &right.role,
    ) && pair(left) == pair(right)
}
