//! What runs and what is asked of it: candidates, services, scenarios.

use schemars::JsonSchema;
use serde::Deserialize;

use super::leaf::{Duration, Name};
use super::shorthand::{Named, NonEmpty, PlainValue};
use super::stub::Stub;
use crate::model::{MemberName, PortName};

/// One system under comparison.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["uses", "facts"]))]
pub(in crate::manifest) struct Candidate {
    /// How the report calls it. Default: its name.
    #[schemars(example = &"gzip level 1", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(in crate::manifest) title: Option<String>,
    /// What runs. Must be given here or in `defaults.candidate`.
    pub(in crate::manifest) run: Option<Run>,
    /// Environment of every member; a member's own wins. Default: empty.
    #[schemars(example = serde_json::json!({"WORKERS": "{{ budget.cores }}"}))]
    pub(in crate::manifest) env: Option<Named<EnvName, PlainValue>>,
    /// Values for `{{ value.NAME }}`, in texts and in rendered files. Default: none.
    #[schemars(example = serde_json::json!({"gzip": "on", "level": 6}))]
    pub(in crate::manifest) values: Option<Named<ValueKey, PlainValue>>,
    /// When it may be given load. Default: `{kind: tcp, within: 10s}`.
    pub(in crate::manifest) ready: Option<Ready>,
    /// The member and port that requests go to. Default: the first port of the first member that has one.
    pub(in crate::manifest) endpoint: Option<Endpoint>,
    /// Steps after the start and before the first request, in order. Default: none.
    #[schemars(example = serde_json::json!([{"kind": "http", "path": "/", "times": 100}]))]
    pub(in crate::manifest) prewarm: Option<Vec<PrewarmStep>>,
    /// Settings that differ from the vendor's default, for the page. Default: none.
    #[schemars(extend("x-change-class" = "cosmetic"))]
    pub(in crate::manifest) departures: Option<Vec<Departure>>,
    /// An independent count of answers; a stub's own is `{kind: stub}`. Default: none.
    pub(in crate::manifest) witness: Option<Witness>,
}

/// What candidates talk to and nobody compares.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["settings", "facts"]))]
pub(in crate::manifest) struct Service {
    /// How the report calls it. Default: its name.
    #[schemars(example = &"A slow neighbour", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(in crate::manifest) title: Option<String>,
    /// Whether it is started anew for each block. Default: block.
    pub(in crate::manifest) lifetime: Option<Lifetime>,
    /// What runs.
    pub(in crate::manifest) run: Run,
    /// Environment of every member; a member's own wins. Default: empty.
    #[schemars(example = serde_json::json!({"MODE": "quiet"}))]
    pub(in crate::manifest) env: Option<Named<EnvName, PlainValue>>,
    /// Values for `{{ value.NAME }}`, in texts and in rendered files. Default: none.
    #[schemars(example = serde_json::json!({"workers": 1}))]
    pub(in crate::manifest) values: Option<Named<ValueKey, PlainValue>>,
    /// When it may be talked to. Default: `{kind: tcp, within: 10s}`.
    pub(in crate::manifest) ready: Option<Ready>,
    /// The member and port that candidates talk to. Default: the first port of the first member that has one.
    pub(in crate::manifest) endpoint: Option<Endpoint>,
    /// Steps after its start, in order. Default: none.
    #[schemars(example = serde_json::json!([{"kind": "http", "path": "/"}]))]
    pub(in crate::manifest) prewarm: Option<Vec<PrewarmStep>>,
    /// Settings that differ from the vendor's default, for the page. Default: none.
    #[schemars(extend("x-change-class" = "cosmetic"))]
    pub(in crate::manifest) departures: Option<Vec<Departure>>,
}

/// Whether a service lives on from block to block.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::manifest) enum Lifetime {
    /// Started anew for each block.
    Block,
    /// Started once, kept for the whole run.
    Run,
}

/// The name of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub(in crate::manifest) struct EnvName(pub(in crate::manifest) String);

/// The name of a value: letters, digits and `_`, not beginning with a digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub(in crate::manifest) struct ValueKey(pub(in crate::manifest) String);

/// The name of a header.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub(in crate::manifest) struct HeaderName(pub(in crate::manifest) String);

/// A path relative to a folder, with `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub(in crate::manifest) struct PathText(pub(in crate::manifest) String);

macro_rules! texts {
    ($($name:ident, $pattern:literal, $example:literal, $description:literal;)*) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": $description,
                    "pattern": $pattern,
                    "examples": [$example],
                })
            }
        }
    )*};
}

texts! {
    EnvName, "^[A-Za-z_][A-Za-z0-9_]*$", "WORKERS",
        "The name of an environment variable: letters, digits and `_`, not beginning with a digit.";
    ValueKey, "^[A-Za-z_][A-Za-z0-9_]*$", "level",
        "The name of a value: letters, digits and `_`, not beginning with a digit.";
    HeaderName, "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", "Accept-Encoding",
        "The name of a header.";
    PathText, "^[^\\u0000-\\u001f\\u007f]+$", "nginx/nginx.conf.j2",
        "A path relative to its folder, with `/`.";
}

/// What runs for a role.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["image", "build", "rootfs", "loadlab"]))]
pub(in crate::manifest) enum Run {
    /// A local command.
    Process(Box<Process>),
    /// loadlab's own test server.
    Stub(Box<Stub>),
    /// Several members that share the role's budget and cores.
    Members {
        /// The members by name, in starting order.
        members: Named<Name<MemberName>, MemberRun>,
    },
}

/// What runs as one of several members.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["image", "build", "rootfs", "loadlab"]))]
pub(in crate::manifest) enum MemberRun {
    /// A local command.
    Process(Box<Process>),
    /// loadlab's own test server.
    Stub(Box<Stub>),
}

/// A local command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Process {
    /// Program and arguments; the program is looked up in `PATH` when it has no slash. Must be given
    /// here or in `defaults.candidate`.
    #[schemars(example = ["nginx", "-c", "{{ work }}/nginx.conf"])]
    pub(in crate::manifest) command: Option<NonEmpty<String>>,
    /// Environment, complete: nothing is inherited but a fixed `PATH`, `HOME` (the work folder) and
    /// `LANG`. Default: empty.
    #[schemars(example = serde_json::json!({"WORKERS": "{{ budget.cores }}"}))]
    pub(in crate::manifest) env: Option<Named<EnvName, PlainValue>>,
    /// Files put into the work folder: destination there, to source beside the manifest. A source
    /// that ends in `.j2` is rendered. Default: none.
    #[schemars(example = serde_json::json!({"nginx.conf": "nginx/nginx.conf.j2"}))]
    pub(in crate::manifest) files: Option<Named<PathText, PathText>>,
    /// The user to run as. Default: the one that runs loadlab.
    #[schemars(example = &"www-data", regex(pattern = r"^[a-z_][a-z0-9_-]{0,31}$"))]
    pub(in crate::manifest) user: Option<String>,
    /// Names of the ports that loadlab gives out; the first is `{{ port }}`. Default: `[http]`.
    #[schemars(example = ["http"], extend("uniqueItems" = true))]
    pub(in crate::manifest) ports: Option<Vec<Name<PortName>>>,
    /// How long after SIGTERM until SIGKILL. Default: 5s.
    #[schemars(example = &"5s")]
    pub(in crate::manifest) grace: Option<Duration>,
    /// How the program says its version; `lock` runs it. Default: only its bytes are pinned.
    pub(in crate::manifest) version: Option<VersionRule>,
}

/// How a program says its version.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct VersionRule {
    /// The command, without placeholders.
    #[schemars(example = ["nginx", "-v"])]
    pub(in crate::manifest) command: NonEmpty<String>,
    /// A regular expression over what it prints; the first group is the version.
    #[schemars(example = &"nginx/(\\S+)", length(min = 1))]
    pub(in crate::manifest) pattern: String,
}

/// When a role may be given load.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["postgres", "mysql"]))]
pub(in crate::manifest) enum Ready {
    /// A GET is answered with the status.
    Http {
        /// Path with its query.
        #[schemars(example = &"/ready", regex(pattern = r"^/[!-~]*$"))]
        path: String,
        /// The status expected. Default: 200.
        #[schemars(range(min = 200, max = 599), example = 200)]
        status: Option<u16>,
        /// Longest wait after the start. Default: 10s.
        #[schemars(example = &"10s")]
        within: Option<Duration>,
    },
    /// The port accepts a connection.
    Tcp {
        /// Longest wait after the start. Default: 10s.
        #[schemars(example = &"10s")]
        within: Option<Duration>,
    },
}

/// Where requests go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Endpoint {
    /// The member that listens. Default: the first that has a port.
    #[schemars(example = &"web")]
    pub(in crate::manifest) member: Option<Name<MemberName>>,
    /// Its port. Default: its first.
    #[schemars(example = &"http")]
    pub(in crate::manifest) port: Option<Name<PortName>>,
}

/// One step before the first request, recorded with its time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["sql"]))]
pub(in crate::manifest) enum PrewarmStep {
    /// A command on the role's cores, outside any window.
    Command {
        /// Program and arguments.
        #[schemars(example = ["sync"])]
        command: NonEmpty<String>,
        /// Longest run time. Default: 30s.
        #[schemars(example = &"30s")]
        within: Option<Duration>,
    },
    /// A GET sent a number of times, each answered with the status.
    Http {
        /// Path with its query.
        #[schemars(example = &"/", regex(pattern = r"^/[!-~]*$"))]
        path: String,
        /// The status expected. Default: 200.
        #[schemars(range(min = 200, max = 599), example = 200)]
        status: Option<u16>,
        /// How often. Default: 1.
        #[schemars(range(min = 1, max = 1_000_000), example = 100)]
        times: Option<u32>,
        /// Longest time for all. Default: 30s.
        #[schemars(example = &"30s")]
        within: Option<Duration>,
    },
}

/// A setting that differs from the vendor's default.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "cosmetic"))]
pub(in crate::manifest) struct Departure {
    /// The setting as its vendor calls it.
    #[schemars(example = &"worker_connections", length(min = 1))]
    pub(in crate::manifest) setting: String,
    /// The vendor's default.
    #[schemars(example = &"512")]
    pub(in crate::manifest) default: PlainValue,
    /// The value used.
    #[schemars(example = &"1024")]
    pub(in crate::manifest) value: PlainValue,
    /// Why.
    #[schemars(example = &"one connection for each of the load's", length(min = 1))]
    pub(in crate::manifest) because: String,
}

/// An independent count of answers, read before and after each measurement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) enum Witness {
    /// The account of loadlab's own test server: answers, and the CPU time of its process.
    Stub {},
    /// nginx's `stub_status` page: its third number, requests.
    StubStatus {
        /// Path of the page.
        #[schemars(example = &"/status", regex(pattern = r"^/[!-~]*$"))]
        path: String,
    },
    /// A page whose body has the count.
    Counter {
        /// Path of the page.
        #[schemars(example = &"/count", regex(pattern = r"^/[!-~]*$"))]
        path: String,
        /// A regular expression over its body; the first group is the count.
        #[schemars(example = &"answered ([0-9]+)", length(min = 1))]
        pattern: String,
    },
}
