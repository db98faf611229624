//! Checks the tree against the generated schema: every fault at once, each at its place.
//!
//! A faulty node is replaced by its schema's example and marked, so that what comes later finds a
//! complete tree and stays silent about it. Only the keywords that the schema uses are known here;
//! a test compares the verdicts with those of a complete validator.

mod keys;
mod scalars;
mod union;

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value as Json;

use super::code::DiagnosticCode;
use super::findings::{Finding, Findings, Span};
use super::parse::kind;
use super::schema::{example, resolve};
use super::tree::{Node, Value, below};

/// Checks a node against a schema; `pointer` is the place of both in their documents.
pub(super) fn check(node: &mut Node, schema: &Json, findings: &mut Findings) {
    let mut shape = Shape {
        root: schema,
        patterns: BTreeMap::new(),
        findings,
    };
    let first = node
        .mapping()
        .and_then(|entries| entries.first().map(|(_, entry)| entry.key));
    let at = Place {
        pointer: String::new(),
        span: first.unwrap_or(node.span),
        name: "the file".to_owned(),
    };
    shape.node(node, schema, &at);
}

/// Where a node stands and how a message calls it.
struct Place {
    pointer: String,
    /// The key, or the node where it has none.
    span: Span,
    name: String,
}

impl Place {
    fn key(&self, key: &str, span: Span) -> Self {
        let name = format!("`{}`", key.escape_debug());
        Self {
            pointer: below(&self.pointer, key),
            span,
            name,
        }
    }

    fn item(&self, index: usize, span: Span) -> Self {
        let name = format!("item {} of {}", index + 1, self.name);
        Self {
            pointer: below(&self.pointer, &index.to_string()),
            span,
            name,
        }
    }
}

struct Shape<'a> {
    root: &'a Json,
    patterns: BTreeMap<&'a str, Regex>,
    findings: &'a mut Findings,
}

impl<'a> Shape<'a> {
    fn node(&mut self, node: &mut Node, declared: &'a Json, at: &Place) {
        if node.faulty {
            *node = Node::example(node.span, &example(declared, self.root));
            return;
        }
        let schema = resolve(declared, self.root);
        let Some(schema) = self.branch(node, schema, declared, at) else {
            return;
        };
        match &mut node.value {
            Value::Mapping(_) if accepts(schema, "object") => self.mapping(node, schema, at),
            Value::List(_) if accepts(schema, "array") => self.list(node, schema, declared, at),
            Value::Mapping(_) | Value::List(_) | Value::Null => {
                self.wrong_type(node, schema, declared, at);
            }
            _ => self.scalar(node, schema, declared, at),
        }
    }

    fn list(&mut self, node: &mut Node, schema: &'a Json, declared: &'a Json, at: &Place) {
        let Value::List(items) = &mut node.value else {
            return;
        };
        if items.is_empty() && schema.get("minItems").is_some() {
            self.nothing_given(node, declared, at);
            return;
        }
        for (index, item) in items.iter_mut().enumerate() {
            let place = at.item(index, item.span);
            self.node(item, &schema["items"], &place);
        }
        if schema["uniqueItems"] == true {
            self.unique(items, at);
        }
    }

    fn unique(&mut self, items: &[Node], at: &Place) {
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        for item in items.iter().filter(|item| !item.faulty) {
            let text = item.json().to_string();
            if let Some(first) = seen.get(&text) {
                let message = format!("{} stands twice in {}", shown(item), at.name);
                let finding = Finding::new(DiagnosticCode::Repeated, item.span, message);
                self.findings
                    .push(finding.at(&at.pointer).label(*first, "first given here"));
            } else {
                seen.insert(text, item.span);
            }
        }
    }

    fn nothing_given(&mut self, node: &mut Node, declared: &'a Json, at: &Place) {
        let what = match node.value {
            Value::List(_) => "an empty list",
            Value::Mapping(_) => "an empty mapping",
            _ => "an empty text",
        };
        let message = format!(
            "{} is {what}; expected at least one {}",
            at.name,
            match node.value {
                Value::Text(_) => "character",
                Value::Mapping(_) => "entry",
                _ => "item",
            }
        );
        self.replace(node, DiagnosticCode::NothingGiven, declared, at, message);
    }

    fn wrong_type(&mut self, node: &mut Node, schema: &'a Json, declared: &'a Json, at: &Place) {
        let expected = self.expected(schema);
        let message = format!("{} is {}; expected {expected}", at.name, kind(&node.value));
        self.replace(node, DiagnosticCode::WrongType, declared, at, message);
    }

    /// Reports a fault of a whole node and puts the example in its place.
    fn replace(
        &mut self,
        node: &mut Node,
        code: DiagnosticCode,
        declared: &'a Json,
        at: &Place,
        message: String,
    ) {
        let example = example(declared, self.root);
        let finding = Finding::new(code, visible(node, at), message).at(&at.pointer);
        let finding = match &example {
            Json::Object(_) => finding,
            Json::Array(items) if items.iter().any(Json::is_object) => finding,
            example => finding.help(format!("such as {}", as_yaml(example))),
        };
        self.findings.push(finding);
        *node = Node::example(node.span, &example);
    }

    /// What a schema takes, in words.
    fn expected(&self, schema: &Json) -> String {
        let branches = schema
            .get("anyOf")
            .or_else(|| schema.get("oneOf"))
            .and_then(Json::as_array);
        if let Some(branches) = branches {
            let mut words: Vec<String> = branches
                .iter()
                .map(|branch| self.expected(resolve(branch, self.root)))
                .collect();
            words.dedup();
            return words.join(" or ");
        }
        let word = |name: &str| match name {
            "object" => "a mapping",
            "array" => "a list",
            "integer" => "a whole number",
            "boolean" => "`true` or `false`",
            _ => "a text",
        };
        match &schema["type"] {
            Json::Array(names) => {
                let words: Vec<&str> = names.iter().filter_map(Json::as_str).map(word).collect();
                words.join(" or ")
            }
            name => word(name.as_str().unwrap_or_default()).to_owned(),
        }
    }
}

/// A place that can be seen: values that are empty or begin a block are shown by their key.
const fn visible(node: &Node, at: &Place) -> Span {
    match node.value {
        Value::Mapping(_) | Value::List(_) | Value::Null => at.span,
        _ => node.span,
    }
}

fn accepts(schema: &Json, name: &str) -> bool {
    match &schema["type"] {
        Json::String(only) => only == name,
        Json::Array(several) => several.iter().any(|one| one == name),
        _ => false,
    }
}

/// A scalar as a message shows it.
fn shown(node: &Node) -> String {
    let json = node.json();
    format!(
        "`{}`",
        json.as_str()
            .map_or_else(|| json.to_string(), |text| text.escape_debug().to_string())
    )
}

/// A value as one would write it in the file.
fn as_yaml(value: &Json) -> String {
    match value {
        Json::String(text) => {
            let plain = super::scalar::resolve(text);
            let quoted = !matches!(plain, Ok(Value::Text(_))) || !reads_plain(text);
            if quoted {
                format!("`{value}`")
            } else {
                format!("`{text}`")
            }
        }
        Json::Array(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| as_yaml(item).trim_matches('`').to_owned())
                .collect();
            format!("`[{}]`", items.join(", "))
        }
        other => format!("`{other}`"),
    }
}

fn reads_plain(text: &str) -> bool {
    let opening = |character: char| !character.is_ascii_alphanumeric() && character != '/';
    !text.starts_with(opening)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(['{', '[', ','])
}
