//! Load generators: they describe a member and read what it printed; they never spawn.

use crate::engine::{MemberEvent, MemberSpec};
pub use crate::model::facts::GENERATOR;
use crate::model::facts::GeneratorFacts;
use crate::model::{Account, CpuSet, Shot};

/// Where a load window's requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
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
