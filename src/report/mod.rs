//! The report: from a summary to the files that people read.
//!
//! Pure: no clock, no file, no engine, no locale. The same summary, context and templates give the same
//! bytes. Three steps: the *view* holds everything that a page shows, each number rounded once and as
//! text; *templates* lay it out; *charts* are drawn from the same view. Text of others is escaped for
//! where it goes, exactly once.

pub mod error;
pub mod escape;
mod files;
pub mod format;
pub mod templates;

mod chart;
mod citation;
mod crate_metadata;
mod indented;
mod prose;
mod tables;
mod view;

/// What came back of standards, in words for a terminal.
pub mod standards {
    pub(crate) use super::view::standards::{lines, resolved};
}

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use escape::Output;
use minijinja::Value;
use minijinja::value::Serde;

pub use error::RenderError;
pub use files::{Content, Files};
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
    summary: &Arc<Summary>,
    context: &Context<'_>,
    templates: &Templates,
) -> Result<Files, RenderError> {
    let mut files = Files::default();
    let made = |making: Making| {
        let summary = Arc::clone(summary);
        Content::made(move |to| making(&summary, to))
    };
    files.insert("summary.json", made(numbers));
    for (name, table) in tables::ALL {
        files.insert(format!("report/tables/{name}"), made(table));
    }
    files.insert("CITATION.cff", citation::render(summary, context).into());
    let charts = view::drawn::charts(context.experiment, summary);
    let inline = draw(templates, &charts, false)?;
    for (file, drawing) in draw(templates, &charts, true)? {
        files.insert(format!("report/{file}"), drawing.into());
    }
    let page = view::page(summary, context, &charts, &inline)?;
    let view = Value::from(Serde(&page));
    for (output, template, path) in [
        (Output::Markdown, templates::MARKDOWN, "report/entry.md"),
        (Output::Html, templates::HTML, "report/entry.html"),
    ] {
        let engine = templates.engine(output)?;
        let text = templates::fill(&engine, template, view.clone())?;
        files.insert(path, text.into());
    }
    let metadata = crate_metadata::render(summary, context, &files.paths());
    files.insert("ro-crate-metadata.json", metadata.into());
    Ok(files)
}

/// Writes a file of numbers.
type Making = fn(&Summary, &mut dyn Write) -> io::Result<()>;

/// So many bytes are handed on at a time.
const PIECE: usize = 128 << 10;

/// The summary as it stands beside the report.
fn numbers(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let mut pieces = io::BufWriter::with_capacity(PIECE, to);
    indented::write(summary, &mut pieces)?;
    pieces.write_all(b"\n")?;
    pieces.flush()
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
