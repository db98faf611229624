//! The tables of estimates and of the repetitions that they come from.

use std::io::{self, Write};

use super::rows::{Beginning, ENDS, Ends, Rows};
use super::{PLACE, wording};
use crate::estimate::Summary;
use crate::estimate::summary::Estimate;

/// The columns that name what is estimated, after those of its cell.
const NAMED: [&str; 3] = ["role", "metric", "unit"];

fn name(it: &Estimate) -> Beginning {
    Beginning::of(&[
        &it.phase,
        &it.scenario,
        &it.at,
        &it.candidate,
        &it.role,
        &it.metric,
        &it.unit,
    ])
}

pub(super) fn estimates(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let value = ["estimator", "n", "value", "at_most", "at_least"];
    let beside = [
        "min",
        "max",
        "median",
        "achieved_per_second",
        "with_everything_kept",
        "mark",
        "because",
    ];
    let mut rows = Rows::new(to, &[&PLACE, &NAMED, &value, &ENDS, &beside]);
    for it in &summary.estimates {
        rows.push_after(
            &name(it),
            &[
                &wording::centre(it.centre),
                &it.n,
                &it.value,
                &it.at_most,
                &it.at_least,
                &Ends(&it.interval),
                &it.min,
                &it.max,
                &it.median,
                &it.achieved,
                &it.with_everything,
                &wording::mark(it.mark),
                &it.because,
            ],
        )?;
    }
    rows.finish()
}

pub(super) fn repetitions(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let own = [
        "round", "attempt", "value", "at_most", "outcome", "accepted", "because",
    ];
    let mut rows = Rows::new(to, &[&PLACE, &NAMED, &own]);
    for estimate in &summary.estimates {
        let name = name(estimate);
        for it in &estimate.values {
            rows.push_after(
                &name,
                &[
                    &it.round,
                    &it.attempt,
                    &it.value,
                    &it.at_most,
                    &it.outcome,
                    &it.accepted,
                    &it.because,
                ],
            )?;
        }
    }
    rows.finish()
}

pub(super) fn over_points(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let own = [
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
    ];
    let named = ["phase", "scenario", "candidate"];
    let mut rows = Rows::new(to, &[&named, &NAMED, &own]);
    for it in &summary.over_points {
        let (median, single) = (it.best_median.as_ref(), it.best_single.as_ref());
        rows.push(&[
            &it.phase,
            &it.scenario,
            &it.candidate,
            &it.role,
            &it.metric,
            &it.unit,
            &wording::centre(it.repetitions),
            &wording::centre(it.points),
            &it.value,
            &it.at_least,
            &it.at,
            &median.map(|it| it.1),
            &median.map(|it| it.0),
            &single.map(|it| it.1),
            &single.map(|it| it.0),
            &it.because,
        ])?;
    }
    rows.finish()
}
