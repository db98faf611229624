//! The metrics of a role in a phase: a row for each scenario, load point and candidate.

use super::lead::rules_sentence;
use super::{MOST_ROWS, Source};
use crate::estimate::summary::{self, Estimate};
use crate::model::{LoadShape, Metric, Outcome, Phase, Role};
use crate::report::format::{NONE, Scale};
use crate::report::view::drawn::places;
use crate::report::view::index::Place;
use crate::report::view::table::{Cell, Fact, Row, Table};
use crate::report::view::{shown, wording};

/// Held k of n, or the outcome of every repetition; accepted of attempted where only some enter.
fn outcomes(cell: &summary::Cell, selects: bool) -> (String, String) {
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
pub(super) fn metrics<'a>(source: &Source<'a>, phase: &'a Phase, role: &'a Role) -> Option<Table> {
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
