//! The table of known weights, for a person and for a program.

use serde::Serialize;

use crate::cli::args::Format;
use crate::cli::ui::{Ui, safe};
use crate::estimate::summary::Decimal;
use crate::model::plural::counted;
use crate::weights::{Judgement, Row, RowUnit, Split, Table};

/// What a program gets.
#[derive(Serialize)]
struct Printed<'a> {
    candidate: String,
    load: String,
    caveat: Option<&'a str>,
    ok: usize,
    not_ok: usize,
    cannot_tell: usize,
    rows: &'a [Row],
}

/// Prints the table.
pub fn print(table: &Table, split: &Split, format: Format, ui: Ui) {
    match format {
        Format::Json => ui.json(&Printed {
            candidate: split.candidate.to_string(),
            load: split.load.to_string(),
            caveat: split.caveat.as_deref(),
            ok: table.count(Judgement::Ok),
            not_ok: table.count(Judgement::NotOk),
            cannot_tell: table.count(Judgement::CannotTell),
            rows: &table.rows,
        }),
        Format::Text => ui.result(&text(table, split)),
    }
}

fn text(table: &Table, split: &Split) -> String {
    let mut lines = vec![format!(
        "known weights, the server on CPU {}, the load on CPU {}",
        split.candidate, split.load
    )];
    lines.extend(
        split
            .caveat
            .as_ref()
            .map(|caveat| format!("caveat: {}", safe(caveat))),
    );
    lines.push(String::new());
    for row in &table.rows {
        lines.extend(row_lines(row));
    }
    lines.push(String::new());
    lines.push(total(table));
    lines.join("\n")
}

/// One line of figures below one of words: the words are long and a terminal is narrow.
fn row_lines(row: &Row) -> Vec<String> {
    let judgement = match row.judgement {
        Judgement::Ok => "ok",
        Judgement::NotOk => "NOT OK",
        Judgement::CannotTell => "cannot tell",
        Judgement::Reported => "reported",
    };
    let number = |value: &Decimal| number(value, row.unit);
    let seen = row.seen.as_ref().map_or_else(|| "-".to_owned(), number);
    let low = row.low.as_ref().map(number);
    let high = row.high.as_ref().map(number);
    let bounds = match (low, high) {
        (Some(low), Some(high)) if low == high => format!("exactly {low}"),
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => "no bounds".to_owned(),
    };
    let mut lines = vec![
        format!("{:<12}{}", row.name, row.weight),
        format!(
            "{:<12}{judgement:<12}seen {seen}, expected {}, {bounds}",
            "",
            number(&row.expected)
        ),
    ];
    if let Some(because) = &row.because {
        lines.push(format!("{:<24}{}", "", safe(because)));
    }
    lines
}

fn number(value: &Decimal, unit: RowUnit) -> String {
    let value = value.get();
    match unit {
        RowUnit::Ratio => format!("{value:.4}"),
        RowUnit::CpuMicroseconds => format!("{value:.1} us"),
        RowUnit::Milliseconds => format!("{value:.2} ms"),
    }
}

fn total(table: &Table) -> String {
    let (ok, wrong) = (table.count(Judgement::Ok), table.count(Judgement::NotOk));
    let unknown = table.count(Judgement::CannotTell);
    let mut text = format!("{} ok", counted(ok as u64, "weight", "weights"));
    if wrong > 0 {
        text = format!("{text}, {wrong} NOT OK");
    }
    if unknown > 0 {
        text = format!("{text}, {unknown} cannot be told here");
    }
    text
}
