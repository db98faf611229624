//! Texts, numbers and booleans: type, limits, form.

use regex::Regex;
use serde_json::Value as Json;

use super::keys::is_later;
use super::{Place, Shape, accepts};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::findings::Finding;
use crate::manifest::nearest::nearest;
use crate::manifest::parse::kind;
use crate::manifest::schema::example;
use crate::manifest::tree::{Node, Value};
use crate::model::{
    Bytes, CandidateName, CpuSet, LoadPoint, Metric, Nanoseconds, Rate, Role, Share,
};

/// A fault of a text: its code, what is wrong, what to write.
type TextFault = (DiagnosticCode, String, Option<String>);

impl<'a> Shape<'a> {
    pub(super) fn scalar(
        &mut self,
        node: &mut Node,
        schema: &'a Json,
        declared: &'a Json,
        at: &Place,
    ) {
        let fits = match &node.value {
            Value::Text(_) => accepts(schema, "string"),
            Value::Integer(_) => accepts(schema, "integer"),
            Value::Boolean(_) => accepts(schema, "boolean"),
            _ => false,
        };
        match &node.value {
            _ if !fits => self.other_type(node, schema, declared, at),
            Value::Integer(number) => {
                let number = *number;
                self.within_limits(node, number, schema, declared, at);
            }
            Value::Text(text) => {
                let text = text.clone();
                self.text(node, &text, schema, declared, at);
            }
            _ => {}
        }
    }

    fn text(
        &mut self,
        node: &mut Node,
        text: &str,
        schema: &'a Json,
        declared: &'a Json,
        at: &Place,
    ) {
        if let Some(words) = schema["enum"].as_array() {
            let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
            if !words.contains(&text) {
                self.unknown_word(node, text, &words, is_later(schema, text), declared, at);
            }
            return;
        }
        // `length`, `pattern` and the like of a property stand beside its reference.
        let limit = |name: &str| {
            declared
                .get(name)
                .or_else(|| schema.get(name))
                .and_then(Json::as_u64)
        };
        let length = text.chars().count() as u64;
        if limit("minLength").is_some_and(|least| length < least) {
            self.nothing_given(node, declared, at);
            return;
        }
        if let Some(most) = limit("maxLength").filter(|most| length > *most) {
            let message = format!(
                "{} has {length} characters; expected at most {most}",
                at.name
            );
            self.replace(node, DiagnosticCode::OutOfRange, declared, at, message);
            return;
        }
        if let Some((code, message, help)) = self.text_fault(text, schema) {
            let mut finding = Finding::new(code, node.span, message).at(&at.pointer);
            finding.help.extend(help);
            self.findings.push(finding);
            *node = Node::example(node.span, &example(declared, self.root));
        }
    }

    /// What is wrong with a text, by its pattern and by the parser of its form.
    pub(super) fn text_fault(&mut self, text: &str, schema: &'a Json) -> Option<TextFault> {
        let fits = schema["pattern"]
            .as_str()
            .is_none_or(|pattern| self.matches(pattern, text));
        let form = schema["x-form"].as_str();
        match (fits, form.and_then(|form| parse_form(form, text).err())) {
            (true, None) => None,
            (true, Some(message)) => Some((DiagnosticCode::BeyondMeaning, message, None)),
            (false, Some(message)) => Some(of_form(form.unwrap_or_default(), text, message)),
            (false, None) => {
                let message = format!(
                    "`{}` has not the form that is taken here",
                    text.escape_debug()
                );
                let description = schema["description"].as_str().map(str::to_owned);
                let pattern = || {
                    schema["pattern"]
                        .as_str()
                        .map(|pattern| format!("the form is `{pattern}`"))
                };
                Some((
                    DiagnosticCode::Malformed,
                    message,
                    description.or_else(pattern),
                ))
            }
        }
    }

    fn matches(&mut self, pattern: &'a str, text: &str) -> bool {
        let compiled = self.patterns.entry(pattern).or_insert_with(|| {
            Regex::new(pattern).expect("the patterns of our own schema are tested")
        });
        compiled.is_match(text)
    }

    fn within_limits(
        &mut self,
        node: &mut Node,
        number: i128,
        schema: &'a Json,
        declared: &'a Json,
        at: &Place,
    ) {
        let limit = |name: &str| {
            declared
                .get(name)
                .or_else(|| schema.get(name))
                .and_then(Json::as_number)
                .and_then(serde_json::Number::as_i128)
        };
        let (least, most) = (limit("minimum"), limit("maximum"));
        let low = least.is_some_and(|least| number < least);
        let high = most.is_some_and(|most| number > most);
        if low || high {
            let expected = match (least, most) {
                (Some(least), Some(most)) if most < i128::from(u32::MAX) => {
                    format!("{least} to {most}")
                }
                (Some(least), _) if low => format!("at least {least}"),
                (_, Some(most)) => format!("at most {most}"),
                _ => "another number".to_owned(),
            };
            let message = format!("{} is {number}; expected {expected}", at.name);
            self.replace(node, DiagnosticCode::OutOfRange, declared, at, message);
        }
    }

    /// A scalar of another type: a bare number, a quoted number, or something else.
    fn other_type(&mut self, node: &mut Node, schema: &'a Json, declared: &'a Json, at: &Place) {
        let written = self.findings.slice(node.span).to_owned();
        let takes_text = accepts(schema, "string");
        let is_number = matches!(node.value, Value::Integer(_) | Value::Decimal(_));
        if let Some(form) = schema["x-form"].as_str().filter(|_| is_number) {
            let (code, message, help) = match parse_form(form, &written) {
                Err(message) => of_form(form, &written, message),
                Ok(()) => {
                    let message = format!("{} is a number; expected a text", at.name);
                    (
                        DiagnosticCode::WrongType,
                        message,
                        Some(format!("write `\"{written}\"`")),
                    )
                }
            };
            let mut finding = Finding::new(code, node.span, message).at(&at.pointer);
            finding.help.extend(help);
            self.findings.push(finding);
            *node = Node::example(node.span, &example(declared, self.root));
            return;
        }
        let message = format!(
            "{} is {}; expected {}",
            at.name,
            kind(&node.value),
            self.expected(schema)
        );
        let fix = match &node.value {
            Value::Integer(_) | Value::Decimal(_) | Value::Boolean(_) if takes_text => {
                Some(format!("write `\"{written}\"`"))
            }
            Value::Text(text) if accepts(schema, "integer") && text.parse::<u64>().is_ok() => {
                Some(format!("write `{text}` without quotes"))
            }
            _ => None,
        };
        match fix {
            Some(fix) => {
                let finding = Finding::new(DiagnosticCode::WrongType, node.span, message);
                self.findings.push(finding.at(&at.pointer).help(fix));
                *node = Node::example(node.span, &example(declared, self.root));
            }
            None => self.replace(node, DiagnosticCode::WrongType, declared, at, message),
        }
    }
}

/// The fault of a text that its form's parser refuses, the fix apart.
fn of_form(form: &str, text: &str, message: String) -> TextFault {
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    let quantity = ["duration", "size", "rate", "share"].contains(&form);
    let code = match form {
        _ if quantity && is_number => DiagnosticCode::BareNumber,
        "metric" => DiagnosticCode::UnknownWord,
        _ => DiagnosticCode::Malformed,
    };
    if form == "metric" {
        let known = Metric::PLAIN.map(|metric| metric.to_string());
        if let Some(meant) = nearest(text, known.iter().map(String::as_str)) {
            return (
                code,
                format!("`{}` is no metric", text.escape_debug()),
                Some(format!("did you mean `{meant}`?")),
            );
        }
    }
    match message.split_once("; write ") {
        Some((found, fix)) => (code, found.to_owned(), Some(format!("write {fix}"))),
        None => (code, message, None),
    }
}

/// Asks the model's own parser.
fn parse_form(form: &str, text: &str) -> Result<(), String> {
    fn parsed<T: std::str::FromStr<Err: ToString>>(text: &str) -> Result<(), String> {
        text.parse::<T>()
            .map(|_| ())
            .map_err(|error| error.to_string())
    }
    match form {
        "duration" => parsed::<Nanoseconds>(text),
        "size" => parsed::<Bytes>(text),
        "rate" => parsed::<Rate>(text),
        "share" => parsed::<Share>(text),
        "cores" => parsed::<CpuSet>(text),
        "role" => parsed::<Role>(text),
        "metric" => parsed::<Metric>(text),
        "load-point" => parsed::<LoadPoint>(text),
        _ => parsed::<CandidateName>(text),
    }
}
