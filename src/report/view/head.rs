//! The head of the page: what the entry is, its headline metrics, where it comes from.

use minijinja::Value;
use serde::Serialize;

use super::table::Fact;
use super::{comparisons, machine, method, results, shown, wording};
use crate::estimate::Summary;
use crate::estimate::summary::{ComparisonResult, Decimal, Estimate};
use crate::model::{Experiment, LoadShape, Metric, Outcome, Phase, Role};
use crate::report::Context;
use crate::report::escape::plain;
use crate::report::format::{self, NONE, Scale};

/// Headline metrics at most.
const MOST_HEADLINES: usize = 6;

/// The head of the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Head {
    kind: &'static str,
    draft: bool,
    incomplete: bool,
    title: String,
    question: String,
    method: String,
    headlines: Vec<Headline>,
    facts: Vec<Fact>,
    environment: Vec<Fact>,
    commands: Vec<String>,
    /// The same as lines of a code block, in which nothing is escaped.
    commands_md: Value,
    cite: String,
    licence: Option<String>,
}

/// A headline metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Headline {
    /// What is told.
    pub(crate) label: String,
    /// The number.
    pub(crate) value: String,
    /// What belongs beside it.
    pub(crate) note: String,
}

/// The head of a summary.
pub(crate) fn head(summary: &Summary, context: &Context<'_>) -> Head {
    let page = &context.experiment.page;
    let commands = commands(summary, context);
    Head {
        kind: "Measurement",
        draft: !context.published,
        incomplete: !summary.complete,
        title: page.title.clone(),
        question: page.question.clone(),
        method: method::paragraph(context.experiment, summary),
        headlines: headlines(context.experiment, summary),
        facts: facts(summary, context),
        environment: machine::environment(context),
        commands_md: Value::from_safe_string(
            commands
                .iter()
                .map(|it| format!("{}\n", plain(it)))
                .collect(),
        ),
        commands,
        cite: cite(summary, context),
        licence: page.licence.clone(),
    }
}

fn facts(summary: &Summary, context: &Context<'_>) -> Vec<Fact> {
    let page = &context.experiment.page;
    let (first, last) = &summary.measured_on;
    let days = if first == last {
        first.clone()
    } else {
        format!("{first} to {last}")
    };
    let status = match (context.published, summary.complete) {
        (true, _) => "Current at publication",
        (false, true) => "Draft, complete",
        (false, false) => "Draft, not complete",
    };
    let mut facts = vec![
        Fact::new("Measured on", days),
        Fact::new("Status at publication", status),
        Fact::new("Entry", format!("{}/{}", summary.experiment, summary.entry)),
        Fact::new(
            "Programme",
            page.programme.clone().unwrap_or_else(|| "none".to_owned()),
        ),
        Fact::new(
            "Authors",
            wording::list(
                &page
                    .authors
                    .iter()
                    .map(|it| it.name.clone())
                    .collect::<Vec<_>>(),
            ),
        ),
        Fact::new(
            "Technologies",
            if page.technologies.is_empty() {
                "not named".to_owned()
            } else {
                page.technologies.join(", ")
            },
        ),
        Fact::new("Source code", source(context)),
        Fact::new("Raw data", raw_data(context)),
    ];
    let licence = page
        .licence
        .clone()
        .unwrap_or_else(|| "not named yet: not publishable".to_owned());
    facts.push(Fact::new("Licence", licence));
    facts
}

fn source(context: &Context<'_>) -> String {
    match &context.opened.source {
        crate::model::Known::Value(source) => {
            let repository = source
                .repository
                .as_deref()
                .unwrap_or("a repository without an address");
            let state = if source.clean {
                "the folder was clean"
            } else {
                "the folder had changes that are not in the commit"
            };
            format!("{repository}, commit {} ({state})", source.commit)
        }
        crate::model::Known::Absent(reason) => format!("{NONE} (not known: {reason})"),
    }
}

fn raw_data(context: &Context<'_>) -> String {
    let raw = context
        .files
        .iter()
        .filter(|it| it.path.starts_with("raw/"));
    let (count, bytes) = raw.fold((0, 0), |(count, bytes), file| {
        (count + 1, bytes + file.bytes)
    });
    #[allow(clippy::cast_precision_loss)] // Three digits are printed.
    let bytes = bytes as f64;
    let size = format::quantity(
        bytes,
        format::Digits::Significant(3),
        Scale::of(crate::model::Unit::Bytes, [bytes]),
    );
    format!(
        "records.jsonl and raw/ ({}, {}) beside this page; every number as CSV in report/tables/",
        wording::plural(count, "file", "files"),
        size.unwrap_or_else(|| NONE.to_owned())
    )
}

fn commands(summary: &Summary, context: &Context<'_>) -> Vec<String> {
    let mut commands = Vec::new();
    if let Some(source) = context.opened.source.value() {
        let repository = source.repository.as_ref().filter(|it| is_plain_word(it));
        if let Some(repository) = repository {
            commands.push(format!("git clone {repository} work && cd work"));
        }
        if is_plain_word(&source.commit) {
            commands.push(format!("git checkout {}", source.commit));
        }
    }
    if context.published {
        commands.push(format!(
            "loadlab reproduce results/{}/{}",
            summary.experiment, summary.entry
        ));
    }
    commands.push(format!(
        "loadlab run experiments/{}/experiment.yaml",
        summary.experiment
    ));
    commands
}

/// Whether a shell takes the text as one word and nothing more: people copy these lines.
fn is_plain_word(text: &str) -> bool {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b":/@._~-".contains(&it);
    text.bytes().all(plain)
        && text
            .bytes()
            .next()
            .is_some_and(|it| it.is_ascii_alphanumeric())
}

fn cite(summary: &Summary, context: &Context<'_>) -> String {
    let page = &context.experiment.page;
    let authors: Vec<String> = page.authors.iter().map(|it| it.name.clone()).collect();
    let year = summary.measured_on.1.split('-').next().unwrap_or_default();
    format!(
        "{} ({year}). {}. Data set, entry {}/{}, made with loadlab {}.",
        wording::list(&authors),
        page.title.trim_end_matches('.'),
        summary.experiment,
        summary.entry,
        context.opened.version
    )
}

/// The headline metrics: the primary comparison, then what each phase says.
fn headlines(experiment: &Experiment, summary: &Summary) -> Vec<Headline> {
    let mut all: Vec<Headline> = summary
        .comparisons
        .iter()
        .filter(|it| it.primary)
        .map(|it| compared(experiment, it))
        .collect();
    for phase in experiment.phases.values() {
        match &phase.load {
            LoadShape::FixedRate { .. } => {
                all.extend(held(experiment, summary, phase));
                all.extend(extremes(experiment, summary, phase));
            }
            LoadShape::Ceiling { .. } => all.extend(ceilings(experiment, summary, phase)),
        }
    }
    all.truncate(MOST_HEADLINES);
    all
}

fn compared(experiment: &Experiment, result: &ComparisonResult) -> Headline {
    let comparison = &result.comparison;
    let interval = comparisons::interval(result);
    let coverage = result
        .interval
        .as_ref()
        .map(|it| format::coverage(&it.coverage));
    let ratio = comparisons::ratio(result);
    let mut note = vec![comparisons::verdict(result)];
    if !interval.is_empty() {
        note.push(format!(
            "{interval} covers {}",
            coverage.unwrap_or_else(|| NONE.to_owned())
        ));
    }
    let unit = comparison.metric.unit();
    let values = [&result.compare_value, &result.against_value];
    let scale = Scale::of(unit, values.into_iter().flatten().map(Decimal::get));
    let sides: Vec<String> = [
        (&result.compare_value, &result.achieved.0),
        (&result.against_value, &result.achieved.1),
    ]
    .into_iter()
    .filter_map(|(value, rate)| {
        let value = format::quantity(value.as_ref()?.get(), format::Digits::Significant(3), scale)?;
        let rate = rate
            .as_ref()
            .filter(|_| comparison.metric == Metric::CpuPerRequest);
        Some(rate.map_or(value.clone(), |rate| {
            format!("{value} at {}", shown::rate(rate))
        }))
    })
    .collect();
    if sides.len() == 2 {
        note.push(sides.join(" against "));
    }
    Headline {
        label: format!(
            "{}: {} / {}",
            wording::metric(comparison.metric),
            wording::candidate(experiment, &comparison.compare),
            wording::candidate(experiment, &comparison.against)
        ),
        value: if result.ratio.is_some() {
            format!("{ratio}×")
        } else {
            ratio
        },
        note: note.join(" · "),
    }
}

/// Who held each rate of a phase.
fn held(experiment: &Experiment, summary: &Summary, phase: &Phase) -> Vec<Headline> {
    let mut all = Vec::new();
    for scenario in phase.load.scenarios() {
        for at in phase.load.points(scenario) {
            let here = |it: &&crate::estimate::summary::Cell| {
                it.phase == phase.name && it.scenario == *scenario && it.at == at && it.kept > 0
            };
            let cells: Vec<_> = summary.cells.iter().filter(here).collect();
            if cells.is_empty() {
                continue;
            }
            let whole = |it: &&&crate::estimate::summary::Cell| {
                it.outcomes.get(&Outcome::Held) == Some(&it.kept)
            };
            let names: Vec<String> = cells
                .iter()
                .filter(whole)
                .map(|it| wording::candidate(experiment, &it.candidate))
                .collect();
            let note = match names.len() {
                count if count == cells.len() => "in every repetition".to_owned(),
                0 => "none in every repetition".to_owned(),
                _ => format!("in every repetition: {}", wording::list(&names)),
            };
            all.push(Headline {
                label: format!(
                    "{} at {}: held",
                    wording::scenario(experiment, scenario),
                    wording::point(at)
                ),
                value: format!("{} of {}", names.len(), cells.len()),
                note,
            });
        }
    }
    all
}

/// The smallest and the largest CPU per request of a phase, per scenario and load point.
fn extremes(experiment: &Experiment, summary: &Summary, phase: &Phase) -> Vec<Headline> {
    let mut all = Vec::new();
    for scenario in phase.load.scenarios() {
        for at in phase.load.points(scenario) {
            let here = |it: &&Estimate| {
                it.phase == phase.name
                    && it.scenario == *scenario
                    && it.at == at
                    && it.metric == Metric::CpuPerRequest
                    && it.role == Role::Candidate
                    && it.value.is_some()
            };
            let mut found: Vec<&Estimate> = summary.estimates.iter().filter(here).collect();
            found.sort_by(|a, b| value_of(a).total_cmp(&value_of(b)));
            let [first, .., last] = found.as_slice() else {
                continue;
            };
            let scale = shown::common_scale(first.unit, found.iter().copied());
            let low =
                format::bare(value_of(first), shown::digits(first), scale).unwrap_or_default();
            let rates: Vec<String> = [first, last]
                .into_iter()
                .filter_map(|it| it.achieved.as_ref())
                .map(shown::rate)
                .collect();
            let rates = if rates.first() == rates.last() {
                rates.first().cloned()
            } else {
                Some(rates.join(" and "))
            };
            all.push(Headline {
                label: format!(
                    "CPU per request, {}",
                    wording::scenario(experiment, scenario)
                ),
                value: format!("{low} → {}", shown::value(last, scale)),
                note: format!(
                    "{} → {}{}",
                    wording::candidate(experiment, &first.candidate),
                    wording::candidate(experiment, &last.candidate),
                    rates.map(|it| format!(", at {it}")).unwrap_or_default()
                ),
            });
        }
    }
    all
}

fn value_of(estimate: &Estimate) -> f64 {
    estimate.value.as_ref().map_or(0.0, Decimal::get)
}

/// The largest and the smallest ceiling of a phase, per scenario.
fn ceilings(experiment: &Experiment, summary: &Summary, phase: &Phase) -> Vec<Headline> {
    let mut all = Vec::new();
    for scenario in phase.load.scenarios() {
        let here = |it: &&crate::estimate::summary::PointsEstimate| {
            it.phase == phase.name
                && it.scenario == *scenario
                && it.metric == Metric::Achieved
                && it.value.is_some()
        };
        let mut found: Vec<_> = summary.over_points.iter().filter(here).collect();
        let value = |it: &crate::estimate::summary::PointsEstimate| {
            it.value.as_ref().map_or(0.0, Decimal::get)
        };
        found.sort_by(|a, b| value(b).total_cmp(&value(a)));
        let [first, .., last] = found.as_slice() else {
            continue;
        };
        let shown = |it: &crate::estimate::summary::PointsEstimate| {
            results::over(it, Scale::of(it.unit, [value(it)]))
        };
        all.push(Headline {
            label: format!("Ceiling, {}", wording::scenario(experiment, scenario)),
            value: format!("{} / {}", shown(first).trim_end_matches("/s"), shown(last)),
            note: format!(
                "{} / {}",
                wording::candidate(experiment, &first.candidate),
                wording::candidate(experiment, &last.candidate)
            ),
        });
    }
    all
}
