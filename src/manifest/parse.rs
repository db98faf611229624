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
    if unprintable(source, &text, findings) {
        return None;
    }
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
    let whole = builder.document(Parser::new_from_str_with_options(&text, rules), &text);
    let Builder {
        root,
        scalars,
        findings,
        ..
    } = builder;
    whole?;
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

/// Whether there are control characters; each is reported.
fn unprintable(source: usize, text: &str, findings: &mut Findings) -> bool {
    let mut found = false;
    let bad = |character: char| character.is_control() && !matches!(character, '\n' | '\r' | '\t');
    for (at, character) in text.char_indices().filter(|(_, character)| bad(*character)) {
        found = true;
        let message = format!("control character U+{:04X}", u32::from(character));
        let span = here(source, text, at);
        findings.push(Finding::new(DiagnosticCode::Unprintable, span, message));
    }
    found
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
    Mapping(Mapping),
}

/// A mapping that is not closed yet.
struct Mapping {
    opening: Span,
    entries: IndexMap<String, Entry>,
    pending: Pending,
    /// One of its keys was refused, so that it lacks what the author wrote.
    lacking: bool,
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

    /// Takes every event of one document; absent when it cannot be read to its end.
    fn document<'i>(
        &mut self,
        events: impl Iterator<Item = Result<(Event<'i>, granit_parser::Span), ScanError>>,
        text: &str,
    ) -> Option<()> {
        let mut documents = 0;
        for event in events {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    self.broken(text, &error);
                    return None;
                }
            };
            if event.tag().is_some() {
                self.tag(span);
            }
            let span = self.span(span);
            documents += usize::from(matches!(event, Event::DocumentStart(..)));
            if documents > 1 {
                self.second_document(text, span);
                return Some(());
            }
            if !self.take(event, span) {
                return None;
            }
        }
        Some(())
    }

    fn tag(&mut self, span: granit_parser::Span) {
        let message = "a tag gives a value a type; here types follow from the schema";
        let place = self.span(span.tag_span().unwrap_or(span));
        self.fault(DiagnosticCode::Tag, place, message);
    }

    /// Takes an event; false when the nesting is too deep to go on.
    fn take(&mut self, event: Event<'_>, span: Span) -> bool {
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
                self.open.push(Open::Mapping(Mapping {
                    opening: span,
                    entries: IndexMap::new(),
                    pending: Pending::Key,
                    lacking: false,
                }));
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
            Some(Open::Mapping(mapping)) => {
                let last = mapping.entries.last().map(|(_, entry)| entry.node.span);
                let span = until(mapping.opening, last);
                let mut node = Node::new(span, Value::Mapping(mapping.entries));
                node.uncertain = mapping.lacking;
                self.close(node, false);
            }
            None => {}
        }
    }

    /// Puts a finished node where it belongs.
    fn close(&mut self, node: Node, plain: bool) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Mapping(mapping)) => {
                match std::mem::replace(&mut mapping.pending, Pending::Key) {
                    Pending::Key => {
                        mapping.pending = key(&node, plain, self.findings);
                        mapping.lacking |= matches!(mapping.pending, Pending::Refused);
                    }
                    Pending::Refused => {}
                    Pending::Value(key, span) => {
                        insert(
                            &mut mapping.entries,
                            key,
                            Entry { key: span, node },
                            self.findings,
                        );
                    }
                }
            }
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
    fn broken(&mut self, text: &str, error: &ScanError) {
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
        let message = match code {
            DiagnosticCode::TooLarge => format!("nested deeper than {DEEPEST} levels"),
            DiagnosticCode::Tab => "a tab stands between the parts of the file".to_owned(),
            _ => error.info(),
        };
        self.fault(code, span, message);
    }
}

/// What a mapping waits for after a node in the place of a key.
fn key(node: &Node, plain: bool, findings: &mut Findings) -> Pending {
    let (code, message) = match &node.value {
        Value::Text(text) if text == "<<" && plain => {
            let message = "a merge key (`<<`) is not part of YAML 1.2".to_owned();
            (DiagnosticCode::MergeKey, message)
        }
        Value::Text(text) => return Pending::Value(text.clone(), node.span),
        _ if node.faulty => return Pending::Refused,
        other => {
            let message = format!("a key is {}; expected a text", kind(other));
            (DiagnosticCode::KeyNotText, message)
        }
    };
    let mut finding = Finding::new(code, node.span, message);
    if matches!(
        node.value,
        Value::Integer(_) | Value::Decimal(_) | Value::Boolean(_)
    ) {
        finding = finding.help(format!("write `\"{}\"`", findings.slice(node.span)));
    }
    findings.push(finding);
    Pending::Refused
}

/// Adds an entry; one whose key is there already is reported and lost.
fn insert(
    entries: &mut IndexMap<String, Entry>,
    key: String,
    entry: Entry,
    findings: &mut Findings,
) {
    match entries.entry(key) {
        Slot::Vacant(slot) => {
            slot.insert(entry);
        }
        Slot::Occupied(slot) => {
            let message = format!(
                "`{}` stands twice in this mapping",
                slot.key().escape_debug()
            );
            let finding = Finding::new(DiagnosticCode::DuplicateKey, entry.key, message);
            findings.push(finding.label(slot.get().key, "first given here"));
        }
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
