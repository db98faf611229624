//! The tree of a manifest with the place of every key and value.

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::findings::Span;

/// A value with its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) value: Value,
    /// Its content was at fault and has been reported: checks that touch it stay silent.
    pub(super) faulty: bool,
    /// One of its keys was at fault: names that are not found in it are not reported.
    pub(super) uncertain: bool,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    /// A whole number that fits 64 bits with or without sign.
    Integer(i128),
    /// Another decimal number, as it was written: nothing takes one.
    Decimal(String),
    Text(String),
    List(Vec<Node>),
    Mapping(IndexMap<String, Entry>),
}

/// A key of a mapping with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: Span,
    pub(super) node: Node,
}

/// What is at a pointer, or the nearest thing above it.
pub(super) struct Spot<'a> {
    pub(super) key: Option<Span>,
    pub(super) node: &'a Node,
    /// Nothing at fault on the way, so that a check may speak about it.
    pub(super) sound: bool,
}

impl Node {
    pub(super) const fn new(span: Span, value: Value) -> Self {
        Self {
            span,
            value,
            faulty: false,
            uncertain: false,
        }
    }

    pub(super) const fn at_fault(span: Span, value: Value) -> Self {
        Self {
            span,
            value,
            faulty: true,
            uncertain: false,
        }
    }

    /// A node that stands for a faulty one: the example's content at the fault's place.
    pub(super) fn example(span: Span, example: &Json) -> Self {
        let value = match example {
            Json::Null => Value::Null,
            Json::Bool(boolean) => Value::Boolean(*boolean),
            Json::Number(number) => Value::Integer(number.as_i128().unwrap_or_default()),
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => {
                Value::List(items.iter().map(|item| Self::example(span, item)).collect())
            }
            Json::Object(members) => Value::Mapping(
                members
                    .iter()
                    .map(|(key, member)| {
                        let node = Self::example(span, member);
                        (key.clone(), Entry { key: span, node })
                    })
                    .collect(),
            ),
        };
        Self::at_fault(span, value)
    }

    pub(super) const fn mapping(&self) -> Option<&IndexMap<String, Entry>> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.mapping()?.get(key).map(|entry| &entry.node)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The same as JSON, without the keys that are free (`x-…`).
    pub(super) fn json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Boolean(boolean) => Json::Bool(*boolean),
            Value::Integer(number) => integer(*number),
            Value::Decimal(text) | Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Self::json).collect(),
            Value::Mapping(entries) => entries
                .iter()
                .map(|(key, entry)| (key.clone(), entry.node.json()))
                .collect(),
        }
    }

    /// What is at a JSON pointer, or the nearest thing above it.
    pub(super) fn find(&self, pointer: &str) -> Spot<'_> {
        let mut spot = Spot {
            key: None,
            node: self,
            sound: !self.faulty,
        };
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &spot.node.value {
                Value::Mapping(entries) => entries
                    .get(&step)
                    .map(|entry| (Some(entry.key), &entry.node)),
                Value::List(items) => step
                    .parse()
                    .ok()
                    .and_then(|at: usize| items.get(at))
                    .map(|item| (None, item)),
                _ => None,
            };
            let Some((key, node)) = next else { break };
            spot = Spot {
                key,
                node,
                sound: spot.sound && !node.faulty,
            };
        }
        spot.sound = spot.sound && !spot.node.uncertain;
        spot
    }
}

fn integer(number: i128) -> Json {
    u64::try_from(number)
        .map(Json::from)
        .or_else(|_| i64::try_from(number).map(Json::from))
        .unwrap_or(Json::Null)
}

/// One step further down a JSON pointer.
pub(super) fn below(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}
