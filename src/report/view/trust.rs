//! What the numbers can be trusted for: the probe, caveats, what was excluded and what that changes.

use serde::Serialize;

use super::results::Source;
use super::table::{Cell, Fact, Row, Table};
use super::{shown, wording};
use crate::estimate::Summary;
use crate::estimate::summary::{Decimal, Estimate};
use crate::model::metric::Unit;
use crate::model::{Caveat, Experiment};
use crate::report::format::{self, Digits, NONE, Scale, quantity};

/// A caveat as the page prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CaveatShown {
    /// The code, for `loadlab explain`.
    pub(crate) code: String,
    /// What it means.
    pub(crate) meaning: String,
    /// Where it holds and how much.
    pub(crate) details: Vec<String>,
    /// What was not shown of the details.
    pub(crate) more: Option<String>,
}

/// Details of one caveat on the page; all of them are in `summary.json`.
const MOST_DETAILS: usize = 8;

/// Caveats that belong to the top of the page: they touch every number.
const fn is_for_every_number(caveat: Caveat) -> bool {
    matches!(
        caveat,
        Caveat::SharedCores
            | Caveat::SiblingCores
            | Caveat::Unlocked
            | Caveat::Scaled
            | Caveat::JudgedAfter
            | Caveat::UnequalExclusion
    )
}

/// Whether steal is known: the kernel showed some, or there is no hypervisor that could take any.
pub(crate) fn is_steal_known(summary: &Summary, host: &crate::model::HostFacts) -> bool {
    let bare = host.virtualisation.value().is_some_and(|it| it == "none");
    summary.steal_was_seen || bare
}

/// The caveats, those for every number apart from the others; each code once.
pub(crate) fn caveats(summary: &Summary, steal: bool) -> (Vec<CaveatShown>, Vec<CaveatShown>) {
    let mut groups: Vec<(Caveat, Vec<&str>)> = Vec::new();
    let said = summary
        .caveats
        .iter()
        .any(|it| it.code == Caveat::StealUnknown);
    if !steal && !said && !summary.timeline.is_empty() {
        let detail = "the kernel's count of stolen time was 0 on every CPU in every window";
        groups.push((Caveat::StealUnknown, vec![detail]));
    }
    for note in &summary.caveats {
        match groups.iter_mut().find(|(code, _)| *code == note.code) {
            Some((_, details)) => details.push(&note.detail),
            None => groups.push((note.code, vec![&note.detail])),
        }
    }
    let (top, rest): (Vec<_>, Vec<_>) = groups
        .into_iter()
        .partition(|(code, _)| is_for_every_number(*code));
    let shown = |groups: Vec<(Caveat, Vec<&str>)>| {
        groups
            .into_iter()
            .map(|(code, details)| caveat(code, &details))
            .collect()
    };
    (shown(top), shown(rest))
}

fn caveat(code: Caveat, details: &[&str]) -> CaveatShown {
    let rest = details.len().saturating_sub(MOST_DETAILS);
    CaveatShown {
        code: code.code().to_owned(),
        meaning: code.explain().meaning.to_owned(),
        details: details
            .iter()
            .filter(|it| !it.is_empty())
            .take(MOST_DETAILS)
            .map(|it| (*it).to_owned())
            .collect(),
        more: (rest > 0)
            .then(|| format!("and {} more, in summary.json", format::count(rest as u64))),
    }
}

/// The smallest ratio that the run resolves, and why; in words where it is not known.
pub(crate) fn resolution(summary: &Summary) -> (String, String) {
    let ratio = summary
        .probe
        .resolves
        .as_ref()
        .and_then(|it| format::number(it.get(), Digits::Significant(3)));
    let text = match ratio {
        Some(ratio) => format!(
            "Two CPU costs per request closer than a ratio of {ratio} cannot be told apart in this run; smaller differences are not ranked."
        ),
        None => "What difference this run can resolve is not known.".to_owned(),
    };
    let because = &summary.probe.resolves_because;
    (
        text,
        format!("Evidence: {}.", because.trim_end_matches('.')),
    )
}

/// The probe's readings over the run.
pub(crate) fn probe(summary: &Summary) -> Table {
    let probe = &summary.probe;
    let mut table = Table::new(
        "The reference nginx on the candidate's cores, over the whole run",
        &["Reading", "#Lowest", "#Median", "#Highest"],
    );
    table.note = Some(format!(
        "{}. The probe is a gate, never a divisor: no result is corrected by it. Fixed work: CPU time of one and the same piece of work over its calibration.",
        wording::plural(
            probe.readings,
            "reading, calibration included",
            "readings, calibration included"
        )
    ));
    table.push(triple(
        "Achieved rate",
        probe.achieved.as_ref(),
        Unit::PerSecond,
    ));
    let mut cost = triple(
        "CPU per request",
        probe.cpu_per_request.as_ref(),
        Unit::Nanoseconds,
    );
    if let (Some(achieved), Some(head)) = (&probe.achieved, cost.first_mut()) {
        head.small = Some(format!("at {}", shown::rate(&achieved[1])));
    }
    table.push(cost);
    table.push(triple("Latency p99", probe.p99.as_ref(), Unit::Nanoseconds));
    for (cpu, range) in &probe.fixed_work {
        table.push(triple(
            &format!("Fixed work on CPU {cpu}, of its calibration"),
            Some(range),
            Unit::One,
        ));
    }
    if probe.fixed_work.is_empty() {
        table.push(triple("Fixed work", None, Unit::One));
    }
    let ceiling = probe
        .ceiling
        .as_ref()
        .map_or_else(|| "not measured".to_owned(), shown::rate);
    table.push(vec![
        Cell::head("Its own ceiling"),
        Cell::number(NONE),
        Cell::number(ceiling),
        Cell::number(NONE),
    ]);
    table
}

fn triple(name: &str, values: Option<&[Decimal; 3]>, unit: Unit) -> Vec<Cell> {
    let mut cells = vec![Cell::head(name)];
    let Some(values) = values else {
        cells.extend(["not known", "not known", "not known"].map(Cell::number));
        return cells;
    };
    let scale = Scale::of(unit, values.iter().map(Decimal::get));
    let digits = Digits::between(values[0].get(), values[2].get());
    cells.extend(values.iter().map(|it| {
        Cell::number(quantity(it.get(), digits, scale).unwrap_or_else(|| NONE.to_owned()))
    }));
    cells
}

/// Blocks planned, kept, excluded and tried again.
pub(crate) fn counts(experiment: &Experiment, summary: &Summary) -> Option<Table> {
    let mut table = Table::new(
        "Blocks of each candidate",
        &[
            "Phase",
            "Candidate",
            "#Planned",
            "#Kept",
            "#Attempts excluded",
            "#Tried again",
        ],
    );
    let mut phase = None;
    for it in &summary.counts {
        let first = phase.replace(&it.phase) != Some(&it.phase);
        let cells = vec![
            Cell::words(wording::phase(experiment, &it.phase)),
            Cell::head(wording::candidate(experiment, &it.candidate)),
            Cell::number(format::count(it.planned)),
            Cell::number(format::count(it.kept)),
            Cell::number(format::count(it.excluded)),
            Cell::number(format::count(it.tried_again)),
        ];
        table.rows.push(Row {
            cells,
            faint: false,
            first,
        });
    }
    table.filled()
}

/// Every exclusion with its evidence and who decided.
pub(crate) fn exclusions(summary: &Summary) -> Option<Table> {
    let mut table = Table::new(
        "What does not count",
        &[
            "Attempt",
            "Measurement",
            "Code",
            "Evidence or reason",
            "Decided by",
        ],
    );
    for it in &summary.exclusions {
        let by = match (&it.by, &it.on) {
            (Some(by), Some(on)) => format!("{by}, {on}"),
            (Some(by), None) => by.clone(),
            _ => "guard".to_owned(),
        };
        table.push(vec![
            Cell::head(it.attempt.to_string()),
            Cell::words(
                it.measurement
                    .as_ref()
                    .map_or_else(|| "the whole block".to_owned(), ToString::to_string),
            ),
            Cell::words(it.code.to_string()).under(it.code.explain().meaning),
            Cell::words(it.evidence.clone()),
            Cell::words(by),
        ]);
    }
    table
        .at_most(super::results::MOST_ROWS, "tables/exclusions.csv")
        .filled()
}

/// The estimates that the exclusions change, with and without them.
pub(crate) fn with_and_without(source: &Source<'_>) -> Option<Table> {
    let mut table = Table::new(
        "With and without exclusions",
        &[
            "Number",
            "Candidate",
            "#With exclusions",
            "#With everything kept",
            "#Change",
        ],
    );
    let changed = source
        .summary
        .estimates
        .iter()
        .filter(|it| it.with_everything.is_some() && it.with_everything != it.value);
    for estimate in changed {
        table.push(changed_row(source, estimate));
    }
    table
        .at_most(super::results::MOST_ROWS, "tables/estimates.csv")
        .filled()
}

fn changed_row(source: &Source<'_>, estimate: &Estimate) -> Vec<Cell> {
    let scale = shown::scale(estimate);
    let digits = shown::digits(estimate);
    let everything = estimate.with_everything.as_ref();
    let text = everything.and_then(|it| quantity(it.get(), digits, scale));
    let change = everything
        .zip(estimate.value.as_ref())
        .and_then(|(with, without)| {
            let change = Decimal::from((with.get() - without.get()) / without.get());
            let sign = if change.get() > 0.0 { "+" } else { "" };
            change
                .get()
                .is_finite()
                .then(|| format!("{sign}{}", format::percent(&change)))
        });
    let place = format!(
        "{}, {}",
        wording::scenario(source.experiment, &estimate.scenario),
        wording::point(estimate.at)
    );
    vec![
        Cell::words(super::made::name(estimate)).under(place),
        Cell::head(wording::candidate(source.experiment, &estimate.candidate)),
        Cell::number(shown::value(estimate, scale))
            .under(shown::beside(estimate).unwrap_or_default()),
        Cell::number(text.unwrap_or_else(|| NONE.to_owned())),
        Cell::number(change.unwrap_or_else(|| NONE.to_owned())),
    ]
}

/// What was fixed before any data, and what was decided after it.
pub(crate) fn decided(summary: &Summary, context: &crate::report::Context<'_>) -> Vec<Fact> {
    let opened = context.opened;
    let lock = opened
        .lock
        .map_or_else(|| "measured without a lock".to_owned(), |it| it.to_string());
    let people = summary
        .exclusions
        .iter()
        .filter(|it| it.by.is_some())
        .count() as u64;
    let judged = summary
        .caveats
        .iter()
        .any(|it| it.code == Caveat::JudgedAfter);
    let after = format!(
        "{} by a person; guards {}",
        wording::plural(people, "exclusion", "exclusions"),
        if judged {
            "were judged again with other thresholds"
        } else {
            "as judged while measuring"
        }
    );
    vec![
        Fact::new("Lock (every input), before the data", lock),
        Fact::new("Manifest, before the data", opened.manifest.to_string()),
        Fact::new(
            "Rules with every default, before the data",
            opened.expanded.to_string(),
        ),
        Fact::new("Plan, before the data", opened.plan.to_string()),
        Fact::new("After the data", after),
        Fact::new(
            "Formulas",
            format!(
                "analysis {}, protocol {}",
                summary.analysis, summary.protocol
            ),
        ),
    ]
}
