//! The opening of a page: what the run recovered of what was planted in it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::table::{Cell, Table};
use super::{ChartPlace, wording};
use crate::estimate::Summary;
use crate::estimate::summary::{Found, RecoveredPair, RecoveredStandards};
use crate::model::Unit;
use crate::model::standards::Difference;
use crate::report::chart::planted::Planted;
use crate::report::chart::{Chart, planted};
use crate::report::format::{self, Digits, GAP, NONE, Scale};

/// The opening.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Opening {
    /// What came back, in one paragraph.
    lead: String,
    /// What is not ranked.
    ranked: String,
    table: Table,
    charts: Vec<ChartPlace>,
}

const CHART_NOTE: &str =
    "The upright stroke is what was planted, the mark what came back, the whisker its interval.";

/// The opening; absent: nothing was planted.
pub(crate) fn opening(
    summary: &Summary,
    chart: Option<&Chart>,
    svg: &BTreeMap<String, String>,
) -> Option<Opening> {
    let standards = summary.standards.as_ref()?;
    let told: Vec<String> = standards.pairs.iter().map(told).collect();
    Some(Opening {
        lead: capital(&format!("{}.", told.join("; "))),
        ranked: ranked(standards),
        table: table(standards),
        charts: chart
            .map(|it| ChartPlace::of(it, CHART_NOTE, svg))
            .into_iter()
            .collect(),
    })
}

/// The chart of planted CPU; absent where none came back.
pub(crate) fn chart(summary: &Summary) -> Option<Chart> {
    let standards = summary.standards.as_ref()?;
    let row = |pair: &RecoveredPair| {
        if pair.unit != Unit::One {
            return None;
        }
        let interval = pair.interval.as_ref()?;
        Some(Planted {
            name: format!("Planted {}", pair.difference),
            text: came_back(pair),
            planted: hundredths(pair.planted.get()),
            recovered: hundredths(pair.recovered.as_ref()?.get()),
            interval: (
                hundredths(interval.low.get()),
                hundredths(interval.high.get()),
            ),
            agrees: pair.agrees != Some(false),
        })
    };
    let rows: Vec<Planted> = standards.pairs.iter().filter_map(row).collect();
    planted::chart(&rows)
}

/// The smallest ratio that the run's standards resolve, and why; absent: there are none.
pub(crate) fn resolution(summary: &Summary) -> Option<(String, String)> {
    let standards = summary.standards.as_ref()?;
    let because = format!("Evidence: {}.", standards.resolves_because);
    Some((ranked(standards), because))
}

/// Each pair as a line for a terminal.
pub(crate) fn lines(standards: &RecoveredStandards) -> Vec<String> {
    let line = |pair: &RecoveredPair| {
        let amount = format!("planted {}", amount(pair));
        let came_back = format!("came back as {}", came_back(pair));
        format!("{amount:30} {came_back:34} {}", seen(pair))
    };
    standards.pairs.iter().map(line).collect()
}

/// What this machine resolves, as a sentence, with its evidence.
pub(crate) fn resolved(standards: &RecoveredStandards) -> String {
    let because = &standards.resolves_because;
    percent(standards).map_or_else(
        || format!("What difference this machine resolves is not known: {because}."),
        |percent| {
            format!("This machine resolves a difference of {percent}% of CPU with so many rounds: {because}.")
        },
    )
}

/// The smallest difference that is resolved, in per cent.
fn percent(standards: &RecoveredStandards) -> Option<String> {
    let ratio = standards.resolves.as_ref()?;
    format::number(hundredths(ratio.get()), Digits::Significant(2))
}

fn ranked(standards: &RecoveredStandards) -> String {
    percent(standards).map_or_else(
        || "What difference this run resolves is not known.".to_owned(),
        |percent| {
            format!("Differences of CPU below {percent}% are not ranked: this run does not resolve them.")
        },
    )
}

/// A ratio as hundredths above 1.
fn hundredths(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// What was planted, as an amount.
fn amount(pair: &RecoveredPair) -> String {
    match pair.difference {
        Difference::Cpu { by } => format!("{by} of CPU"),
        Difference::Nginx { by } => format!("{by} of CPU on nginx"),
        Difference::Delay { by } => format!("{} of delay", wording::time(by)),
        Difference::Memory { by } => format!("{} of memory", wording::bytes(by)),
    }
}

/// What came back with its interval: `4.6% [3.1, 6.2]`.
fn came_back(pair: &RecoveredPair) -> String {
    let text = || {
        let recovered = pair.recovered.as_ref()?.get();
        let ends = pair.interval.as_ref();
        let ends = ends.map(|it| (it.low.get(), it.high.get()));
        let (low, high) = ends.unwrap_or((recovered, recovered));
        if pair.unit == Unit::One {
            let [value, low, high] = [recovered, low, high].map(hundredths);
            let digits = Digits::between(low, high);
            let number = |value| format::number(value, digits);
            return Some(format!(
                "{}% [{},{GAP}{}]",
                number(value)?,
                number(low)?,
                number(high)?
            ));
        }
        let scale = Scale::of(pair.unit, [recovered, low, high]);
        let digits = Digits::between(low, high);
        let bare = |value| format::bare(value, digits, scale);
        Some(format!(
            "{} [{},{GAP}{}]",
            format::quantity(recovered, digits, scale)?,
            bare(low)?,
            bare(high)?
        ))
    };
    text().unwrap_or_else(|| NONE.to_owned())
}

/// One pair as a part of a sentence.
fn told(pair: &RecoveredPair) -> String {
    let (amount, came_back) = (amount(pair), came_back(pair));
    let on = match pair.difference {
        Difference::Nginx { .. } => " on nginx",
        _ => "",
    };
    match pair.found {
        Found::Found if pair.agrees == Some(false) => {
            format!("a planted {amount} came back as another one, {came_back}")
        }
        Found::Found => format!("a planted {amount} came back as {came_back}"),
        Found::NotFound => format!("a planted {amount} was not found ({came_back})"),
        Found::NothingFound => {
            format!("where nothing was planted{on} nothing was found ({came_back})")
        }
        Found::FalseAlarm => {
            format!("where nothing was planted{on} a difference was shown, {came_back}")
        }
        Found::Silent => {
            let because = pair.because.as_deref().unwrap_or("too few values");
            format!("a planted {amount} says nothing: {because}")
        }
    }
}

fn note(standards: &RecoveredStandards) -> String {
    format!(
        "{} of loadlab's own stood among the candidates' blocks in {} of {}, each at {}, in a balanced order, under neutral names: what was planted was joined to what was measured only at the end. Intervals cover at least {}. What is resolved: {}.",
        wording::plural(standards.counts.len() as u64, "server", "servers"),
        wording::plural(standards.rounds, "round", "rounds"),
        standards.phase,
        standards.rate,
        standards.coverage,
        standards.resolves_because
    )
}

fn table(standards: &RecoveredStandards) -> Table {
    let mut table = Table::new(
        "Planted and recovered",
        &["Planted", "#Came back", "#Without", "#With", "#n", "Seen"],
    );
    table.note = Some(note(standards));
    for pair in &standards.pairs {
        let metric = pair.metric.unit();
        let values = [&pair.against_value, &pair.compare_value];
        let numbers = values.into_iter().flatten().map(|it| it.get());
        let scale = Scale::of(metric, numbers);
        let value = |it: &Option<crate::estimate::summary::Decimal>| {
            let value = it.as_ref().map(|it| it.get());
            let text = value.and_then(|it| format::quantity(it, Digits::Significant(4), scale));
            text.unwrap_or_else(|| NONE.to_owned())
        };
        let coverage = pair
            .interval
            .as_ref()
            .map(|it| format!("{}, coverage {}", it.kind, format::coverage(&it.coverage)));
        table.push(vec![
            Cell::head(amount(pair)),
            Cell::number(came_back(pair)).under(coverage.unwrap_or_default()),
            Cell::number(value(&pair.against_value)),
            Cell::number(value(&pair.compare_value)),
            Cell::number(format!("{} and {}", pair.n.0, pair.n.1)),
            Cell::words(seen(pair)).under(pair.because.clone().unwrap_or_default()),
        ]);
    }
    table
}

const fn seen(pair: &RecoveredPair) -> &'static str {
    match (pair.found, pair.agrees) {
        (Found::Found, Some(false)) => "found, but as another difference",
        (Found::Found, _) => "found",
        (Found::NotFound, _) => "not found",
        (Found::NothingFound, _) => "nothing found, as it should be",
        (Found::FalseAlarm, _) => "false alarm",
        (Found::Silent, _) => "says nothing",
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}
