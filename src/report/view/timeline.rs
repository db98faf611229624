//! Every measurement in the order of time.

use super::results::{MOST_ROWS, Source};
use super::table::{Cell, Row, Table};
use super::{shown, wording};
use crate::estimate::summary::{Decimal, TimelineRow};
use crate::model::metric::Unit;
use crate::report::format::{self, Digits, NONE, Scale, quantity};

/// The table; of very long runs its first rows.
pub(crate) fn table(source: &Source<'_>) -> Option<Table> {
    let mut table = Table::new(
        "Every measurement in the order of time",
        &[
            "#Since the first",
            "Block",
            "Measurement",
            "Outcome",
            "Who ran out",
            "#Achieved rate",
            "#CPU per request",
            "#Latency p50",
            "#Latency p99",
        ],
    );
    table.note = Some("Faint rows do not count; why stands under exclusions. Latency of a rate that was not held is queueing and is not printed.".to_owned());
    for row in source.summary.timeline.iter().take(MOST_ROWS) {
        table.rows.push(Row {
            cells: cells(row),
            faint: !row.kept,
            first: false,
        });
    }
    let all = source.summary.timeline.len();
    if all > MOST_ROWS {
        table.more = Some(format!(
            "The first {MOST_ROWS} of {} measurements; all of them are in tables/timeline.csv.",
            format::count(all as u64)
        ));
    }
    table.filled()
}

fn cells(row: &TimelineRow) -> Vec<Cell> {
    let time = |value: &Option<Decimal>| {
        let text = value.as_ref().and_then(|it| {
            quantity(
                it.get(),
                Digits::Significant(3),
                Scale::of(Unit::Nanoseconds, [it.get()]),
            )
        });
        Cell::number(text.unwrap_or_else(|| NONE.to_owned()))
    };
    let achieved = row.achieved.as_ref().map(|(low, high)| {
        let (low, high) = (shown::rate(low), shown::rate(high));
        if low == high {
            low
        } else {
            format!("between {} and {high}", low.trim_end_matches("/s"))
        }
    });
    vec![
        Cell::number(format::span(row.at_ms)),
        Cell::head(row.attempt.to_string()),
        Cell::words(row.id.scenario.to_string()).under(wording::point(row.id.at)),
        Cell::words(if row.kept {
            wording::outcome(row.outcome)
        } else {
            format!("{}, excluded", wording::outcome(row.outcome))
        }),
        Cell::words(wording::ran_out(row.ran_out)),
        Cell::number(achieved.unwrap_or_else(|| NONE.to_owned())),
        time(&row.cpu_per_request),
        time(&row.p50),
        time(&row.p99),
    ]
}
