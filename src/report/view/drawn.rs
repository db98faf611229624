//! Which charts a report has, and what they are drawn from.

use std::collections::BTreeMap;

use super::index::{Index, Place};
use super::{shown, standards, wording};
use crate::estimate::Summary;
use crate::estimate::summary::{Decimal, Estimate};
use crate::model::{
    CandidateName, Experiment, LoadPoint, LoadShape, Metric, Phase, PhaseName, Role, ScenarioName,
};
use crate::report::chart::bars::{Bar, Group, Words};
use crate::report::chart::curve::{Line, Point};
use crate::report::chart::drift::Moment;
use crate::report::chart::{Chart, bars, curve, drift};
use crate::report::format::{NONE, Scale};

/// Bars in one chart at most; beyond, the tables say it better.
const MOST_BARS: usize = 60;

/// How a chart of a timeline is to be read.
pub(crate) const DRIFT_NOTE: &str = "Each mark is a measurement of the candidate that its colour and shape name; hollow ones do not count. Achieved rates stand in the table below. A trend here is the machine's, not the candidate's.";

/// The charts of a report.
#[derive(Debug, Clone, Default)]
pub(crate) struct Charts {
    /// Of each phase.
    pub(crate) phases: BTreeMap<PhaseName, Vec<Chart>>,
    /// Over time.
    pub(crate) drift: Vec<Chart>,
    /// Of what was planted; absent where nothing was, or nothing came back.
    pub(crate) standards: Option<Chart>,
}

impl Charts {
    /// Every chart.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Chart> {
        let of_phases = self.phases.values().flatten();
        of_phases.chain(&self.drift).chain(&self.standards)
    }
}

/// How the charts of a phase are to be read.
pub(crate) fn note(phase: &Phase) -> String {
    let windows = format!(
        "{} × {}",
        wording::plural(u64::from(phase.repetitions), "repetition", "repetitions"),
        wording::time(phase.load.common().duration)
    );
    match phase.load {
        LoadShape::FixedRate { .. } => format!(
            "{windows}, open loop. Bars are estimates, marks are repetitions, whiskers are intervals of the median."
        ),
        LoadShape::Ceiling { .. } => format!(
            "{windows}, closed loop. Filled marks are estimates at each number of connections, hollow ones are repetitions."
        ),
    }
}

/// Draws every chart of a report.
pub(crate) fn charts(experiment: &Experiment, summary: &Summary) -> Charts {
    let index = Index::of(summary);
    let mut charts = Charts {
        standards: standards::chart(summary),
        ..Charts::default()
    };
    for phase in experiment.phases.values() {
        let of = match &phase.load {
            LoadShape::FixedRate { .. } => bar_charts(experiment, &index, phase),
            LoadShape::Ceiling { .. } => curves(experiment, &index, phase),
        };
        charts.phases.insert(phase.name.clone(), of);
        charts.drift.push(drift_chart(experiment, summary, phase));
    }
    charts
}

/// The place of a candidate in the manifest: its colour and mark.
fn series(experiment: &Experiment, candidate: &CandidateName) -> usize {
    experiment.candidates.get_index_of(candidate).unwrap_or(0)
}

/// A chart for each metric of a phase with fixed rates, whether or not it has numbers yet: the author's
/// words may show it.
fn bar_charts<'a>(experiment: &'a Experiment, index: &Index<'a>, phase: &'a Phase) -> Vec<Chart> {
    let charts = phase.estimate.keys().filter_map(|metric| {
        let places = places(phase);
        (places.len() <= MOST_BARS).then_some(())?;
        let estimate = |place| index.estimate(place, &Role::Candidate, *metric);
        let scale =
            shown::common_scale(metric.unit(), places.iter().filter_map(|it| estimate(*it)));
        let mut groups: Vec<Group> = Vec::new();
        for place in places {
            let title = format!(
                "{}, {}",
                wording::scenario(experiment, place.scenario),
                wording::point(place.at)
            );
            let bar = bar(experiment, place.candidate, estimate(place), scale);
            match groups.last_mut().filter(|group| group.title == title) {
                Some(group) => group.bars.push(bar),
                None => groups.push(Group {
                    title,
                    bars: vec![bar],
                }),
            }
        }
        let words = Words {
            name: format!("{}.{}", phase.name, metric.to_string().replace('_', "-")),
            title: format!("{}, {}", wording::metric(*metric), phase.title),
            unit: wording::unit(metric.unit(), scale),
        };
        bars::chart(&words, &groups, scale)
    });
    charts.collect()
}

/// Every scenario, load point and candidate of a phase in the manifest's order.
pub(crate) fn places(phase: &Phase) -> Vec<Place<'_>> {
    let mut places = Vec::new();
    for scenario in phase.load.scenarios() {
        for at in phase.load.points(scenario) {
            for candidate in &phase.candidates {
                places.push(Place {
                    phase: &phase.name,
                    scenario,
                    at,
                    candidate,
                });
            }
        }
    }
    places
}

fn bar(
    experiment: &Experiment,
    candidate: &CandidateName,
    estimate: Option<&Estimate>,
    scale: Scale,
) -> Bar {
    let value = estimate.and_then(|it| it.value.as_ref()).map(Decimal::get);
    let interval = estimate.and_then(|it| it.interval.as_ref());
    Bar {
        name: wording::candidate(experiment, candidate),
        series: series(experiment, candidate),
        value,
        text: estimate.map_or_else(|| NONE.to_owned(), |it| bar_text(it, scale)),
        interval: interval.map(|it| (it.low.get(), it.high.get())),
        repetitions: estimate.map(repetitions).unwrap_or_default(),
    }
}

/// The number with the rate that belongs beside it, or why there is none.
fn bar_text(estimate: &Estimate, scale: Scale) -> String {
    let text = shown::value(estimate, scale);
    let rate = estimate
        .achieved
        .as_ref()
        .filter(|_| estimate.metric == Metric::CpuPerRequest);
    match (&estimate.value, rate, &estimate.because) {
        (Some(_), Some(rate), _) => format!("{text} at {}", shown::rate(rate)),
        (None, _, Some(because)) => format!("{text} ({because})"),
        _ => text,
    }
}

fn repetitions(estimate: &Estimate) -> Vec<f64> {
    estimate
        .values
        .iter()
        .filter_map(|it| it.value.as_ref())
        .map(Decimal::get)
        .collect()
}

/// A curve of the achieved rate for each scenario of a ceiling.
fn curves<'a>(experiment: &'a Experiment, index: &Index<'a>, phase: &'a Phase) -> Vec<Chart> {
    let chart = |scenario: &'a ScenarioName| {
        let points = phase.load.points(scenario);
        let line = |candidate: &'a CandidateName| Line {
            name: wording::candidate(experiment, candidate),
            series: series(experiment, candidate),
            points: points
                .iter()
                .filter_map(|at| {
                    point(
                        index,
                        Place {
                            phase: &phase.name,
                            scenario,
                            at: *at,
                            candidate,
                        },
                    )
                })
                .collect(),
        };
        let lines: Vec<Line> = phase
            .candidates
            .iter()
            .map(line)
            .filter(|it| !it.points.is_empty())
            .collect();
        let scale = Scale::of(crate::model::Unit::PerSecond, []);
        let words = Words {
            name: format!("{}.{scenario}.achieved", phase.name),
            title: format!(
                "Achieved rate over connections, {}, {}",
                wording::scenario(experiment, scenario),
                phase.title
            ),
            unit: "requests per second".to_owned(),
        };
        curve::chart(&words, &lines, scale)
    };
    phase
        .load
        .scenarios()
        .into_iter()
        .filter_map(chart)
        .collect()
}

fn point<'a>(index: &Index<'a>, place: Place<'a>) -> Option<Point> {
    let LoadPoint::Connections(connections) = place.at else {
        return None;
    };
    let estimate = index.estimate(place, &Role::Candidate, Metric::Achieved);
    Some(Point {
        connections,
        value: estimate.and_then(|it| it.value.as_ref()).map(Decimal::get),
        text: estimate.map_or_else(|| NONE.to_owned(), |it| shown::value(it, shown::scale(it))),
        repetitions: estimate.map(repetitions).unwrap_or_default(),
    })
}

/// CPU per request of every measurement of a phase over time.
fn drift_chart(experiment: &Experiment, summary: &Summary, phase: &Phase) -> Chart {
    let rows = || {
        summary
            .timeline
            .iter()
            .filter(|it| it.attempt.block.phase == phase.name)
    };
    let moments: Vec<Moment> = rows()
        .filter_map(|row| {
            Some(Moment {
                at_ms: row.at_ms,
                value: row.cpu_per_request.as_ref()?.get(),
                series: series(experiment, &row.attempt.block.candidate),
                kept: row.kept,
            })
        })
        .collect();
    let scale = Scale::of(
        crate::model::Unit::Nanoseconds,
        moments.iter().map(|it| it.value),
    );
    let names: Vec<(usize, String)> = phase
        .candidates
        .iter()
        .map(|it| (series(experiment, it), wording::candidate(experiment, it)))
        .collect();
    let words = Words {
        name: format!("{}.over-time", phase.name),
        title: format!("CPU per request over the run, {}", phase.title),
        unit: format!("{} of CPU per request", scale.word),
    };
    drift::chart(&words, &names, &moments, scale)
}
