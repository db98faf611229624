//! Load generators: they describe a member and read what it printed; they never spawn.

pub mod fake;
pub mod oha;
pub mod stub;

use std::collections::BTreeMap;

use crate::engine::{MemberEvent, MemberSpec};
use crate::model::account::BoundRequest;
pub use crate::model::facts::GENERATOR;
use crate::model::facts::GeneratorFacts;
use crate::model::{Account, CpuSet, Shot};

/// What every request of loadlab calls itself, unless the scenario says otherwise.
pub const USER_AGENT: &str = "loadlab";

/// The headers that go out with a request, names in lower case, without `host` and without what
/// the protocol adds (`content-length`).
///
/// The generator sends `accept` and `user-agent` whatever it is told, so both are always named:
/// loadlab's own requests and the generator's are the same.
#[must_use]
pub fn headers_sent(request: &BoundRequest) -> BTreeMap<String, String> {
    let given = request
        .headers
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    let mut headers = BTreeMap::from([
        ("accept".to_owned(), "*/*".to_owned()),
        ("user-agent".to_owned(), USER_AGENT.to_owned()),
    ]);
    headers.extend(given);
    headers.remove("host");
    headers
}

/// The `host` header of a request to an address: the scenario's own, where it names one.
#[must_use]
pub fn host_sent(request: &BoundRequest, address: &str) -> String {
    let own = request
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("host"));
    own.map_or_else(|| address.to_owned(), |(_, value)| value.clone())
}

/// Where a load window's requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// The moment a generator began, by the marker that it printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowStart {
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub monotonic_ns: u64,
}

/// What a generator printed, byte for byte, by file name.
pub type RawOutput = std::collections::BTreeMap<String, Vec<u8>>;

/// Why a shot cannot be made by a generator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the load generator {generator} cannot {what}")]
pub struct Unsupported {
    /// Which.
    pub generator: String,
    /// What it cannot do.
    pub what: String,
}

/// Why a generator's output says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the load generator's output: {because}")]
pub struct Unreadable {
    /// What was found and what was expected, with its place.
    pub because: String,
}

/// A load generator: describes itself, and reads what it printed. Pure.
pub trait LoadGenerator: Send + Sync {
    /// What it is.
    fn facts(&self) -> GeneratorFacts;

    /// The member that makes this shot on these CPUs. Its `outputs` name the files that
    /// [`account`](Self::account) needs.
    ///
    /// # Errors
    /// When the generator cannot make such a shot.
    fn member(
        &self,
        shot: &Shot,
        address: &Address,
        cpus: &CpuSet,
    ) -> Result<MemberSpec, Unsupported>;

    /// Whether this event says that the generator is at its gate and waits to be let go.
    fn at_gate(&self, event: &MemberEvent) -> bool;

    /// The start of the load, if this event marks it.
    fn window(&self, event: &MemberEvent) -> Option<WindowStart>;

    /// What happened, in integers.
    ///
    /// # Errors
    /// When the output is no complete output of this generator for this shot.
    fn account(&self, raw: &RawOutput, shot: &Shot) -> Result<Account, Unreadable>;
}

/// Where a program of loadlab's own is expected: beside the running one.
fn sibling(program: &str) -> std::path::PathBuf {
    let here = std::env::current_exe().ok();
    let folder = here.as_deref().and_then(std::path::Path::parent);
    // A test's program lies one folder below the others.
    let folder = folder.map(|folder| match folder.file_name() {
        Some(name) if name == "deps" => folder.parent().unwrap_or(folder),
        _ => folder,
    });
    folder.map_or_else(|| program.into(), |folder| folder.join(program))
}
