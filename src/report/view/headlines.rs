//! The headline metrics of an entry.

use serde::Serialize;

use super::{comparisons, results, shown, wording};
use crate::estimate::Summary;
use crate::estimate::summary::{ComparisonResult, Decimal, Estimate};
use crate::model::{Experiment, LoadShape, Metric, Outcome, Phase, Role};
use crate::report::format::{self, NONE, Scale};

/// Headline metrics at most.
const MOST_HEADLINES: usize = 6;

/// A headline metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Headline {
    /// What is told.
    pub(crate) label: String,
    /// The number.
    pub(crate) value: String,
    /// What belongs beside it.
    pub(crate) note: String,
}

/// The headline metrics: the primary comparison, then what each phase says.
pub(crate) fn headlines(experiment: &Experiment, summary: &Summary) -> Vec<Headline> {
    let mut all: Vec<Headline> = summary
        .comparisons
        .iter()
        .filter(|it| it.primary)
        .map(|it| compared(experiment, it))
        .collect();
    for phase in experiment.phases.values() {
        match &phase.load {
            LoadShape::FixedRate { .. } => {
                all.extend(held(experiment, summary, phase));
                all.extend(extremes(experiment, summary, phase));
            }
            LoadShape::Ceiling { .. } => all.extend(ceilings(experiment, summary, phase)),
        }
    }
    all.truncate(MOST_HEADLINES);
    all
}

fn compared(experiment: &Experiment, result: &ComparisonResult) -> Headline {
    let comparison = &result.comparison;
    let interval = comparisons::interval(result);
    let coverage = result
        .interval
        .as_ref()
        .map(|it| format::coverage(&it.coverage));
    let ratio = comparisons::ratio(result);
    let mut note = vec![comparisons::verdict(result)];
    if !interval.is_empty() {
        note.push(format!(
            "{interval} covers {}",
            coverage.unwrap_or_else(|| NONE.to_owned())
        ));
    }
    let unit = comparison.metric.unit();
    let values = [&result.compare_value, &result.against_value];
    let scale = Scale::of(unit, values.into_iter().flatten().map(Decimal::get));
    let sides: Vec<String> = [
        (&result.compare_value, &result.achieved.0),
        (&result.against_value, &result.achieved.1),
    ]
    .into_iter()
    .filter_map(|(value, rate)| {
        let value = format::quantity(value.as_ref()?.get(), format::Digits::Significant(3), scale)?;
        let rate = rate
            .as_ref()
            .filter(|_| comparison.metric == Metric::CpuPerRequest);
        Some(rate.map_or(value.clone(), |rate| {
            format!("{value} at {}", shown::rate(rate))
        }))
    })
    .collect();
    if sides.len() == 2 {
        note.push(sides.join(" against "));
    }
    Headline {
        label: format!(
            "{}: {} / {}",
            wording::metric(comparison.metric),
            wording::candidate(experiment, &comparison.compare),
            wording::candidate(experiment, &comparison.against)
        ),
        value: if result.ratio.is_some() {
            format!("{ratio}×")
        } else {
            ratio
        },
        note: note.join(" · "),
    }
}

/// Who held each rate of a phase.
fn held(experiment: &Experiment, summary: &Summary, phase: &Phase) -> Vec<Headline> {
    let mut all = Vec::new();
    for scenario in phase.load.scenarios() {
        for at in phase.load.points(scenario) {
            let here = |it: &&crate::estimate::summary::Cell| {
                it.phase == phase.name && it.scenario == *scenario && it.at == at && it.kept > 0
            };
            let cells: Vec<_> = summary.cells.iter().filter(here).collect();
            if cells.is_empty() {
                continue;
            }
            let whole = |it: &&&crate::estimate::summary::Cell| {
                it.outcomes.get(&Outcome::Held) == Some(&it.kept)
            };
            let names: Vec<String> = cells
                .iter()
                .filter(whole)
                .map(|it| wording::candidate(experiment, &it.candidate))
                .collect();
            let note = match names.len() {
                count if count == cells.len() => "in every repetition".to_owned(),
                0 => "none in every repetition".to_owned(),
                _ => format!("in every repetition: {}", wording::list(&names)),
            };
            all.push(Headline {
                label: format!(
                    "{} at {}: held",
                    wording::scenario(experiment, scenario),
                    wording::point(at)
                ),
                value: format!("{} of {}", names.len(), cells.len()),
                note,
            });
        }
    }
    all
}

/// The smallest and the largest CPU per request of a phase, per scenario and load point.
fn extremes(experiment: &Experiment, summary: &Summary, phase: &Phase) -> Vec<Headline> {
    let mut all = Vec::new();
    for scenario in phase.load.scenarios() {
        for at in phase.load.points(scenario) {
            let here = |it: &&Estimate| {
                it.phase == phase.name
                    && it.scenario == *scenario
                    && it.at == at
                    && it.metric == Metric::CpuPerRequest
                    && it.role == Role::Candidate
                    && it.value.is_some()
            };
            let mut found: Vec<&Estimate> = summary.estimates.iter().filter(here).collect();
            found.sort_by(|a, b| value_of(a).total_cmp(&value_of(b)));
            let [first, .., last] = found.as_slice() else {
                continue;
            };
            let scale = shown::common_scale(first.unit, found.iter().copied());
            let low =
                format::bare(value_of(first), shown::digits(first), scale).unwrap_or_default();
            let rates: Vec<String> = [first, last]
                .into_iter()
                .filter_map(|it| it.achieved.as_ref())
                .map(shown::rate)
                .collect();
            let rates = if rates.first() == rates.last() {
                rates.first().cloned()
            } else {
                Some(rates.join(" and "))
            };
            all.push(Headline {
                label: format!(
                    "CPU per request, {}",
                    wording::scenario(experiment, scenario)
                ),
                value: format!("{low} → {}", shown::value(last, scale)),
                note: format!(
                    "{} → {}{}",
                    wording::candidate(experiment, &first.candidate),
                    wording::candidate(experiment, &last.candidate),
                    rates.map(|it| format!(", at {it}")).unwrap_or_default()
                ),
            });
        }
    }
    all
}

fn value_of(estimate: &Estimate) -> f64 {
    estimate.value.as_ref().map_or(0.0, Decimal::get)
}

/// The largest and the smallest ceiling of a phase, per scenario.
fn ceilings(experiment: &Experiment, summary: &Summary, phase: &Phase) -> Vec<Headline> {
    let mut all = Vec::new();
    for scenario in phase.load.scenarios() {
        let here = |it: &&crate::estimate::summary::PointsEstimate| {
            it.phase == phase.name
                && it.scenario == *scenario
                && it.metric == Metric::Achieved
                && it.value.is_some()
        };
        let mut found: Vec<_> = summary.over_points.iter().filter(here).collect();
        let value = |it: &crate::estimate::summary::PointsEstimate| {
            it.value.as_ref().map_or(0.0, Decimal::get)
        };
        found.sort_by(|a, b| value(b).total_cmp(&value(a)));
        let [first, .., last] = found.as_slice() else {
            continue;
        };
        let shown = |it: &crate::estimate::summary::PointsEstimate| {
            results::over(it, Scale::of(it.unit, [value(it)]))
        };
        all.push(Headline {
            label: format!("Ceiling, {}", wording::scenario(experiment, scenario)),
            value: format!("{} / {}", shown(first).trim_end_matches("/s"), shown(last)),
            note: format!(
                "{} / {}",
                wording::candidate(experiment, &first.candidate),
                wording::candidate(experiment, &last.candidate)
            ),
        });
    }
    all
}
