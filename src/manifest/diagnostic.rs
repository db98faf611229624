//! Diagnostics: one fault each, with its place. How they are shown is in `render`.

use serde::Serialize;

use super::code::DiagnosticCode;
use super::render;

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The manifest cannot be used.
    Error,
    /// The manifest can be used; the author should know.
    Note,
}

/// A stretch of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The file as it was named on the command line.
    pub file: String,
    /// The line of its first character, counted from 1.
    pub line: u32,
    /// The column of its first character, in characters, counted from 1.
    pub column: u32,
    /// The first byte, counted from 0.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// A second place that has to do with a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What it has to do with it.
    pub text: String,
}

/// One fault, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// What kind of fault.
    pub code: DiagnosticCode,
    /// How much it matters.
    pub severity: Severity,
    /// What was found and what was expected. Untrusted parts are escaped.
    pub message: String,
    /// Where; absent: the file as a whole, named in the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// JSON pointer of the value; empty: the whole manifest.
    pub pointer: String,
    /// Further places that have to do with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Label>,
    /// What to write instead; only when sure. Empty: nothing better than `explain`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}

impl std::fmt::Display for Diagnostic {
    /// On one line, without its snippet: what a note needs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Note => "note",
        };
        write!(f, "{severity}[{}]: {}", self.code, self.message)?;
        if let Some(place) = &self.place {
            let file = render::harmless(&place.file);
            write!(f, " ({file}:{}:{})", place.line, place.column)?;
        }
        Ok(())
    }
}

/// A file that diagnostics point into, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceText {
    pub(super) name: String,
    /// The text with every character that could deceive replaced by one of the same length.
    pub(super) shown: String,
}

/// Why a manifest could not be loaded: every fault at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// The faults in the order of the file. Notes are among them.
    pub diagnostics: Vec<Diagnostic>,
    /// Faults beyond the first two hundred, which are only counted.
    pub left_out: usize,
    #[serde(skip)]
    pub(super) sources: Vec<SourceText>,
}

impl Faults {
    /// Every fault as a compiler shows it, with its lines. Ends with a line end.
    ///
    /// Control and bidirectional characters of the file are replaced: what comes out is safe for a
    /// terminal, whatever went in.
    #[must_use]
    pub fn render_text(&self, color: bool) -> String {
        render::text(self, color)
    }

    /// How many of the diagnostics are errors.
    #[must_use]
    pub fn errors(&self) -> usize {
        let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
        self.diagnostics.iter().filter(is_error).count() + self.left_out
    }
}

impl std::fmt::Display for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.render_text(false).trim_end())
    }
}

impl std::error::Error for Faults {}
