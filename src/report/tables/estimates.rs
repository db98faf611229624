//! The tables of estimates and of the repetitions that they come from.

use super::{Rows, decimal, text, unit};
use crate::estimate::Summary;
use crate::estimate::summary::Estimate;
use crate::report::view::wording;

fn key(estimate: &Estimate) -> [String; 7] {
    [
        estimate.phase.to_string(),
        estimate.scenario.to_string(),
        estimate.at.to_string(),
        estimate.candidate.to_string(),
        estimate.role.to_string(),
        estimate.metric.to_string(),
        unit(estimate.unit),
    ]
}

pub(super) fn estimates(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
        "phase",
        "scenario",
        "at",
        "candidate",
        "role",
        "metric",
        "unit",
        "estimator",
        "n",
        "value",
        "at_most",
        "at_least",
        "interval_low",
        "interval_high",
        "true_coverage",
        "interval_kind",
        "min",
        "max",
        "median",
        "achieved_per_second",
        "with_everything_kept",
        "mark",
        "because",
    ]);
    for it in &summary.estimates {
        let interval = it.interval.as_ref();
        let mut cells = key(it).to_vec();
        cells.extend([
            wording::centre(it.centre).to_owned(),
            it.n.to_string(),
            decimal(it.value.as_ref()),
            decimal(it.at_most.as_ref()),
            it.at_least.to_string(),
            decimal(interval.map(|it| &it.low)),
            decimal(interval.map(|it| &it.high)),
            decimal(interval.map(|it| &it.coverage)),
            text(interval.map(|it| &it.kind)),
            decimal(it.min.as_ref()),
            decimal(it.max.as_ref()),
            decimal(it.median.as_ref()),
            decimal(it.achieved.as_ref()),
            decimal(it.with_everything.as_ref()),
            wording::mark(it.mark).to_owned(),
            text(it.because.as_ref()),
        ]);
        rows.push(&cells);
    }
    rows
}

pub(super) fn repetitions(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
        "phase",
        "scenario",
        "at",
        "candidate",
        "role",
        "metric",
        "unit",
        "round",
        "attempt",
        "value",
        "at_most",
        "outcome",
        "accepted",
        "because",
    ]);
    for estimate in &summary.estimates {
        let key = key(estimate);
        for it in &estimate.values {
            let own = [
                it.round.to_string(),
                it.attempt.to_string(),
                decimal(it.value.as_ref()),
                decimal(it.at_most.as_ref()),
            ];
            let words = [
                it.outcome.code(),
                if it.accepted { "true" } else { "false" },
                it.because.as_deref().unwrap_or_default(),
            ];
            let cells = key.iter().chain(&own).map(String::as_str).chain(words);
            rows.push(cells);
        }
    }
    rows
}

pub(super) fn over_points(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
        "phase",
        "scenario",
        "candidate",
        "role",
        "metric",
        "unit",
        "over_repetitions",
        "over_points",
        "value",
        "at_least",
        "at",
        "largest_median",
        "largest_median_at",
        "best_single",
        "best_single_at",
        "because",
    ]);
    for it in &summary.over_points {
        let (median, single) = (it.best_median.as_ref(), it.best_single.as_ref());
        rows.push(&[
            it.phase.to_string(),
            it.scenario.to_string(),
            it.candidate.to_string(),
            it.role.to_string(),
            it.metric.to_string(),
            unit(it.unit),
            wording::centre(it.repetitions).to_owned(),
            wording::centre(it.points).to_owned(),
            decimal(it.value.as_ref()),
            it.at_least.to_string(),
            text(it.at.as_ref()),
            decimal(median.map(|it| &it.1)),
            text(median.map(|it| &it.0)),
            decimal(single.map(|it| &it.1)),
            text(single.map(|it| &it.0)),
            text(it.because.as_ref()),
        ]);
    }
    rows
}
