//! Who ran out in a phase, and how busy the cores were.

use super::drawn::places;
use super::results::{MOST_ROWS, Source};
use super::table::{Cell, Fact, Row, Table};
use super::wording;
use crate::estimate::summary::{self, Decimal};
use crate::model::Phase;
use crate::report::format::{self, Digits, NONE, Scale};

/// Who ran out, how busy candidate and generator were, and what else used the cores.
pub(crate) fn limits<'a>(source: &Source<'a>, phase: &'a Phase) -> Option<Table> {
    let mut table = Table::new(
        format!("{}: who ran out, and how busy the cores were", phase.title),
        &[
            "Scenario, load",
            "Candidate",
            "Who ran out",
            "#Candidate busy",
            "#Generator busy",
            "#Foreign CPU",
            "#Steal",
            "#Softirq per request",
            "#Idle before",
            "#Not steady",
            "#Burst",
            "#Connections",
        ],
    );
    table.legend = legend();
    let mut group = None;
    for place in places(phase) {
        let Some(cell) = source.index.cell(place) else {
            continue;
        };
        let first = group.replace((place.scenario, place.at)) != Some((place.scenario, place.at));
        let mut cells = vec![
            Cell::words(source.group(place)),
            Cell::head(source.candidate(place)),
        ];
        cells.extend(limit_cells(cell, source.steal));
        table.rows.push(Row {
            cells,
            faint: false,
            first,
        });
    }
    table.at_most(MOST_ROWS, "tables/cells.csv").filled()
}

/// What the columns mean.
fn legend() -> Vec<Fact> {
    let facts = [
        (
            "Candidate busy, generator busy",
            "Median share of the role's cores.",
        ),
        (
            "Foreign CPU",
            "Used by nobody's role on the candidate's cores, median; two bounds where the machine's counters are not exact.",
        ),
        (
            "Steal",
            "Largest share taken by the hypervisor. Steal is unknown on a virtual machine that never showed any; stolen time would then count as the candidate's.",
        ),
        (
            "Softirq per request",
            "On the candidate's cores. On loopback the sender runs part of the receiver's path, so absolute values of machines that charge it differently are not compared.",
        ),
        (
            "Idle before",
            "CPU of the candidate before the window; it is not subtracted.",
        ),
        (
            "Not steady",
            "Repetitions whose last third differed from the first.",
        ),
        ("Burst", "Most requests released within one millisecond."),
    ];
    facts.map(|(term, means)| Fact::new(term, means)).to_vec()
}

fn limit_cells(cell: &summary::Cell, steal: bool) -> Vec<Cell> {
    let share = |share: &Option<Decimal>| {
        Cell::number(
            share
                .as_ref()
                .map_or_else(|| "unknown".to_owned(), format::percent),
        )
    };
    let measure = |value: &Option<Decimal>, unit| {
        let text = value.as_ref().and_then(|it| {
            format::quantity(
                it.get(),
                Digits::Significant(2),
                Scale::of(unit, [it.get()]),
            )
        });
        Cell::number(text.unwrap_or_else(|| "unknown".to_owned()))
    };
    let whole = cell.ran_out.values().sum::<u64>();
    let who = |(who, count): (&summary::RanOut, &u64)| {
        if *count == whole {
            wording::ran_out(*who).to_owned()
        } else {
            format!("{} {count} of {whole}", wording::ran_out(*who))
        }
    };
    let who: Vec<String> = cell.ran_out.iter().map(who).collect();
    vec![
        Cell::words(if who.is_empty() {
            NONE.to_owned()
        } else {
            who.join(", ")
        }),
        share(&cell.candidate_busy),
        share(&cell.generator_busy),
        foreign(cell),
        share(if steal { &cell.steal } else { &None }),
        measure(&cell.softirq_per_request, crate::model::Unit::Nanoseconds),
        measure(&cell.idle_cores, crate::model::Unit::Cores),
        Cell::number(format!("{} of {}", cell.not_steady, cell.kept)),
        Cell::number(
            cell.burst
                .map_or_else(|| "unknown".to_owned(), format::count),
        ),
        Cell::number(format::count(u64::from(cell.connections))),
    ]
}

/// Foreign CPU; two bounds where the machine's counters are not exact.
fn foreign(cell: &summary::Cell) -> Cell {
    let unit = crate::model::Unit::Cores;
    let low = cell.foreign_cores.as_ref().map(Decimal::get);
    let high = cell.foreign_at_most.as_ref().map(Decimal::get);
    let scale = Scale::of(unit, high.or(low));
    let digits = Digits::Significant(2);
    let text = match (low, high) {
        (Some(low), Some(high)) => format::bare(low, digits, scale)
            .zip(format::quantity(high, digits, scale))
            .map(|(low, high)| format!("between {low} and {high}")),
        (Some(exact), None) => format::quantity(exact, digits, scale),
        (None, _) => None,
    };
    Cell::number(text.unwrap_or_else(|| "unknown".to_owned()))
}
