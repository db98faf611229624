//! Roles: who a process works for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::name::{NotAName, ServiceName};

/// Who a process works for. Text form: `candidate`, `load`, `probe`, or the name of a service.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub enum Role {
    /// The system under comparison whose turn it is.
    Candidate,
    /// What candidates talk to and nobody compares.
    Service(ServiceName),
    /// The load generator.
    Load,
    /// The reference nginx.
    Probe,
}

/// The words that no service may take as its name.
pub const RESERVED_ROLES: [&str; 3] = ["candidate", "load", "probe"];

impl FromStr for Role {
    type Err = NotAName;
    fn from_str(text: &str) -> Result<Self, NotAName> {
        match text {
            "candidate" => Ok(Self::Candidate),
            "load" => Ok(Self::Load),
            "probe" => Ok(Self::Probe),
            service => service.parse().map(Self::Service),
        }
    }
}

super::written::written! {
    Role, or NotAName;
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Candidate => f.write_str("candidate"),
            Self::Service(name) => name.fmt(f),
            Self::Load => f.write_str("load"),
            Self::Probe => f.write_str("probe"),
        }
    }
}

/// What starts the members of a role.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// Local processes in cgroups of their own where permitted.
    Process,
    /// Containers of a Docker engine.
    Docker,
}
