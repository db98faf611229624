//! The estimates over load points: the estimate, the load point with the largest median, the best
//! single value.

use super::{MOST_ROWS, Source};
use crate::estimate::summary::{Decimal, PointsEstimate};
use crate::model::{LoadPoint, Phase, Unit};
use crate::report::format::{self, Digits, NONE, Scale};
use crate::report::view::index::over_points;
use crate::report::view::table::{Cell, Table};
use crate::report::view::wording;

/// The estimates over load points: the estimate, the load point with the largest median, the best
/// single value.
pub(super) fn points<'a>(source: &Source<'a>, phase: &'a Phase) -> Option<Table> {
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
fn point_digits(value: &Decimal, unit: Unit) -> Digits {
    let whole = unit == Unit::PerSecond && value.get() >= 1000.0;
    if whole {
        Digits::HalfWidth(20.0)
    } else {
        Digits::Significant(3)
    }
}

fn at_point(point: Option<&(LoadPoint, Decimal)>, scale: Scale) -> Cell {
    let shown = point.and_then(|(at, value)| {
        let unit = if scale.word == "/s" {
            Unit::PerSecond
        } else {
            Unit::One
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
