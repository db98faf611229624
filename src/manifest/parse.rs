//! From the events of the YAML parser to the tree. Takes one plain document and nothing clever.

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, options};
use indexmap::IndexMap;
use indexmap::map::Entry as Slot;

use super::code::DiagnosticCode;
use super::findings::{Finding, Findings, Span};
use super::scalar;
use super::tree::{Entry, Node, Value};

/// The largest manifest that is read, bytes.
pub(super) const LARGEST: u64 = 4 << 20;

/// The deepest nesting that is read; no manifest needs a third of it.
const DEEPEST: usize = 48;

/// Reads one document. Absent when it cannot be read to its end, with the fault among the findings.
pub(super) fn parse(source: usize, findings: &mut Findings) -> Option<Node> {
    let text = findings.text(source).to_owned();
    unprintable(source, &text, findings);
    let mut builder = Builder {
        source,
        findings,
        open: Vec::new(),
        root: None,
        scalars: Vec::new(),
    };
    let rules = options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    };
    let mut documents = 0;
    for event in Parser::new_from_str_with_options(&text, rules) {
        let (event, span) = match event {
            Ok((event, span)) => (event, builder.span(span)),
            Err(error) => return builder.broken(&text, &error),
        };
        if let Event::DocumentStart(..) = event {
            documents += 1;
            if documents > 1 {
                builder.second_document(&text, span);
                break;
            }
        }
        if !builder.take(event, span) {
            return None;
        }
    }
    let Builder {
        root,
        scalars,
        findings,
        ..
    } = builder;
    tabs(source, &text, &scalars, findings);
    match root {
        Some(Node {
            value: Value::Null,
            faulty: false,
            ..
        })
        | None => {
            let message = "the file holds nothing but comments and blanks";
            findings.push(Finding::new(
                DiagnosticCode::Empty,
                here(source, &text, 0),
                message,
            ));
            None
        }
        some => some,
    }
}

/// The character at a byte offset; nothing at the end of the text.
fn here(source: usize, text: &str, start: usize) -> Span {
    let start = text.floor_char_boundary(start.min(text.len()));
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    Span {
        source,
        start,
        end: start + length,
    }
}

fn unprintable(source: usize, text: &str, findings: &mut Findings) {
    let bad = |character: char| character.is_control() && !matches!(character, '\n' | '\r' | '\t');
    for (at, character) in text.char_indices().filter(|(_, character)| bad(*character)) {
        let message = format!("control character U+{:04X}", u32::from(character));
        let span = here(source, text, at);
        findings.push(Finding::new(DiagnosticCode::Unprintable, span, message));
    }
}

/// Tabs outside of values and comments.
fn tabs(source: usize, text: &str, scalars: &[Span], findings: &mut Findings) {
    let mut at = 0;
    let ends = Span {
        source,
        start: text.len(),
        end: text.len(),
    };
    for scalar in scalars.iter().chain([&ends]) {
        let mut comment = false;
        for (offset, byte) in text.as_bytes()[at..scalar.start.max(at)].iter().enumerate() {
            match byte {
                b'#' => comment = true,
                b'\n' => comment = false,
                b'\t' if !comment => {
                    let message = "a tab stands between the parts of the file";
                    let span = here(source, text, at + offset);
                    let finding = Finding::new(DiagnosticCode::Tab, span, message);
                    findings.push(finding.help("replace it by spaces"));
                }
                _ => {}
            }
        }
        at = scalar.end.max(at);
    }
}

/// A list or mapping that is not closed yet.
enum Open {
    List(Span, Vec<Node>),
    Mapping(Span, IndexMap<String, Entry>, Pending),
}

/// What a mapping waits for.
enum Pending {
    Key,
    Value(String, Span),
    /// A value whose key was refused.
    Refused,
}

struct Builder<'a> {
    source: usize,
    findings: &'a mut Findings,
    open: Vec<Open>,
    root: Option<Node>,
    scalars: Vec<Span>,
}

impl Builder<'_> {
    fn span(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or_default();
        Span {
            source: self.source,
            start: range.start,
            end: range.end.max(range.start),
        }
    }

    fn fault(&mut self, code: DiagnosticCode, span: Span, message: impl Into<String>) {
        self.findings.push(Finding::new(code, span, message));
    }

    /// Takes an event; false when the nesting is too deep to go on.
    fn take(&mut self, event: Event<'_>, span: Span) -> bool {
        if event.tag().is_some() {
            let message = "a tag gives a value a type; here types follow from the schema";
            self.fault(DiagnosticCode::Tag, span, message);
        }
        match event {
            Event::Scalar(text, style, ..) => {
                self.scalars.push(span);
                let node = self.scalar(&text, style, span);
                self.close(node, style == ScalarStyle::Plain);
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.fault(
                    DiagnosticCode::Alias,
                    span,
                    "an alias stands for another part of the file",
                );
                self.close(Node::at_fault(span, Value::Null), false);
            }
            Event::Anchor(..) => {
                self.fault(
                    DiagnosticCode::Alias,
                    span,
                    "an anchor names a part of the file for aliases",
                );
            }
            Event::SequenceStart(..) => self.open.push(Open::List(span, Vec::new())),
            Event::MappingStart(..) => {
                self.open
                    .push(Open::Mapping(span, IndexMap::new(), Pending::Key));
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            _ => {}
        }
        let deep = self.open.len() > DEEPEST;
        if deep {
            let message = format!("nested deeper than {DEEPEST} levels");
            self.fault(DiagnosticCode::TooLarge, span, message);
        }
        !deep
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, span: Span) -> Node {
        if style != ScalarStyle::Plain {
            return Node::new(span, Value::Text(text.to_owned()));
        }
        match scalar::resolve(text) {
            Ok(value) => Node::new(span, value),
            Err(refused) => {
                let finding = Finding::new(refused.code, span, refused.message);
                self.findings.push(finding.help(refused.help));
                Node::at_fault(span, Value::Text(text.to_owned()))
            }
        }
    }

    fn end(&mut self, closing: Span) {
        let until = |opening: Span, last: Option<Span>| {
            let end = last.map_or(opening.end, |last| last.end).max(opening.end);
            let flow = closing.end > closing.start;
            Span {
                end: if flow { closing.end.max(end) } else { end },
                ..opening
            }
        };
        match self.open.pop() {
            Some(Open::List(opening, items)) => {
                let span = until(opening, items.last().map(|item| item.span));
                self.close(Node::new(span, Value::List(items)), false);
            }
            Some(Open::Mapping(opening, entries, _)) => {
                let span = until(opening, entries.last().map(|(_, entry)| entry.node.span));
                self.close(Node::new(span, Value::Mapping(entries)), false);
            }
            None => {}
        }
    }

    /// Puts a finished node where it belongs.
    fn close(&mut self, node: Node, plain: bool) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Mapping(_, entries, pending)) => {
                match std::mem::replace(pending, Pending::Key) {
                    Pending::Key => self.key(node, plain),
                    Pending::Refused => {}
                    Pending::Value(key, span) => {
                        let repeated = match entries.entry(key) {
                            Slot::Vacant(slot) => {
                                slot.insert(Entry { key: span, node });
                                None
                            }
                            Slot::Occupied(slot) => Some((slot.key().clone(), slot.get().key)),
                        };
                        if let Some((key, first)) = repeated {
                            let message = format!("`{key}` stands twice in this mapping");
                            let finding = Finding::new(DiagnosticCode::DuplicateKey, span, message);
                            self.findings.push(finding.label(first, "first given here"));
                        }
                    }
                }
            }
        }
    }

    fn key(&mut self, node: Node, plain: bool) {
        let next = match node.value {
            Value::Text(text) if text == "<<" && plain => {
                let message = "a merge key (`<<`) is not part of YAML 1.2";
                self.fault(DiagnosticCode::MergeKey, node.span, message);
                Pending::Refused
            }
            Value::Text(text) => Pending::Value(text, node.span),
            _ if node.faulty => Pending::Refused,
            other => {
                let message = format!("a key is {}; expected a text", kind(&other));
                let mut finding = Finding::new(DiagnosticCode::KeyNotText, node.span, message);
                if matches!(
                    other,
                    Value::Integer(_) | Value::Decimal(_) | Value::Boolean(_)
                ) {
                    let fix = format!("write `\"{}\"`", self.findings.slice(node.span));
                    finding = finding.help(fix);
                }
                self.findings.push(finding);
                Pending::Refused
            }
        };
        if let Some(Open::Mapping(_, _, pending)) = self.open.last_mut() {
            *pending = next;
        }
    }

    fn second_document(&mut self, text: &str, span: Span) {
        let span = Span {
            end: span.end.max(here(self.source, text, span.start).end),
            ..span
        };
        self.fault(
            DiagnosticCode::SeveralDocuments,
            span,
            "a second document begins here",
        );
    }

    /// Reports what the parser stopped at.
    fn broken(&mut self, text: &str, error: &ScanError) -> Option<Node> {
        let offset = error.marker().byte_offset().unwrap_or(text.len());
        let span = here(self.source, text, offset);
        let code = match error.kind() {
            ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart => DiagnosticCode::Tab,
            ErrorKind::DirectiveDisallowed => DiagnosticCode::Directive,
            ErrorKind::RecursionLimitExceeded => DiagnosticCode::TooLarge,
            _ => DiagnosticCode::Syntax,
        };
        self.fault(code, span, error.info());
        None
    }
}

/// What a value is, with its article.
pub(super) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Boolean(_) => "a boolean",
        Value::Integer(_) | Value::Decimal(_) => "a number",
        Value::Text(_) => "a text",
        Value::List(_) => "a list",
        Value::Mapping(_) => "a mapping",
    }
}
