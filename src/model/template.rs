//! Texts with placeholders: parsed when a manifest is loaded, bound when a block starts.
//!
//! `{{ port }}` and its kind are names from a closed grammar, not expressions. Hashes are taken over
//! the unbound form, so that a port or a folder given out at run time never changes a key.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::name::{MemberName, PortName, ServiceName};

/// What a placeholder stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placeholder {
    /// `{{ port }}` or `{{ port.admin }}`: a port of this member.
    Port(Option<PortName>),
    /// `{{ work }}`: the work folder of this member, an absolute path.
    Work,
    /// `{{ value.gzip }}`: a value of the candidate.
    Value(String),
    /// `{{ budget.cores }}`, `.memory` (bytes), `.processes`, `.connections`: of this role.
    Budget(String),
    /// `{{ service.postgres.url }}`, `.host`, `.port`: where a service answers.
    Service(ServiceName, String),
    /// `{{ member.fpm.port }}`, `.work`: of another member of the same role.
    Member(MemberName, String),
}

/// The fields that `budget.` knows.
pub const BUDGET_FIELDS: [&str; 4] = ["cores", "memory", "processes", "connections"];
/// The fields that `service.NAME.` knows.
pub const SERVICE_FIELDS: [&str; 3] = ["url", "host", "port"];
/// The fields that `member.NAME.` knows.
pub const MEMBER_FIELDS: [&str; 2] = ["port", "work"];

/// Why a text is no template, with the byte range in the text that is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotATemplate {
    /// What was found and what is expected.
    pub message: String,
    /// Byte offsets into the text.
    pub range: (usize, usize),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    Text(String),
    Placeholder(Placeholder),
}

/// A text with placeholders. Serialises as it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

/// Every placeholder's value at the start of a block.
pub type Bindings = BTreeMap<Placeholder, String>;

/// A placeholder without a value when the block started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{{{{ {placeholder} }}}}` in `{template}` has no value")]
pub struct Unbound {
    /// The placeholder as it is written.
    pub placeholder: String,
    /// The whole text.
    pub template: String,
}

impl Template {
    /// The text as it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Every placeholder in order of appearance.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|part| match part {
            Part::Placeholder(placeholder) => Some(placeholder),
            Part::Text(_) => None,
        })
    }

    /// The text with every placeholder replaced.
    ///
    /// # Errors
    /// When a placeholder has no value.
    pub fn bind(&self, bindings: &Bindings) -> Result<String, Unbound> {
        let mut bound = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => bound.push_str(text),
                Part::Placeholder(placeholder) => {
                    let value = bindings.get(placeholder).ok_or_else(|| Unbound {
                        placeholder: placeholder.to_string(),
                        template: self.source.clone(),
                    })?;
                    bound.push_str(value);
                }
            }
        }
        Ok(bound)
    }
}

impl FromStr for Template {
    type Err = NotATemplate;
    fn from_str(source: &str) -> Result<Self, NotATemplate> {
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(open) = source[at..].find("{{").map(|offset| at + offset) {
            if open > at {
                parts.push(Part::Text(source[at..open].to_owned()));
            }
            let close = source[open..]
                .find("}}")
                .map(|offset| open + offset)
                .ok_or_else(|| {
                    let message = "expected `}}` after `{{`, found the end of the text".to_owned();
                    NotATemplate {
                        message,
                        range: (open, source.len()),
                    }
                })?;
            let placeholder =
                source[open + 2..close]
                    .trim()
                    .parse()
                    .map_err(|message| NotATemplate {
                        message,
                        range: (open, close + 2),
                    })?;
            parts.push(Part::Placeholder(placeholder));
            at = close + 2;
        }
        if at < source.len() {
            parts.push(Part::Text(source[at..].to_owned()));
        }
        Ok(Self {
            source: source.to_owned(),
            parts,
        })
    }
}

impl FromStr for Placeholder {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "`{}` is no placeholder; expected `port`, `port.NAME`, `work`, `value.NAME`, \
                 `budget.FIELD`, `service.NAME.FIELD` or `member.NAME.FIELD`",
                text.escape_debug()
            )
        };
        let field = |field: &str, known: &[&str]| {
            known
                .contains(&field)
                .then(|| field.to_owned())
                .ok_or_else(|| {
                    format!(
                        "`{}` has no such field; expected {}",
                        text.escape_debug(),
                        known.join(", ")
                    )
                })
        };
        let name = |name: &str| name.parse().map_err(|_| unknown());
        let words: Vec<&str> = text.split('.').collect();
        match words.as_slice() {
            ["work"] => Ok(Self::Work),
            ["port"] => Ok(Self::Port(None)),
            ["port", port] => Ok(Self::Port(Some(port.parse().map_err(|_| unknown())?))),
            ["value", value] => is_identifier(value)
                .then(|| Self::Value((*value).to_owned()))
                .ok_or_else(unknown),
            ["budget", budget] => Ok(Self::Budget(field(budget, &BUDGET_FIELDS)?)),
            ["service", service, last] => {
                Ok(Self::Service(name(service)?, field(last, &SERVICE_FIELDS)?))
            }
            ["member", member, last] => Ok(Self::Member(
                member.parse().map_err(|_| unknown())?,
                field(last, &MEMBER_FIELDS)?,
            )),
            _ => Err(unknown()),
        }
    }
}

/// Whether a text may name a value: letters, digits and `_`, not beginning with a digit.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(None) => f.write_str("port"),
            Self::Port(Some(name)) => write!(f, "port.{name}"),
            Self::Work => f.write_str("work"),
            Self::Value(name) => write!(f, "value.{name}"),
            Self::Budget(field) => write!(f, "budget.{field}"),
            Self::Service(name, field) => write!(f, "service.{name}.{field}"),
            Self::Member(name, field) => write!(f, "member.{name}.{field}"),
        }
    }
}

super::written::written! {
    Template, or NotATemplate;
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binds_what_it_parsed() {
        let template: Template = "http://{{ service.db.host }}:{{port}}/".parse().unwrap();
        let bindings = Bindings::from([
            (
                Placeholder::Service("db".parse().unwrap(), "host".into()),
                "127.0.0.1".into(),
            ),
            (Placeholder::Port(None), "8080".into()),
        ]);
        assert_eq!(template.bind(&bindings).unwrap(), "http://127.0.0.1:8080/");
        let missing = template.bind(&Bindings::new()).unwrap_err();
        assert!(missing.to_string().contains("{{ service.db.host }}"));
    }

    #[test]
    fn faults_have_their_place() {
        let fault = "a {{ nonsense }}".parse::<Template>().unwrap_err();
        assert_eq!(fault.range, (2, 16));
        assert!("{{ port".parse::<Template>().is_err());
        assert!("{{ budget.colour }}".parse::<Template>().is_err());
    }
}
