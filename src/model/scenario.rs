//! Scenarios: one kind of request with its expected answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::name::ScenarioName;
use super::template::Template;

/// One kind of request with its expected answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// The name, unique in the experiment.
    pub name: ScenarioName,
    /// How the report calls it; cosmetic.
    pub title: String,
    /// What is sent.
    pub request: Request,
    /// What must come back.
    pub expect: Expect,
    /// Whether it changes data; such a scenario is last.
    pub changes_data: bool,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The method, upper case.
    pub method: String,
    /// Path with its query.
    pub path: Template,
    /// Headers; nothing else is sent but `host` and what the protocol needs.
    pub headers: BTreeMap<String, Template>,
    /// The body; absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub body: Option<RequestBody>,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RequestBody {
    /// This text.
    Text {
        /// The text.
        text: Template,
    },
    /// The bytes of a file in the experiment's folder.
    File {
        /// Its path, relative to the manifest.
        file: String,
    },
}

/// What must come back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// The status, 100 to 599.
    pub status: u16,
    /// Headers that must be there with exactly this value.
    pub headers: BTreeMap<String, String>,
    /// The body; absent: any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub body: Option<ExpectBody>,
}

/// What the body must be, after content decoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExpectBody {
    /// The bytes of a file in the experiment's folder.
    SameAsFile {
        /// Its path, relative to the manifest.
        file: String,
    },
    /// Exactly this text.
    Text {
        /// The text.
        text: String,
    },
    /// This many bytes of anything.
    Length {
        /// Bytes after decoding.
        bytes: u64,
    },
}

/// A request whose answer every fresh candidate must give before any load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractCheck {
    /// What is sent.
    pub request: Request,
    /// What must come back.
    pub expect: Expect,
    /// Whether the body must be the same for all candidates.
    pub same_for_all_candidates: bool,
}
