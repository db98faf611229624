//! Unions: the branch that a node belongs to, by its `kind` or by its type.

use serde_json::Value as Json;

use super::keys::is_later;
use super::{Place, Shape, accepts, shown};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::findings::Finding;
use crate::manifest::nearest::did_you_mean;
use crate::manifest::schema::{example, resolve};
use crate::manifest::tree::{Node, Value};

impl<'a> Shape<'a> {
    /// The branch of a union; the schema itself where it is none. Absent when no branch fits: that
    /// has been reported and the node replaced.
    pub(super) fn branch(
        &mut self,
        node: &mut Node,
        schema: &'a Json,
        declared: &'a Json,
        at: &Place,
    ) -> Option<&'a Json> {
        let mut branches = Vec::new();
        flatten(schema, self.root, &mut branches);
        if branches.is_empty() {
            return Some(schema);
        }
        match node.value {
            Value::Mapping(_) => {
                let objects: Vec<&Json> = branches
                    .into_iter()
                    .filter(|branch| accepts(branch, "object"))
                    .collect();
                match objects.as_slice() {
                    [] => {
                        self.wrong_type(node, schema, declared, at);
                        None
                    }
                    [only] if kind_of(only).is_none() => Some(only),
                    several => self.by_kind(node, several, schema, declared, at),
                }
            }
            Value::List(_) => {
                let list = branches.into_iter().find(|branch| accepts(branch, "array"));
                if list.is_none() {
                    self.wrong_type(node, schema, declared, at);
                }
                list
            }
            Value::Null => {
                self.wrong_type(node, schema, declared, at);
                None
            }
            _ => self.by_word(node, &branches, schema, declared, at),
        }
    }

    fn by_kind(
        &mut self,
        node: &mut Node,
        objects: &[&'a Json],
        schema: &'a Json,
        declared: &'a Json,
        at: &Place,
    ) -> Option<&'a Json> {
        let kinds: Vec<&str> = objects
            .iter()
            .filter_map(|branch| kind_of(branch))
            .collect();
        let listed = kinds.join(", ");
        let given = node
            .get("kind")
            .map(|kind| (kind.span, kind.text().map(str::to_owned), kind.faulty));
        let finding = match given {
            None => {
                let message = format!("{} does not say its `kind`", at.name);
                let finding = Finding::new(DiagnosticCode::MissingKind, at.span, message);
                Some(finding.help(format!("kinds are {listed}")))
            }
            Some((_, _, true)) => None,
            Some((span, None, false)) => {
                let message = format!("the `kind` of {} is no word", at.name);
                let finding = Finding::new(DiagnosticCode::WrongType, span, message);
                Some(finding.help(format!("kinds are {listed}")))
            }
            Some((span, Some(word), false)) => {
                if let Some(branch) = objects.iter().find(|branch| kind_of(branch) == Some(&word)) {
                    return Some(branch);
                }
                let quoted = word.escape_debug();
                Some(if is_later(schema, &word) {
                    let message = format!("`kind: {quoted}` is not in this version of loadlab");
                    let finding = Finding::new(DiagnosticCode::NotInThisVersion, span, message);
                    finding.help(format!("this version knows {listed}"))
                } else {
                    let message = format!("`{quoted}` is no kind of {}", at.name);
                    let help = did_you_mean(&word, kinds.iter().copied(), || {
                        format!("kinds are {listed}")
                    });
                    Finding::new(DiagnosticCode::UnknownWord, span, message).help(help)
                })
            }
        };
        if let Some(finding) = finding {
            self.findings.push(finding.at(&at.pointer));
        }
        *node = Node::example(node.span, &example(declared, self.root));
        None
    }

    /// A scalar where a union stands: one of its words, or a branch of its type.
    fn by_word(
        &mut self,
        node: &mut Node,
        branches: &[&'a Json],
        schema: &'a Json,
        declared: &'a Json,
        at: &Place,
    ) -> Option<&'a Json> {
        let words: Vec<&str> = branches
            .iter()
            .flat_map(|branch| {
                let listed = branch["enum"].as_array().into_iter().flatten();
                branch.get("const").into_iter().chain(listed)
            })
            .filter_map(Json::as_str)
            .collect();
        if let (Value::Text(word), false) = (&node.value, words.is_empty()) {
            if words.contains(&word.as_str()) {
                return None;
            }
            let later = branches
                .iter()
                .chain([&schema])
                .any(|branch| is_later(branch, word));
            let word = word.clone();
            self.unknown_word(node, &word, &words, later, declared, at);
            return None;
        }
        let name = match node.value {
            Value::Integer(_) => "integer",
            Value::Boolean(_) => "boolean",
            _ => "string",
        };
        let of_type = |name: &str| {
            branches
                .iter()
                .copied()
                .find(|branch| accepts(branch, name))
        };
        let found = of_type(name).or_else(|| of_type("string").filter(|_| words.is_empty()));
        if found.is_none() {
            self.wrong_type(node, schema, declared, at);
        }
        found
    }

    pub(super) fn unknown_word(
        &mut self,
        node: &mut Node,
        word: &str,
        words: &[&str],
        later: bool,
        declared: &'a Json,
        at: &Place,
    ) {
        let listed = words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let finding = if later {
            let message = format!("{} is not in this version of loadlab", shown(node));
            Finding::new(DiagnosticCode::NotInThisVersion, node.span, message)
                .help(format!("this version knows {listed}"))
        } else {
            let message = format!("{} is no word for {}", shown(node), at.name);
            let help = did_you_mean(word, words.iter().copied(), || {
                format!("expected one of {listed}")
            });
            Finding::new(DiagnosticCode::UnknownWord, node.span, message).help(help)
        };
        self.findings.push(finding.at(&at.pointer));
        *node = Node::example(node.span, &example(declared, self.root));
    }
}

/// The alternatives of a union, those of nested unions among them.
fn flatten<'a>(schema: &'a Json, root: &'a Json, into: &mut Vec<&'a Json>) {
    let branches = schema
        .get("oneOf")
        .or_else(|| schema.get("anyOf"))
        .and_then(Json::as_array);
    for branch in branches.into_iter().flatten() {
        let branch = resolve(branch, root);
        let before = into.len();
        flatten(branch, root, into);
        if into.len() == before {
            into.push(branch);
        }
    }
}

fn kind_of(branch: &Json) -> Option<&str> {
    branch
        .pointer("/properties/kind/const")
        .and_then(Json::as_str)
}
