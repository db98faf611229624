//! Mappings: known, unknown, missing and misspelt keys.

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use super::{Place, Shape};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::findings::Finding;
use crate::manifest::nearest::{did_you_mean, nearest};
use crate::manifest::schema::{example, resolve};
use crate::manifest::tree::{Entry, Node, Value};

impl<'a> Shape<'a> {
    pub(super) fn mapping(&mut self, node: &mut Node, schema: &'a Json, at: &Place) {
        match schema.get("properties") {
            Some(Json::Object(properties)) => self.closed(node, schema, properties, at),
            _ => self.open(node, schema, at),
        }
    }

    /// A mapping from names that the author chooses.
    fn open(&mut self, node: &mut Node, schema: &'a Json, at: &Place) {
        let Value::Mapping(entries) = &mut node.value else {
            return;
        };
        if entries.is_empty() && node.uncertain {
            *node = Node::example(node.span, &example(schema, self.root));
            return;
        }
        if entries.is_empty() && schema.get("minProperties").is_some() {
            self.nothing_given(node, schema, at);
            return;
        }
        let names = resolve(&schema["propertyNames"], self.root);
        let mut uncertain = false;
        entries.retain(|key, entry| {
            let place = at.key(key, entry.key);
            let fits = self.name(key, entry, names, &place);
            uncertain |= !fits;
            self.node(&mut entry.node, &schema["additionalProperties"], &place);
            fits
        });
        node.uncertain |= uncertain;
    }

    fn name(&mut self, key: &str, entry: &Entry, names: &'a Json, at: &Place) -> bool {
        let Some((code, message, help)) = self.text_fault(key, names) else {
            return true;
        };
        let mut finding = Finding::new(code, entry.key, message).at(&at.pointer);
        finding.help.extend(help);
        self.findings.push(finding);
        false
    }

    /// A mapping whose keys the schema lists.
    fn closed(
        &mut self,
        node: &mut Node,
        schema: &'a Json,
        properties: &'a Map<String, Json>,
        at: &Place,
    ) {
        let Value::Mapping(entries) = &mut node.value else {
            return;
        };
        let given = std::mem::take(entries);
        let mut kept: IndexMap<String, Entry> = IndexMap::with_capacity(given.len());
        let mut lost = false;
        let known: Vec<String> = given
            .keys()
            .filter(|key| properties.contains_key(*key))
            .cloned()
            .collect();
        for (key, mut entry) in given {
            let word = if properties.contains_key(&key) {
                Some(key.clone())
            } else if key.starts_with("x-") {
                None
            } else {
                let meant = self.unknown(&key, &entry, schema, properties, at);
                lost |= meant.is_none();
                meant.filter(|meant| !known.contains(meant) && !kept.contains_key(meant))
            };
            if let Some(word) = word {
                let place = at.key(&word, entry.key);
                self.node(&mut entry.node, &properties[&word], &place);
                kept.insert(word, entry);
            }
        }
        self.required(&mut kept, schema, properties, at);
        node.uncertain |= lost;
        node.value = Value::Mapping(kept);
    }

    /// Reports an unknown key; returns the one that was probably meant.
    fn unknown(
        &mut self,
        key: &str,
        entry: &Entry,
        schema: &'a Json,
        properties: &Map<String, Json>,
        at: &Place,
    ) -> Option<String> {
        let word = format!("`{}`", key.escape_debug());
        if is_later(schema, key) {
            let message = format!("{word} is not in this version of loadlab");
            let finding = Finding::new(DiagnosticCode::NotInThisVersion, entry.key, message);
            self.findings
                .push(finding.at(&at.key(key, entry.key).pointer));
            return None;
        }
        let meant = nearest(key, properties.keys().map(String::as_str));
        let message = format!("unknown key {word} in {}", at.name);
        let help = did_you_mean(key, properties.keys().map(String::as_str), || {
            let known: Vec<&str> = properties.keys().map(String::as_str).collect();
            format!("known keys are {}", known.join(", "))
        });
        let finding = Finding::new(DiagnosticCode::UnknownKey, entry.key, message);
        self.findings
            .push(finding.at(&at.key(key, entry.key).pointer).help(help));
        meant.map(str::to_owned)
    }

    fn required(
        &mut self,
        kept: &mut IndexMap<String, Entry>,
        schema: &'a Json,
        properties: &'a Map<String, Json>,
        at: &Place,
    ) {
        let required = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str);
        for name in required {
            if kept.contains_key(name) {
                continue;
            }
            let message = format!("`{name}` is missing in {}", at.name);
            let property = &properties[name];
            let mut finding = Finding::new(DiagnosticCode::MissingKey, at.span, message);
            if let Some(description) = described(property, self.root) {
                finding = finding.help(format!("`{name}`: {description}"));
            }
            self.findings.push(finding.at(&at.pointer));
            let node = Node::example(at.span, &example(property, self.root));
            kept.insert(name.to_owned(), Entry { key: at.span, node });
        }
    }
}

/// Whether a word belongs to a later version.
pub(super) fn is_later(schema: &Json, word: &str) -> bool {
    schema["x-later"]
        .as_array()
        .is_some_and(|later| later.iter().any(|known| known == word))
}

/// What a property is, with its example where that is short.
fn described(property: &Json, root: &Json) -> Option<String> {
    let own = property
        .get("description")
        .or_else(|| resolve(property, root).get("description"));
    let text = own.and_then(Json::as_str)?;
    let first = text
        .split(". ")
        .next()
        .unwrap_or(text)
        .trim_end_matches('.');
    let example = example(property, root);
    Some(match &example {
        Json::String(_) | Json::Number(_) | Json::Bool(_) => {
            format!("{first}, such as {}", super::as_yaml(&example))
        }
        _ => first.to_owned(),
    })
}
