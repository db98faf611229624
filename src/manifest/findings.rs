//! Collects faults while a manifest is read, and knows the files that they point into.

use super::code::DiagnosticCode;
use super::diagnostic::{Diagnostic, Faults, Label, Place, Severity, SourceText};
use super::render::{harmless, harmless_in_place};

/// Faults that are kept; more are only counted.
const KEPT: usize = 200;

/// A stretch of one of the files, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Span {
    pub(super) source: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    /// A part of this stretch; offsets count from its start.
    pub(super) const fn part(self, start: usize, end: usize) -> Self {
        Self {
            source: self.source,
            start: self.start + start,
            end: self.start + end,
        }
    }
}

/// A fault as it is found, before its place has lines and columns.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) code: DiagnosticCode,
    pub(super) severity: Severity,
    pub(super) span: Option<Span>,
    pub(super) pointer: String,
    pub(super) message: String,
    pub(super) labels: Vec<(Span, String)>,
    pub(super) help: Vec<String>,
}

impl Finding {
    pub(super) fn new(code: DiagnosticCode, span: Span, message: impl Into<String>) -> Self {
        Self {
            span: Some(span),
            ..Self::anywhere(code, message)
        }
    }

    /// A fault of a whole file, which the message names.
    pub(super) fn anywhere(code: DiagnosticCode, message: impl Into<String>) -> Self {
        let (message, pointer) = (message.into(), String::new());
        let (labels, help) = (Vec::new(), Vec::new());
        Self {
            code,
            severity: Severity::Error,
            span: None,
            pointer,
            message,
            labels,
            help,
        }
    }

    pub(super) fn at(mut self, pointer: &str) -> Self {
        pointer.clone_into(&mut self.pointer);
        self
    }

    pub(super) fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

struct Source {
    name: String,
    text: String,
    lines: Vec<usize>,
}

/// The files that were read and the faults that were found in them.
#[derive(Default)]
pub(super) struct Findings {
    sources: Vec<Source>,
    found: Vec<Finding>,
    left_out: usize,
}

impl Findings {
    /// Takes a file in; spans name it by the number returned.
    pub(super) fn add_source(&mut self, name: String, text: String) -> usize {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0)
            .chain(starts.map(|(at, _)| at + 1))
            .collect();
        self.sources.push(Source { name, text, lines });
        self.sources.len() - 1
    }

    pub(super) fn text(&self, source: usize) -> &str {
        &self.sources[source].text
    }

    /// The text of a stretch.
    pub(super) fn slice(&self, span: Span) -> &str {
        &self.sources[span.source].text[span.start..span.end]
    }

    pub(super) fn push(&mut self, finding: Finding) {
        if self.found.len() < KEPT {
            self.found.push(finding);
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn has_errors(&self) -> bool {
        self.left_out > 0
            || self
                .found
                .iter()
                .any(|found| found.severity == Severity::Error)
    }

    /// Everything that was found, in the order of the files.
    pub(super) fn into_faults(mut self) -> Faults {
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|finding| (finding.span, finding.code));
        let diagnostics = found
            .into_iter()
            .map(|finding| self.diagnostic(finding))
            .collect();
        let shown = |source: &Source| SourceText {
            name: source.name.clone(),
            shown: harmless_in_place(&source.text),
        };
        let sources = self.sources.iter().map(shown).collect();
        Faults {
            diagnostics,
            left_out: self.left_out,
            sources,
        }
    }

    fn diagnostic(&self, finding: Finding) -> Diagnostic {
        let label = |(span, text): (Span, String)| Label {
            place: self.place(span),
            text: harmless(&text),
        };
        Diagnostic {
            code: finding.code,
            severity: finding.severity,
            message: harmless(&finding.message),
            place: finding.span.map(|span| self.place(span)),
            pointer: finding.pointer,
            labels: finding.labels.into_iter().map(label).collect(),
            help: finding.help.iter().map(|help| harmless(help)).collect(),
        }
    }

    fn place(&self, span: Span) -> Place {
        let source = &self.sources[span.source];
        let number = source.lines.partition_point(|start| *start <= span.start);
        let line_start = source.lines[number - 1];
        let column = source.text[line_start..span.start].chars().count() + 1;
        Place {
            file: source.name.clone(),
            line: u32::try_from(number).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            start: span.start,
            end: span.end,
        }
    }
}
