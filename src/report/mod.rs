//! The report: from a summary to the files that people read.
//!
//! Pure: no clock, no file, no engine, no locale. The same summary, context and templates give the same
//! bytes. Three steps: the *view* holds everything that a page shows, each number rounded once and as
//! text; *templates* lay it out; *charts* are drawn from the same view. Text of others is escaped for
//! where it goes, exactly once.

pub mod error;
pub mod escape;
pub mod format;
pub mod templates;

mod chart;
mod citation;
mod crate_metadata;
mod prose;
mod tables;
mod view;

use std::collections::BTreeMap;

use escape::Output;
use minijinja::Value;
use minijinja::value::Serde;

pub use error::RenderError;
pub use templates::Templates;

use crate::estimate::Summary;
use crate::lock::Lock;
use crate::model::facts::HostFacts;
use crate::model::{Digest, Experiment};
use crate::record::event::{Opened, Session};

/// What a report needs beside the numbers.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The experiment with every default: `expanded.json`.
    pub experiment: &'a Experiment,
    /// The first record.
    pub opened: &'a Opened,
    /// Every session, in order.
    pub sessions: &'a [&'a Session],
    /// The machine: `host.json`.
    pub host: &'a HostFacts,
    /// The lock; absent: measured without one.
    pub lock: Option<&'a Lock>,
    /// The author's prose: `entry.md.j2`; absent: none was written yet.
    pub prose: Option<&'a str>,
    /// The witness files of the entry, in the order of their paths.
    pub files: &'a [WitnessFile],
    /// Whether it is a published entry; else a draft, and the page says so.
    pub published: bool,
}

/// A file of an entry that the report did not make.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WitnessFile {
    /// Path relative to the entry, with `/`.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
    /// The digest of its bytes.
    pub digest: Digest,
}

/// Renders every file that is made from the records: `summary.json`, `report/`, `CITATION.cff` and
/// `ro-crate-metadata.json`, by path relative to the entry. All of them end lines with LF.
///
/// # Errors
/// When a template or a text of the author is at fault; with its name and line.
pub fn render(
    summary: &Summary,
    context: &Context<'_>,
    templates: &Templates,
) -> Result<BTreeMap<String, Vec<u8>>, RenderError> {
    let mut files = BTreeMap::new();
    // The two that grow with the measurements, beside each other.
    let (numbers, tables) = std::thread::scope(|scope| {
        let numbers = scope.spawn(|| numbers(summary));
        let tables = tables::render(summary);
        let numbers = numbers.join();
        (
            numbers.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            tables,
        )
    });
    files.insert("summary.json".to_owned(), numbers);
    files.insert(
        "CITATION.cff".to_owned(),
        citation::render(summary, context).into_bytes(),
    );
    for (name, bytes) in tables? {
        files.insert(format!("report/tables/{name}"), bytes);
    }
    let charts = view::drawn::charts(context.experiment, summary);
    let inline = draw(templates, &charts, false)?;
    for (file, drawing) in draw(templates, &charts, true)? {
        files.insert(format!("report/{file}"), drawing.into_bytes());
    }
    let page = view::page(summary, context, &charts, &inline)?;
    let view = Value::from(Serde(&page));
    for (output, template, path) in [
        (Output::Markdown, templates::MARKDOWN, "report/entry.md"),
        (Output::Html, templates::HTML, "report/entry.html"),
    ] {
        let engine = templates.engine(output)?;
        let text = templates::fill(&engine, template, view.clone())?;
        files.insert(path.to_owned(), text.into_bytes());
    }
    let metadata = crate_metadata::render(summary, context, files.keys());
    files.insert("ro-crate-metadata.json".to_owned(), metadata.into_bytes());
    Ok(files)
}

/// The summary as it stands beside the report.
fn numbers(summary: &Summary) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(summary).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Every chart as SVG by its file, relative to the page; alone with its own style, else without.
fn draw(
    templates: &Templates,
    charts: &view::drawn::Charts,
    alone: bool,
) -> Result<BTreeMap<String, String>, RenderError> {
    let engine = templates.engine(Output::Svg)?;
    let drawing = |chart| {
        let view = Value::from_pairs([
            ("chart", Value::from(Serde(chart))),
            ("alone", Value::from(alone)),
        ]);
        Ok((
            view::chart_file(chart),
            templates::fill(&engine, templates::CHART, view)?,
        ))
    };
    charts.all().map(drawing).collect()
}
