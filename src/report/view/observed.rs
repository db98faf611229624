//! What was read in load windows beside the metrics: requests, memory, the machine, limits.

use super::drawn::places;
use super::results::{MOST_ROWS, Source};
use super::table::{Cell, Fact, Row, Table};
use super::wording;
use crate::estimate::Summary;
use crate::estimate::summary::{self, Counted, Decimal, LimitsSeen};
use crate::model::metric::Unit;
use crate::model::{Phase, Role};
use crate::report::format::{self, Digits, NONE, Scale};

/// The tables of a phase that few look at.
pub(crate) fn details<'a>(source: &Source<'a>, phase: &'a Phase) -> Vec<Table> {
    let tables = [
        requests(source, phase),
        memory(source, phase),
        watched(source, phase),
    ];
    tables.into_iter().flatten().collect()
}

/// A table with the rows that `of` gives for each cell of a phase.
fn rows_of<'a>(
    source: &Source<'a>,
    phase: &'a Phase,
    mut table: Table,
    of: impl Fn(&summary::Cell) -> Vec<Vec<Cell>>,
) -> Table {
    let mut group = None;
    for place in places(phase) {
        let Some(cell) = source.index.cell(place) else {
            continue;
        };
        for row in of(cell) {
            let here = Some((place.scenario, place.at));
            let first = group != here;
            group = here;
            let mut cells = vec![
                Cell::words(source.group(place)),
                Cell::head(source.candidate(place)),
            ];
            cells.extend(row);
            table.rows.push(Row {
                cells,
                faint: false,
                first,
            });
        }
    }
    table
}

/// What became of every request of the windows that count.
fn requests<'a>(source: &Source<'a>, phase: &'a Phase) -> Option<Table> {
    let mut table = Table::new(
        format!("{}: what became of every request", phase.title),
        &[
            "Scenario, load",
            "Candidate",
            "#Windows",
            "#Planned",
            "#Sent",
            "#Answered",
            "#Given up",
            "#Errors",
            "#Late",
            "#Independent count",
        ],
    );
    table.note = Some(
        "Sums over the windows that count. Derived: obtained from other counts, which proves nothing; everything else was counted by the generator. Late: answered after the window’s end. Independent count: answers as another counter than the generator’s saw them, in the windows where there is one."
            .to_owned(),
    );
    let of = |cell: &summary::Cell| cell.requests.iter().map(request_cells).collect();
    rows_of(source, phase, table, of)
        .at_most(MOST_ROWS, "tables/requests.csv")
        .filled()
}

fn request_cells(it: &summary::Requests) -> Vec<Cell> {
    let counted = |count: Counted| {
        let derived = if count.observed { "" } else { "derived" };
        Cell::number(format::count(count.number)).under(derived)
    };
    let status = |(status, count): (&u16, &u64)| format!("{status}: {}", format::count(*count));
    let statuses: Vec<String> = it.by_status.iter().map(status).collect();
    let mut answered = counted(it.answered);
    let mut small: Vec<String> = answered.small.take().into_iter().collect();
    small.extend(statuses);
    let error = |(message, count): (&String, &u64)| format!("{}: {message}", format::count(*count));
    let errors: Vec<String> = it.errors.iter().map(error).collect();
    let late = if it.late_is_exact || it.late == 0 {
        format::count(it.late)
    } else {
        format!("at most {}", format::count(it.late))
    };
    let planned = it.planned.map_or_else(|| NONE.to_owned(), format::count);
    let witness = match it.witness {
        None => Cell::number("none"),
        Some((seen, answered)) => Cell::number(format::count(seen))
            .under(format!("of {} answers", format::count(answered))),
    };
    vec![
        Cell::number(format::count(it.windows)),
        Cell::number(planned),
        counted(it.sent),
        answered.under(small.join(", ")),
        counted(it.aborted),
        Cell::number(format::count(it.errors.values().sum())).under(errors.join("; ")),
        Cell::number(late),
        witness,
    ]
}

/// Memory as sampled, and what the kernel says beside it.
fn memory<'a>(source: &Source<'a>, phase: &'a Phase) -> Option<Table> {
    let mut table = Table::new(
        format!("{}: memory", phase.title),
        &[
            "Scenario, load",
            "Candidate",
            "Role",
            "#Peak of samples",
            "#Mean of samples",
            "#Kernel and sockets",
            "#Kernel’s own peak",
        ],
    );
    table.note = Some(
        "Medians of the repetitions. Samples: anonymous plus shared memory, once a second; page cache is not counted. Kernel and sockets: at the window’s end. The kernel’s own peak includes page cache and start-up, so it is no measure of what the load needs."
            .to_owned(),
    );
    let of = |cell: &summary::Cell| cell.memory.iter().map(memory_cells).collect();
    rows_of(source, phase, table, of)
        .at_most(MOST_ROWS, "tables/memory.csv")
        .filled()
}

fn memory_cells((role, it): (&Role, &summary::MemoryUse)) -> Vec<Cell> {
    let bytes = |value: &Option<Decimal>| quantity(value.as_ref(), Unit::Bytes);
    vec![
        Cell::words(wording::role(role)),
        bytes(&it.peak),
        bytes(&it.mean),
        bytes(&it.kernel),
        bytes(&it.kernel_peak),
    ]
}

fn quantity(value: Option<&Decimal>, unit: Unit) -> Cell {
    let text = value.and_then(|it| {
        let scale = Scale::of(unit, [it.get()]);
        format::quantity(it.get(), Digits::Significant(3), scale)
    });
    Cell::number(text.unwrap_or_else(|| "unknown".to_owned()))
}

/// What else the machine did in the windows.
fn watched<'a>(source: &Source<'a>, phase: &'a Phase) -> Option<Table> {
    let mut table = Table::new(
        format!("{}: what the machine did in the windows", phase.title),
        &[
            "Scenario, load",
            "Candidate",
            "#Context switches",
            "#Stalled for a CPU",
            "#Generator waited",
            "#Pages swapped",
            "#Retransmitted",
            "#Listen overflows",
            "#Throttled",
        ],
    );
    table.note = Some(
        "Context switches of the whole machine and the share of time that some task waited for a CPU: medians. The rest: the largest of any window; the generator’s wait is a share of the window."
            .to_owned(),
    );
    let of = |cell: &summary::Cell| vec![watched_cells(&cell.watched)];
    rows_of(source, phase, table, of)
        .at_most(MOST_ROWS, "tables/watched.csv")
        .filled()
}

fn watched_cells(it: &summary::Watched) -> Vec<Cell> {
    let unknown = || "unknown".to_owned();
    let share = |value: &Option<Decimal>| {
        Cell::number(value.as_ref().map_or_else(unknown, format::percent))
    };
    let count = |value: Option<u64>| Cell::number(value.map_or_else(unknown, format::count));
    let switches = it.context_switches.as_ref().and_then(|it| {
        let number = format::number(it.get(), Digits::Significant(3))?;
        Some(format!("{number}/s"))
    });
    let throttled = match it.throttled_ns {
        Some(0) => Cell::number("0 s".to_owned()),
        some => quantity(
            some.map(|ns| Decimal::from(ns as f64)).as_ref(),
            Unit::Nanoseconds,
        ),
    };
    vec![
        Cell::number(switches.unwrap_or_else(unknown)),
        share(&it.cpu_pressure),
        share(&it.generator_wait),
        count(it.swapped_pages),
        count(it.retransmitted),
        count(it.listen_overflows),
        throttled,
    ]
}

/// Limits as they were read back from the kernel.
pub(crate) fn limits(summary: &Summary) -> Option<Table> {
    let mut table = Table::new(
        "Limits as read back from the kernel",
        &["Role", "CPUs", "#Memory", "#Processes", "#Seen at"],
    );
    table.note = Some(
        "Read at the start and at the end of every window; a limit that differs from the budget makes the block invalid."
            .to_owned(),
    );
    for it in &summary.limits {
        table.push(limit_cells(it));
    }
    table.filled()
}

fn limit_cells(it: &LimitsSeen) -> Vec<Cell> {
    let none = || "not limited or not read".to_owned();
    let memory = it.memory_bytes.map(|bytes| Decimal::from(bytes as f64));
    let memory = memory.map_or_else(
        || Cell::number(none()),
        |bytes| quantity(Some(&bytes), Unit::Bytes),
    );
    vec![
        Cell::head(wording::role(&it.role)).under(it.because.join("; ")),
        Cell::words(it.cpus.clone().unwrap_or_else(none)),
        memory,
        Cell::number(it.processes.map_or_else(none, format::count)),
        Cell::number(wording::plural(it.edges, "edge", "edges")),
    ]
}

/// Answers in total over the run.
pub(crate) fn answers(summary: &Summary) -> Fact {
    let counted = summary.cells.iter().filter_map(|it| it.requests.as_ref());
    let kept: u64 = counted.map(|it| it.answered.number).sum();
    Fact::new(
        "Answers in total",
        format!(
            "{} in the windows that count, {} in all windows.",
            format::count(kept),
            format::count(summary.answered_in_all)
        ),
    )
}
