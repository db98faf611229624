//! What the semantic checks share: the tree for places, the findings, the files, the names.

use crate::manifest::code::DiagnosticCode;
use crate::manifest::diagnostic::Severity;
use crate::manifest::files::Files;
use crate::manifest::findings::{Finding, Findings, Span};
use crate::manifest::nearest::did_you_mean;
use crate::manifest::tree::{Node, Spot, Value, below};
use crate::model::{CandidateName, ScenarioName, ServiceName};

/// A fault at a pointer. It stays unsaid when anything that it touches was at fault already.
pub(super) struct Fault {
    code: DiagnosticCode,
    severity: Severity,
    pointer: String,
    on_key: bool,
    /// A part of the text at the pointer, in bytes of the text.
    part: Option<(usize, usize)>,
    message: String,
    touching: Vec<String>,
    labels: Vec<(String, String)>,
    help: Vec<String>,
}

impl Fault {
    pub(super) fn new(code: DiagnosticCode, pointer: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            pointer: pointer.to_owned(),
            on_key: false,
            part: None,
            message: message.into(),
            touching: Vec::new(),
            labels: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Something to know rather than to mend.
    pub(super) const fn note(mut self) -> Self {
        self.severity = Severity::Note;
        self
    }

    /// Points at the key instead of the value.
    pub(super) const fn on_key(mut self) -> Self {
        self.on_key = true;
        self
    }

    pub(super) const fn part(mut self, start: usize, end: usize) -> Self {
        self.part = Some((start, end));
        self
    }

    pub(super) fn touching(mut self, pointer: impl Into<String>) -> Self {
        self.touching.push(pointer.into());
        self
    }

    /// A second place that has to do with it; touched as well.
    pub(super) fn label(mut self, pointer: &str, text: impl Into<String>) -> Self {
        self.labels.push((pointer.to_owned(), text.into()));
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    pub(super) fn help_if(mut self, help: Option<String>) -> Self {
        self.help.extend(help);
        self
    }
}

/// The names that an experiment declares.
pub(super) struct Names {
    pub(super) candidates: Vec<CandidateName>,
    pub(super) scenarios: Vec<ScenarioName>,
    pub(super) services: Vec<ServiceName>,
}

pub(super) struct Context<'a> {
    pub(super) tree: &'a Node,
    pub(super) findings: &'a mut Findings,
    pub(super) files: Files,
    pub(super) names: Names,
}

impl Context<'_> {
    pub(super) fn report(&mut self, fault: Fault) {
        let spot = self.tree.find(&fault.pointer);
        let labels = fault.labels.iter().map(|(pointer, _)| pointer);
        let sound = |pointer: &String| self.tree.find(pointer).sound;
        if !spot.sound || !fault.touching.iter().chain(labels).all(sound) {
            return;
        }
        let whole = if fault.on_key {
            spot.key.unwrap_or(spot.node.span)
        } else {
            visible(&spot)
        };
        let span = fault
            .part
            .and_then(|part| self.part(&spot, part))
            .unwrap_or(whole);
        let mut finding = Finding::new(fault.code, span, fault.message).at(&fault.pointer);
        finding.severity = fault.severity;
        finding.help = fault.help;
        for (pointer, text) in fault.labels {
            finding = finding.label(visible(&self.tree.find(&pointer)), text);
        }
        self.findings.push(finding);
    }

    /// The place of a part of a text; absent where the text is not written as it reads.
    fn part(&self, spot: &Spot<'_>, (start, end): (usize, usize)) -> Option<Span> {
        let text = spot.node.text()?;
        let written = self.findings.slice(spot.node.span);
        let opening = written.find(text)?;
        Some(spot.node.span.part(opening + start, opening + end))
    }

    /// Whether nothing at a pointer or above it was at fault.
    pub(super) fn is_sound(&self, pointer: &str) -> bool {
        self.tree.find(pointer).sound
    }

    /// Reports a name that is not declared; `among` is the pointer of the mapping that declares.
    pub(super) fn unknown(
        &mut self,
        pointer: &str,
        what: &str,
        name: &str,
        known: &[String],
        among: &str,
    ) {
        let help = did_you_mean(name, known.iter().map(String::as_str), || match known {
            [] => format!("there is no {what}"),
            known => format!("declared: {}", known.join(", ")),
        });
        let message = format!("there is no {what} `{}`", name.escape_debug());
        let fault = Fault::new(DiagnosticCode::UnknownName, pointer, message);
        self.report(fault.touching(below(among, name)).help(help));
    }
}

/// Mappings and lists are shown by their key.
fn visible(spot: &Spot<'_>) -> Span {
    match spot.node.value {
        Value::Mapping(_) | Value::List(_) | Value::Null => {
            spot.key.unwrap_or_else(|| first(spot.node))
        }
        _ => spot.node.span,
    }
}

/// The first key of a mapping that has none itself.
fn first(node: &Node) -> Span {
    let entries = node.mapping();
    entries
        .and_then(|entries| entries.first())
        .map_or(node.span, |(_, entry)| entry.key)
}

/// Names as texts.
pub(super) fn texts<T: ToString>(names: &[T]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}
