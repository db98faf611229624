//! How each number was made: its estimator, its interval, every repetition.

use std::collections::BTreeSet;

use super::results::{MOST_ROWS, Source};
use super::shown;
use super::table::{Cell, Table};
use super::wording;
use crate::estimate::summary::{Decimal, Estimate};
use crate::model::{Phase, Role};
use crate::report::format::{self, Digits, NONE, Scale};

/// Repetitions that one row shows at most.
const MOST_REPETITIONS: usize = 24;

/// How each number was made: estimator, n, interval with its true coverage, every repetition.
pub(crate) fn made<'a>(source: &Source<'a>, phase: &'a Phase) -> Option<Table> {
    let of = |it: &&Estimate| it.phase == phase.name;
    let estimates: Vec<&Estimate> = source.summary.estimates.iter().filter(of).collect();
    let mut table = Table::new(
        format!("{}: how each number was made", phase.title),
        &[
            "Number",
            "Candidate",
            "Estimator",
            "#n",
            "#Estimate",
            "#Interval",
            "#True coverage",
            "#Median",
            "#With everything kept",
            "Every repetition, in the order of time",
        ],
    );
    let kinds: BTreeSet<&str> = estimates
        .iter()
        .filter_map(|it| it.interval.as_ref())
        .map(|it| it.kind.as_str())
        .collect();
    let kinds: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
    table.note = Some(format!(
        "Kind of interval: {}. A repetition in brackets was kept but does not enter the estimate. “With everything kept” also counts the attempts that guards or people excluded.",
        if kinds.is_empty() {
            "none, too few repetitions".to_owned()
        } else {
            wording::list(&kinds)
        }
    ));
    for estimate in estimates.iter().take(MOST_ROWS + 1) {
        table.push(made_row(source, estimate));
    }
    if estimates.len() > MOST_ROWS {
        table.rows.truncate(MOST_ROWS);
        let all = format::count(estimates.len() as u64);
        table.more = Some(format!(
            "The first {MOST_ROWS} of {all} rows; all of them are in tables/estimates.csv, every repetition in tables/repetitions.csv."
        ));
    }
    table.filled()
}

/// The metric, with its role where that is not the candidate.
pub(super) fn name(estimate: &Estimate) -> String {
    let metric = wording::metric(estimate.metric);
    if estimate.role == Role::Candidate || !estimate.metric.is_per_role() {
        metric
    } else {
        format!("{metric} of {}", wording::role(&estimate.role))
    }
}

fn made_row(source: &Source<'_>, estimate: &Estimate) -> Vec<Cell> {
    let scale = shown::scale(estimate);
    let digits = shown::digits(estimate);
    let quantity = |value: &Option<Decimal>| {
        let text = value
            .as_ref()
            .and_then(|it| format::quantity(it.get(), digits, scale));
        Cell::number(text.unwrap_or_else(|| NONE.to_owned()))
    };
    let interval = estimate.interval.as_ref();
    let coverage = interval.map_or_else(|| NONE.to_owned(), |it| format::coverage(&it.coverage));
    let place = format!(
        "{}, {}",
        wording::scenario(source.experiment, &estimate.scenario),
        wording::point(estimate.at)
    );
    let mut beside: Vec<String> = shown::beside(estimate).into_iter().collect();
    beside.extend(estimate.because.clone());
    vec![
        Cell::words(name(estimate)).under(place),
        Cell::head(wording::candidate(source.experiment, &estimate.candidate)),
        Cell::words(wording::centre(estimate.centre)).under(wording::mark(estimate.mark)),
        Cell::number(format::count(estimate.n)),
        Cell::number(shown::value(estimate, scale)).under(beside.join(" · ")),
        Cell::number(
            Some(shown::interval(interval, scale))
                .filter(|it| !it.is_empty())
                .unwrap_or_else(|| NONE.to_owned()),
        ),
        Cell::number(coverage),
        quantity(&estimate.median),
        quantity(&estimate.with_everything),
        Cell::words(repetitions(estimate, digits, scale)).under(absent_reasons(estimate)),
    ]
}

/// Every repetition in the order of rounds; of very many the first ones.
fn repetitions(estimate: &Estimate, digits: Digits, scale: Scale) -> String {
    let shown: Vec<String> = estimate
        .values
        .iter()
        .take(MOST_REPETITIONS)
        .map(|it| shown::repetition(it, digits, scale))
        .collect();
    let rest = estimate.values.len().saturating_sub(MOST_REPETITIONS);
    let more = if rest > 0 {
        format!(" … and {} more", format::count(rest as u64))
    } else {
        String::new()
    };
    format!("{}{more}", shown.join(" · "))
}

/// Why repetitions have no value, each reason once.
fn absent_reasons(estimate: &Estimate) -> String {
    let reasons: BTreeSet<&str> = estimate
        .values
        .iter()
        .filter_map(|it| it.because.as_deref())
        .collect();
    reasons
        .into_iter()
        .map(|it| format!("—: {it}"))
        .collect::<Vec<_>>()
        .join("; ")
}
