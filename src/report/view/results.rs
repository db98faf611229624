//! The results of a phase: a table of its metrics, how each number was made, who ran out.

use std::collections::BTreeSet;

use serde::Serialize;

use super::drawn::places;
use super::index::{Index, Place, over_points};
use super::shown;
use super::table::{Cell, Fact, Row, Table};
use super::wording;
use crate::estimate::Summary;
use crate::estimate::summary::{self, Decimal, Estimate, PointsEstimate};
use crate::model::{Experiment, LoadPoint, LoadShape, Metric, Outcome, Phase, Role};
use crate::report::format::{self, Digits, NONE, Scale};

/// Rows that a table on the page has at most; all of them are in the CSV tables.
pub(crate) const MOST_ROWS: usize = 150;

/// The results of one phase.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PhaseResults {
    /// The anchor.
    pub(crate) id: String,
    /// The heading.
    pub(crate) title: String,
    /// How the phase was loaded and estimated, in a sentence.
    pub(crate) lead: String,
    /// The charts, by file name without its ending.
    pub(crate) charts: Vec<super::ChartPlace>,
    /// The metrics of the candidates, and of each other role that has any.
    pub(crate) tables: Vec<Table>,
    /// Over load points, where the manifest asks for it.
    pub(crate) over_points: Option<Table>,
    /// What few look at, each folded: how each number was made, and more of what was read.
    pub(crate) details: Vec<Table>,
    /// Who ran out, and what else each measurement showed.
    pub(crate) limits: Option<Table>,
}

/// What the tables of a phase are made from.
pub(crate) struct Source<'a> {
    /// The experiment.
    pub(crate) experiment: &'a Experiment,
    /// The numbers.
    pub(crate) summary: &'a Summary,
    /// The same by name.
    pub(crate) index: Index<'a>,
    /// Whether the machine tells of stolen time.
    pub(crate) steal: bool,
}

impl<'a> Source<'a> {
    /// A scenario at a load point, in words.
    pub(crate) fn group(&self, place: Place<'_>) -> String {
        format!(
            "{}, {}",
            wording::scenario(self.experiment, place.scenario),
            wording::point(place.at)
        )
    }

    /// The candidate of a place, in words.
    pub(crate) fn candidate(&self, place: Place<'_>) -> String {
        wording::candidate(self.experiment, place.candidate)
    }

    /// One scale for a metric of a role in a phase.
    fn scale(&self, phase: &Phase, role: &Role, metric: Metric) -> Scale {
        let of = |it: &&Estimate| it.phase == phase.name && it.role == *role && it.metric == metric;
        shown::common_scale(metric.unit(), self.summary.estimates.iter().filter(of))
    }
}

/// Everything about a phase but its charts.
pub(crate) fn phase<'a>(
    source: &Source<'a>,
    phase: &'a Phase,
    roles: &'a BTreeSet<Role>,
) -> PhaseResults {
    let tables = roles.iter().filter_map(|role| metrics(source, phase, role));
    PhaseResults {
        id: format!("phase-{}", phase.name),
        title: phase.title.clone(),
        lead: lead(source.experiment, phase),
        charts: Vec::new(),
        tables: tables.collect(),
        over_points: points(source, phase),
        details: super::made::made(source, phase)
            .into_iter()
            .chain(super::observed::details(source, phase))
            .collect(),
        limits: super::limits::limits(source, phase),
    }
}

/// The load and the estimators of a phase in words.
pub(crate) fn lead(experiment: &Experiment, phase: &Phase) -> String {
    let common = phase.load.common();
    let shape = match &phase.load {
        LoadShape::FixedRate {
            rates,
            connections,
            held_at,
            ..
        } => {
            let rate = |(scenario, rates): (&_, &Vec<crate::model::Rate>)| {
                let rates: Vec<String> = rates
                    .iter()
                    .map(|it| format!("{}/s", format::count(it.get())))
                    .collect();
                format!(
                    "{} at {}",
                    wording::scenario(experiment, scenario),
                    wording::list(&rates)
                )
            };
            let rates: Vec<String> = rates.iter().map(rate).collect();
            format!(
                "Open loop, corrected for coordinated omission: {}; {}. A rate counts as held from {held_at} of the planned requests",
                rates.join("; "),
                wording::point(LoadPoint::Connections(*connections)),
            )
        }
        LoadShape::Ceiling {
            scenarios,
            connections,
            ..
        } => {
            let points: Vec<String> = connections
                .iter()
                .map(|it| format::count(u64::from(*it)))
                .collect();
            let names: Vec<String> = scenarios
                .iter()
                .map(|it| wording::scenario(experiment, it))
                .collect();
            format!(
                "Closed loop, as fast as answers come: {}; {} connections",
                names.join("; "),
                wording::list(&points)
            )
        }
    };
    let warmup = if common.warmup.0 == 0 {
        "without warm-up".to_owned()
    } else {
        format!(
            "after {} of warm-up per scenario and block",
            wording::time(common.warmup)
        )
    };
    format!(
        "{shape}. Windows of {} {warmup}; {}. Estimates: {}.",
        wording::time(common.duration),
        wording::plural(u64::from(phase.repetitions), "repetition", "repetitions"),
        rules(phase)
    )
}

/// The estimators of a phase, metrics of one rule together.
pub(crate) fn rules(phase: &Phase) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (metric, rule) in &phase.estimate {
        let mut words = format!("{} of the repetitions", wording::centre(rule.repetitions));
        if let Some(points) = rule.points {
            words.push_str(&format!(
                ", then {} of the load points",
                wording::centre(points)
            ));
        }
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, metrics)) => metrics.push(wording::metric(*metric)),
            None => groups.push((words, vec![wording::metric(*metric)])),
        }
    }
    let group = |(words, metrics): &(String, Vec<String>)| {
        format!("{words} for {}", wording::list(metrics))
    };
    groups.iter().map(group).collect::<Vec<_>>().join("; ")
}

/// Held k of n, or the outcome of every repetition; accepted of attempted where only some enter.
pub(crate) fn outcomes(cell: &summary::Cell, selects: bool) -> (String, String) {
    let of = cell.outcomes.values().sum::<u64>();
    let text = if let Some(held) = cell.outcomes.get(&Outcome::Held) {
        format!("{held} of {of}")
    } else if cell.outcomes.contains_key(&Outcome::NotHeld) {
        format!("0 of {of}")
    } else {
        format!(
            "{} of {of}",
            cell.outcomes.get(&Outcome::Completed).copied().unwrap_or(0)
        )
    };
    let good = |outcome: &Outcome| matches!(outcome, Outcome::Held | Outcome::Completed);
    let other =
        |(outcome, count): (&Outcome, &u64)| format!("{count} {}", wording::outcome(*outcome));
    let mut small: Vec<String> = cell
        .outcomes
        .iter()
        .filter(|(it, _)| !good(it))
        .map(other)
        .collect();
    if selects || cell.accepted != cell.kept {
        small.push(format!(
            "accepted {} of {} attempted",
            cell.accepted, cell.attempted
        ));
    }
    (text, small.join(", "))
}

/// The metrics of a phase that a role has; every one of the candidate's.
fn metrics_of(source: &Source<'_>, phase: &Phase, role: &Role) -> Vec<Metric> {
    let has = |metric: &Metric| {
        let of = |it: &Estimate| it.phase == phase.name && it.role == *role && it.metric == *metric;
        *role == Role::Candidate || source.summary.estimates.iter().any(of)
    };
    phase.estimate.keys().copied().filter(has).collect()
}

/// The metrics of a role in a phase: a row for each scenario, load point and candidate.
fn metrics<'a>(source: &Source<'a>, phase: &'a Phase, role: &'a Role) -> Option<Table> {
    let metrics = metrics_of(source, phase, role);
    let scales: Vec<Scale> = metrics
        .iter()
        .map(|it| source.scale(phase, role, *it))
        .collect();
    let candidates = *role == Role::Candidate;
    let result = if matches!(phase.load, LoadShape::FixedRate { .. }) {
        "#Held"
    } else {
        "#Completed"
    };
    let titles: Vec<String> = metrics
        .iter()
        .map(|it| format!("#{}", wording::metric(*it)))
        .collect();
    let mut columns = vec!["Scenario, load", "Candidate"];
    if candidates {
        columns.push(result);
    }
    columns.extend(titles.iter().map(String::as_str));
    let caption = if candidates {
        format!("{}: every candidate", phase.title)
    } else {
        format!(
            "{}: {} behind each candidate",
            phase.title,
            wording::role(role)
        )
    };
    let mut table = Table::new(caption, &columns);
    table.note = Some(note(phase));
    if candidates {
        table.legend = legend(&metrics);
    }
    let mut group = None;
    for place in places(phase) {
        let row = metric_cells(source, place, role, &metrics, &scales);
        if row.is_empty() {
            continue;
        }
        let first = group.replace((place.scenario, place.at)) != Some((place.scenario, place.at));
        let mut cells = vec![
            Cell::words(source.group(place)),
            Cell::head(source.candidate(place)),
        ];
        if candidates {
            let (text, small) = source.index.cell(place).map_or_else(
                || (NONE.to_owned(), String::new()),
                |it| outcomes(it, phase.accept.is_some()),
            );
            cells.push(Cell::number(text).under(small));
        }
        cells.extend(row);
        table.rows.push(Row {
            cells,
            faint: false,
            first,
        });
    }
    table.at_most(MOST_ROWS, "tables/estimates.csv").filled()
}

/// The cells of the metrics at one place; none where nothing is known of any.
fn metric_cells<'a>(
    source: &Source<'a>,
    place: Place<'a>,
    role: &'a Role,
    metrics: &[Metric],
    scales: &[Scale],
) -> Vec<Cell> {
    let estimates: Vec<Option<&Estimate>> = metrics
        .iter()
        .map(|metric| source.index.estimate(place, role, *metric))
        .collect();
    let known = *role == Role::Candidate || estimates.iter().flatten().any(|it| it.value.is_some());
    let idle = || {
        let cell = source
            .index
            .cell(place)
            .filter(|_| *role == Role::Candidate)?;
        shown::idle(cell.idle_cores.as_ref())
    };
    let cell = |(estimate, scale): (&Option<&Estimate>, &Scale)| match estimate {
        Some(estimate) => {
            let mut small = shown::small(estimate, *scale);
            if estimate.metric == Metric::CpuPerRequest
                && let Some(idle) = idle()
            {
                small = format!("{small} · {idle}");
            }
            Cell::number(shown::value(estimate, *scale)).under(small)
        }
        None => Cell::number(NONE).under("not estimated"),
    };
    if known {
        estimates.iter().zip(scales).map(cell).collect()
    } else {
        Vec::new()
    }
}

fn note(phase: &Phase) -> String {
    format!(
        "In brackets, where the repetitions suffice: the interval of the median. {}",
        rules_sentence(phase)
    )
}

/// What each metric means; the quantiles of latency share one sentence.
fn legend(metrics: &[Metric]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for metric in metrics {
        let means = wording::metric_means(*metric);
        match facts.iter_mut().find(|it| it.detail == means) {
            Some(known) => {
                known.term.push_str(", ");
                known.term.push_str(&wording::metric(*metric));
            }
            None => facts.push(Fact::new(&wording::metric(*metric), means)),
        }
    }
    facts
}

fn rules_sentence(phase: &Phase) -> String {
    let rules = rules(phase);
    let mut letters = rules.chars();
    letters.next().map_or_else(String::new, |first| {
        format!("{}{}.", first.to_uppercase(), letters.as_str())
    })
}

/// The estimates over load points: the estimate, the load point with the largest median, the best
/// single value.
fn points<'a>(source: &Source<'a>, phase: &'a Phase) -> Option<Table> {
    let mut table = Table::new(
        format!("{}: over all load points", phase.title),
        &[
            "Scenario",
            "Candidate",
            "Role",
            "Metric",
            "#Estimate",
            "#Largest median",
            "#Best single repetition",
        ],
    );
    table.note = Some(
        "The best of several values selects twice, so the load point with the largest median and the best single repetition stand beside it. “At least”: the load generator ran out there."
            .to_owned(),
    );
    for it in over_points(source.summary, &phase.name) {
        let scale = Scale::of(it.unit, it.value.as_ref().map(Decimal::get));
        table.push(vec![
            Cell::words(wording::scenario(source.experiment, &it.scenario)),
            Cell::head(wording::candidate(source.experiment, &it.candidate)),
            Cell::words(wording::role(&it.role)),
            Cell::words(wording::metric(it.metric)),
            Cell::number(over(it, scale)).under(over_small(it)),
            at_point(it.best_median.as_ref(), scale),
            at_point(it.best_single.as_ref(), scale),
        ]);
    }
    table.at_most(MOST_ROWS, "tables/over-points.csv").filled()
}

/// An estimate over load points with its unit.
pub(crate) fn over(it: &PointsEstimate, scale: Scale) -> String {
    let value = it
        .value
        .as_ref()
        .and_then(|value| format::quantity(value.get(), point_digits(value, it.unit), scale));
    match value {
        Some(text) if it.at_least => format!("at least {text}"),
        Some(text) => text,
        None => NONE.to_owned(),
    }
}

fn over_small(it: &PointsEstimate) -> String {
    match (&it.value, it.at, &it.because) {
        (Some(_), Some(at), _) => format!("at {}", wording::point(at)),
        (None, _, Some(because)) => because.clone(),
        _ => String::new(),
    }
}

/// Rates are whole requests; the rest has three significant digits.
fn point_digits(value: &Decimal, unit: crate::model::Unit) -> Digits {
    let whole = unit == crate::model::Unit::PerSecond && value.get() >= 1000.0;
    if whole {
        Digits::HalfWidth(20.0)
    } else {
        Digits::Significant(3)
    }
}

fn at_point(point: Option<&(LoadPoint, Decimal)>, scale: Scale) -> Cell {
    let shown = point.and_then(|(at, value)| {
        let unit = if scale.word == "/s" {
            crate::model::Unit::PerSecond
        } else {
            crate::model::Unit::One
        };
        Some((
            format::quantity(value.get(), point_digits(value, unit), scale)?,
            *at,
        ))
    });
    shown.map_or_else(
        || Cell::number(NONE),
        |(text, at)| Cell::number(text).under(format!("at {}", wording::point(at))),
    )
}
