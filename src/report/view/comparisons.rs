//! Ratios with their verdicts, and the declared numbers.

use super::table::{Cell, Row, Table};
use super::{shown, wording};
use crate::estimate::Summary;
use crate::estimate::summary::{ComparisonResult, Decimal, DerivedResult};
use crate::model::derived::{Comparison, DerivedRule};
use crate::model::{Experiment, Metric};
use crate::report::format::{self, Digits, NONE, Scale};

/// The table of all comparisons, the primary one first.
pub(crate) fn table(experiment: &Experiment, summary: &Summary) -> Option<Table> {
    let mut table = Table::new(
        "Ratios and verdicts",
        &[
            "Compared",
            "Against",
            "Number",
            "#Ratio",
            "#Interval",
            "#True coverage",
            "Verdict",
            "#n",
        ],
    );
    let count = summary.comparisons.len() as u64;
    let primary = summary.comparisons.iter().filter(|it| it.primary).count();
    let primary = if primary > 0 {
        "The primary one, named before any data, is marked and not corrected for the others"
    } else {
        "None was named as primary"
    };
    let declared = experiment.coverage;
    table.note = Some(format!(
        "{}. {primary}; verdicts of the others are corrected by Holm's procedure. Declared coverage: {declared}. Kinds of interval: {}.",
        capital(&wording::plural(count, "comparison", "comparisons")),
        kinds(summary),
    ));
    for result in &summary.comparisons {
        table.rows.push(row(experiment, result));
    }
    table
        .at_most(super::results::MOST_ROWS, "tables/comparisons.csv")
        .filled()
}

fn kinds(summary: &Summary) -> String {
    let kinds: std::collections::BTreeSet<String> = summary
        .comparisons
        .iter()
        .filter_map(|it| it.interval.as_ref())
        .map(|it| it.kind.clone())
        .collect();
    wording::list(&kinds.into_iter().collect::<Vec<_>>())
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        format!("{}{}", first.to_uppercase(), letters.as_str())
    })
}

fn row(experiment: &Experiment, result: &ComparisonResult) -> Row {
    let comparison = &result.comparison;
    let unit = comparison.metric.unit();
    let values = [&result.compare_value, &result.against_value];
    let scale = Scale::of(unit, values.into_iter().flatten().map(Decimal::get));
    let side = |value: &Option<Decimal>, rate: &Option<Decimal>| {
        let value = value
            .as_ref()
            .and_then(|it| format::quantity(it.get(), Digits::Significant(4), scale));
        let beside = rate
            .as_ref()
            .filter(|_| comparison.metric == Metric::CpuPerRequest);
        let rate = beside
            .map(|it| format!(" at {}", shown::rate(it)))
            .unwrap_or_default();
        format!("{}{rate}", value.unwrap_or_else(|| NONE.to_owned()))
    };
    let coverage = result
        .interval
        .as_ref()
        .map_or_else(|| NONE.to_owned(), |it| format::coverage(&it.coverage));
    let interval = shown::interval(result.interval.as_ref(), ratio_scale());
    let place = place(experiment, comparison);
    let cells = vec![
        Cell::head(wording::candidate(experiment, &comparison.compare))
            .under(side(&result.compare_value, &result.achieved.0)),
        Cell::words(wording::candidate(experiment, &comparison.against))
            .under(side(&result.against_value, &result.achieved.1)),
        Cell::words(wording::metric(comparison.metric)).under(place),
        Cell::number(ratio(result)),
        Cell::number(if interval.is_empty() {
            NONE.to_owned()
        } else {
            interval
        }),
        Cell::number(coverage),
        Cell::words(verdict(result)).under(verdict_small(result)),
        Cell::number(format!("{} and {}", result.n.0, result.n.1)),
    ];
    Row {
        cells,
        faint: false,
        first: false,
    }
}

fn place(experiment: &Experiment, comparison: &Comparison) -> String {
    let mut parts = vec![wording::phase(experiment, &comparison.phase)];
    if let Some(scenario) = &comparison.scenario {
        parts.push(wording::scenario(experiment, scenario));
    }
    if let Some(at) = comparison.at {
        parts.push(wording::point(at));
    }
    if let Some(role) = comparison
        .role
        .as_ref()
        .filter(|role| **role != crate::model::Role::Candidate)
    {
        parts.push(wording::role(role));
    }
    parts.join(", ")
}

const fn ratio_scale() -> Scale {
    Scale {
        factor: 1.0,
        word: "",
    }
}

/// The ratio, its digits by its interval.
pub(crate) fn ratio(result: &ComparisonResult) -> String {
    let digits = result
        .interval
        .as_ref()
        .map_or(Digits::Significant(3), |it| {
            Digits::between(it.low.get(), it.high.get())
        });
    let text = result
        .ratio
        .as_ref()
        .and_then(|it| format::number(it.get(), digits));
    text.unwrap_or_else(|| NONE.to_owned())
}

/// The ratio's interval, `[a, b]`; empty where there is none.
pub(crate) fn interval(result: &ComparisonResult) -> String {
    shown::interval(result.interval.as_ref(), ratio_scale())
}

/// The verdict in words, or that there is none.
pub(crate) fn verdict(result: &ComparisonResult) -> String {
    let word = result
        .verdict
        .map_or("no verdict", wording::verdict)
        .to_owned();
    match (result.verdict, result.comparison.equivalent_within) {
        (Some(crate::estimate::summary::Verdict::EquivalentWithin), Some(within)) => {
            format!("{word} within {within}")
        }
        _ => word,
    }
}

fn verdict_small(result: &ComparisonResult) -> String {
    let mut parts = Vec::new();
    if result.primary {
        parts.push("primary".to_owned());
    }
    if result.corrected_for > 1 {
        parts.push(format!(
            "corrected for {} comparisons",
            result.corrected_for
        ));
    }
    if let Some(p) = result
        .p_value
        .as_ref()
        .and_then(|it| format::number(it.get(), Digits::Significant(2)))
    {
        parts.push(format!("p = {p}"));
    }
    parts.extend(result.because.clone());
    parts.join(" · ")
}

/// One table for each declared number.
pub(crate) fn derived(experiment: &Experiment, summary: &Summary) -> Vec<Table> {
    summary
        .derived
        .iter()
        .filter_map(|result| derived_table(experiment, result))
        .collect()
}

fn derived_table(experiment: &Experiment, result: &DerivedResult) -> Option<Table> {
    let scenarios = result.rows.iter().any(|row| row.scenario.is_some());
    let relative = result.rows.iter().any(|row| row.relative.is_some());
    let single = result.rows.iter().any(|row| row.with_best_single.is_some());
    let agrees = result.rows.iter().any(|row| row.agrees.is_some());
    let mut columns = vec!["Candidate"];
    columns.extend(scenarios.then_some("Scenario"));
    columns.push("#Value");
    columns.extend(single.then_some("#With the best single repetition"));
    columns.extend(relative.then_some("#Relative"));
    columns.extend(agrees.then_some("Do the phases agree?"));
    columns.extend(["How sure", "Assumption"]);
    let mut table = Table::new(result.title.clone(), &columns);
    table.note = Some(rule(experiment, &result.rule));
    for row in &result.rows {
        let scale = Scale::of(row.unit, row.value.as_ref().map(Decimal::get));
        let mut cells = vec![Cell::head(
            row.candidate
                .as_ref()
                .map_or_else(|| "all".to_owned(), |it| wording::candidate(experiment, it)),
        )];
        if scenarios {
            cells.push(Cell::words(row.scenario.as_ref().map_or_else(
                || NONE.to_owned(),
                |it| wording::scenario(experiment, it),
            )));
        }
        cells.push(Cell::number(derived_value(row.value.as_ref(), scale)));
        if single {
            cells.push(Cell::number(derived_value(
                row.with_best_single.as_ref(),
                scale,
            )));
        }
        if relative {
            let text = row
                .relative
                .as_ref()
                .and_then(|it| format::number(it.get(), Digits::Significant(2)));
            cells.push(Cell::number(
                text.map_or_else(|| NONE.to_owned(), |it| format!("{it}×")),
            ));
        }
        if agrees {
            cells.push(Cell::words(match row.agrees {
                Some(true) => "yes",
                Some(false) => "no",
                None => NONE,
            }));
        }
        cells.push(Cell::words(wording::mark(row.mark)));
        cells.push(Cell::words(row.note.clone().unwrap_or_default()));
        table.push(cells);
    }
    table.filled()
}

/// A declared number with its unit, three significant digits.
pub(crate) fn derived_value(value: Option<&Decimal>, scale: Scale) -> String {
    let text = value.and_then(|it| format::quantity(it.get(), Digits::Significant(3), scale));
    text.unwrap_or_else(|| NONE.to_owned())
}

/// How a declared number is computed, in words.
fn rule(experiment: &Experiment, rule: &DerivedRule) -> String {
    let scenario = |name| wording::scenario(experiment, name);
    let phase = |name| wording::phase(experiment, name);
    match rule {
        DerivedRule::CoresByCpuTime {
            target,
            scenario: name,
            phase: of,
            ..
        } => format!(
            "Cores at {}/s of {}: target × CPU per request of {}.",
            format::count(target.get()),
            scenario(name),
            phase(of)
        ),
        DerivedRule::CoresByInstance {
            target,
            scenario: name,
            phase: of,
            ..
        } => format!(
            "Cores at {}/s of {}: target ÷ ceiling of {} × cores of the budget; assumes that instances add up.",
            format::count(target.get()),
            scenario(name),
            phase(of)
        ),
        DerivedRule::Share {
            of,
            within,
            metric,
            phase: at,
        } => format!(
            "{} of {} over that of {}, {}.",
            wording::metric(*metric),
            scenario(of),
            scenario(within),
            phase(at)
        ),
        DerivedRule::Corroboration {
            target,
            ceiling,
            within,
        } => format!(
            "The achieved rate at a target that was not held in {} against the ceiling of {}; they agree within {within}.",
            phase(target),
            phase(ceiling)
        ),
        DerivedRule::Formula { formula, .. } => format!("Formula: {formula}"),
    }
}
