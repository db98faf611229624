//! Everything that a template may see, formatted already: texts, tables, facts, charts.

pub(crate) mod comparisons;
pub(crate) mod drawn;
pub(crate) mod head;
pub(crate) mod headlines;
pub(crate) mod index;
pub(crate) mod limits;
pub(crate) mod machine;
pub(crate) mod made;
pub(crate) mod method;
pub(crate) mod observed;
pub(crate) mod results;
pub(crate) mod shown;
pub(crate) mod standards;
pub(crate) mod table;
pub(crate) mod thresholds;
pub(crate) mod timeline;
pub(crate) mod trust;
pub(crate) mod wording;

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;
use serde::Serialize;

use super::Context;
use super::chart::Chart;
use super::error::RenderError;
use super::prose::{Author, Numbers};
use crate::estimate::Summary;
use crate::model::Role;
use crate::model::experiment::ResultState;
use index::Index;
use results::{PhaseResults, Source};
use table::{Fact, Table, Text};
use trust::CaveatShown;

/// The page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Page {
    head: head::Head,
    standards: Option<standards::Opening>,
    finding: Option<Text>,
    confidence: Option<Confidence>,
    resolution: String,
    resolution_because: String,
    top_caveats: Vec<CaveatShown>,
    caveats: Vec<CaveatShown>,
    phases: Vec<PhaseResults>,
    comparisons: Option<Table>,
    derived: Vec<Table>,
    results: Vec<NamedResult>,
    prose: Option<Text>,
    how: Vec<Fact>,
    guards: Table,
    limits: Vec<Text>,
    questions: Vec<Text>,
    counts: Option<Table>,
    exclusions: Option<Table>,
    changed: Option<Table>,
    decided: Vec<Fact>,
    drift: Vec<ChartPlace>,
    timeline: Option<Table>,
    probe: Table,
    machine: Vec<Fact>,
    enforced: Option<Table>,
    kernel_limits: Option<Table>,
    departures: Option<Table>,
}

/// The author's word on how sure the finding is.
#[derive(Debug, Clone, Serialize)]
struct Confidence {
    word: &'static str,
    because: Text,
}

/// A result that the author names.
#[derive(Debug, Clone, Serialize)]
struct NamedResult {
    id: String,
    title: String,
    setup: Text,
    measured: Text,
    fix: Option<Text>,
    state: &'static str,
}

/// A chart where it stands on the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ChartPlace {
    /// Its file, relative to the page.
    pub(crate) file: String,
    /// What it shows.
    pub(crate) title: String,
    /// How it is to be read.
    pub(crate) note: String,
    /// The drawing, for the page itself.
    pub(crate) svg: Value,
}

impl ChartPlace {
    fn of(chart: &Chart, note: &str, svg: &BTreeMap<String, String>) -> Self {
        let file = chart_file(chart);
        let drawing = svg.get(&file).cloned().unwrap_or_default();
        Self {
            title: chart.title.clone(),
            note: note.to_owned(),
            svg: Value::from_safe_string(drawing),
            file,
        }
    }
}

/// The path of a chart, relative to the page.
pub(crate) fn chart_file(chart: &Chart) -> String {
    format!("charts/{}.svg", chart.name)
}

/// The page of a summary. `svg` holds the drawing of each chart by its file.
pub(crate) fn page(
    summary: &Summary,
    context: &Context<'_>,
    charts: &drawn::Charts,
    svg: &BTreeMap<String, String>,
) -> Result<Page, RenderError> {
    let experiment = context.experiment;
    let source = Source {
        experiment,
        summary,
        index: Index::of(summary),
        steal: trust::is_steal_known(summary, context.host),
    };
    let author = Author::new(Numbers::of(experiment, summary));
    let text = |name: &str, text: &str| author.text(name, text, svg);
    let texts = |name: &str, texts: &[String]| -> Result<Vec<Text>, RenderError> {
        let numbered = |(index, it): (usize, &String)| text(&format!("{name}[{index}]"), it);
        texts.iter().enumerate().map(numbered).collect()
    };
    let (top_caveats, caveats) = trust::caveats(summary, source.steal);
    let (resolution, resolution_because) =
        standards::resolution(summary).unwrap_or_else(|| trust::resolution(summary));
    let finding = experiment.page.finding.as_ref();
    Ok(Page {
        head: head::head(summary, context),
        standards: standards::opening(summary, charts.standards.as_ref(), svg),
        finding: finding
            .map(|it| text("finding.text", &it.text))
            .transpose()?,
        confidence: finding.map(|it| confidence(&text, it)).transpose()?,
        resolution,
        resolution_because,
        top_caveats,
        caveats,
        phases: phases(&source, charts, svg),
        comparisons: comparisons::table(experiment, summary),
        derived: comparisons::derived(experiment, summary),
        results: named_results(&text, experiment)?,
        prose: context
            .prose
            .map(|it| text("entry.md.j2", it))
            .transpose()?,
        how: how(context, summary),
        guards: thresholds::guards(experiment),
        limits: texts("limits", &experiment.page.limits)?,
        questions: texts("questions", &experiment.page.questions)?,
        counts: trust::counts(experiment, summary),
        exclusions: trust::exclusions(summary),
        changed: trust::with_and_without(&source),
        decided: trust::decided(summary, context),
        drift: drift(charts, svg),
        timeline: timeline::table(&source),
        probe: trust::probe(summary),
        machine: machine::machine(context),
        enforced: machine::enforced(context),
        kernel_limits: observed::limits(summary),
        departures: machine::departures(experiment),
    })
}

/// How it was measured: each phase, then what holds for all.
fn how(context: &Context<'_>, summary: &Summary) -> Vec<Fact> {
    let mut how = method::phases(context.experiment);
    how.extend(method::how(context, summary));
    how
}

/// The charts of the probe over time.
fn drift(charts: &drawn::Charts, svg: &BTreeMap<String, String>) -> Vec<ChartPlace> {
    let placed = |it| ChartPlace::of(it, drawn::DRIFT_NOTE, svg);
    charts.drift.iter().map(placed).collect()
}

/// The roles that have numbers, the candidate first.
fn roles(summary: &Summary) -> BTreeSet<Role> {
    let others = summary.estimates.iter().map(|it| it.role.clone());
    others.chain([Role::Candidate]).collect()
}

fn phases(
    source: &Source<'_>,
    charts: &drawn::Charts,
    svg: &BTreeMap<String, String>,
) -> Vec<PhaseResults> {
    let roles = roles(source.summary);
    let phase = |phase| {
        let mut shown = results::phase(source, phase, &roles);
        let of = charts
            .phases
            .get(&phase.name)
            .map(Vec::as_slice)
            .unwrap_or_default();
        shown.charts = of
            .iter()
            .map(|it| ChartPlace::of(it, &drawn::note(phase), svg))
            .collect();
        shown
    };
    source.experiment.phases.values().map(phase).collect()
}

fn confidence(
    text: &impl Fn(&str, &str) -> Result<Text, RenderError>,
    finding: &crate::model::experiment::Finding,
) -> Result<Confidence, RenderError> {
    use crate::model::experiment::Confidence as Word;
    let word = match finding.confidence {
        Word::Low => "low",
        Word::Medium => "medium",
        Word::High => "high",
    };
    Ok(Confidence {
        word,
        because: text("finding.because", &finding.because)?,
    })
}

fn named_results(
    text: &impl Fn(&str, &str) -> Result<Text, RenderError>,
    experiment: &crate::model::Experiment,
) -> Result<Vec<NamedResult>, RenderError> {
    let results = experiment.page.results.iter();
    results.map(|it| named_result(text, it)).collect()
}

fn named_result(
    text: &impl Fn(&str, &str) -> Result<Text, RenderError>,
    result: &crate::model::experiment::NamedResult,
) -> Result<NamedResult, RenderError> {
    let part = |part: &str, source: &str| text(&format!("results.{}.{part}", result.id), source);
    Ok(NamedResult {
        id: anchor(&result.id),
        title: result.title.clone(),
        setup: part("setup", &result.setup)?,
        measured: part("measured", &result.measured)?,
        fix: result
            .fix
            .as_deref()
            .map(|it| part("fix", it))
            .transpose()?,
        state: match result.state {
            ResultState::Shown => "shown",
            ResultState::FixNotMeasured => "fix not measured",
            ResultState::Open => "open",
        },
    })
}

/// A name as an anchor: what could end an attribute becomes `-`.
fn anchor(name: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    name.chars()
        .map(|it| if plain(it) { it } else { '-' })
        .collect()
}
