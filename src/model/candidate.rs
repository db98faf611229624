//! What runs: candidates and services, their members, and when they count as ready.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::name::{CandidateName, MemberName, PortName, ServiceName};
use super::role::EngineKind;
use super::standards::Weight;
use super::template::Template;
use super::unit::Nanoseconds;

pub use super::stub::Stub;

/// One system under comparison: one or more members that share one budget and one core set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The name, unique in the experiment.
    pub name: CandidateName,
    /// How the report calls it; cosmetic.
    pub title: String,
    /// What runs.
    pub definition: Definition,
}

/// Whether a service lives on from block to block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifetime {
    /// Started anew for each block.
    #[default]
    Block,
    /// Started once, kept for the whole run.
    Run,
}

/// What candidates talk to and nobody compares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The name, unique among services.
    pub name: ServiceName,
    /// How the report calls it; cosmetic.
    pub title: String,
    /// Whether it is started anew for each block.
    pub lifetime: Lifetime,
    /// What runs.
    pub definition: Definition,
}

/// What runs for a role: its members, values, ready rule, prewarm steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// What starts the members. Follows from the kind of `run`, never from what is installed.
    pub engine: EngineKind,
    /// The members in starting order; at least one. A single one is called `main`.
    pub members: IndexMap<MemberName, Member>,
    /// The member and port that requests go to.
    pub endpoint: Endpoint,
    /// Values that `{{ value.NAME }}` and rendered files may use.
    pub values: BTreeMap<String, String>,
    /// When it may be given load.
    pub ready: Ready,
    /// Steps after the start and before the first request, in order.
    pub prewarm: Vec<PrewarmStep>,
    /// Settings that differ from the vendor's default.
    pub departures: Vec<Departure>,
    /// An independent count of answers, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub witness: Option<Witness>,
}

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Endpoint {
    /// The member that listens.
    pub member: MemberName,
    /// Its port.
    pub port: PortName,
}

/// One process of a role (later: or container). Budget and counters belong to the role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// What is executed.
    pub program: Program,
    /// Environment, complete: nothing is inherited but a fixed `PATH`, `HOME` (the work folder) and `LANG`.
    pub env: BTreeMap<String, Template>,
    /// Files rendered into the work folder: destination, relative, to source in the experiment's folder.
    pub files: BTreeMap<String, String>,
    /// The user to run as; absent: the one that runs loadlab.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
    /// Ports that loadlab gives out, in order; the first is the default.
    pub ports: Vec<PortName>,
    /// How long after SIGTERM until SIGKILL.
    pub grace: Nanoseconds,
}

/// What a member executes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Program {
    /// A local command.
    Process(Process),
    /// loadlab's own test server; takes the engine of the candidates.
    Stub(Stub),
    /// A planted server of the standards; takes the engine of the candidates.
    Weight(Weight),
}

/// A local command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Program and arguments; the program is looked up in `PATH` when it has no slash.
    pub command: Vec<Template>,
    /// How the program says its version; absent: only its digest is pinned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<VersionRule>,
}

/// How a program says its version. `lock` runs it; `validate`, `plan` and `diff` never do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionRule {
    /// The command, without placeholders.
    pub command: Vec<String>,
    /// A regular expression over its output; the first group is the version.
    pub pattern: String,
}

/// When a role may be given load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ready {
    /// A GET is answered with the status.
    Http {
        /// Path with its query.
        path: String,
        /// The status expected.
        status: u16,
        /// Longest wait after the start.
        within: Nanoseconds,
    },
    /// The port accepts a connection.
    Tcp {
        /// Longest wait after the start.
        within: Nanoseconds,
    },
}

impl Ready {
    /// Longest wait after the start.
    #[must_use]
    pub const fn within(&self) -> Nanoseconds {
        match self {
            Self::Http { within, .. } | Self::Tcp { within } => *within,
        }
    }
}

/// One step before the candidate gets load, recorded with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PrewarmStep {
    /// A command on the role's cores, outside any window.
    Command {
        /// Program and arguments.
        command: Vec<Template>,
        /// Longest run time.
        within: Nanoseconds,
    },
    /// A GET sent a number of times, each answered with the status.
    Http {
        /// Path with its query.
        path: String,
        /// The status expected.
        status: u16,
        /// How often, at least 1.
        times: u32,
        /// Longest time for all.
        within: Nanoseconds,
    },
}

/// A setting that differs from the vendor's default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// The setting as its vendor calls it.
    pub setting: String,
    /// The vendor's default.
    pub default: String,
    /// The value used.
    pub value: String,
    /// Why.
    pub because: String,
}

/// An independent count of answers, read before and after each measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Witness {
    /// nginx's `stub_status` page: its third number, requests.
    StubStatus {
        /// Path of the page.
        path: String,
    },
    /// The account of loadlab's own test server: answers, and the CPU time of its process.
    Stub,
    /// A page whose body has the count, found by a regular expression's first group.
    Counter {
        /// Path of the page.
        path: String,
        /// The regular expression.
        pattern: String,
    },
}
