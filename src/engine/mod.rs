//! Engines: they make groups, start members in them, dial them, read their counters, stop them.
//!
//! Everything that runs is a member that an engine starts, the load generator included.

pub mod fake;
pub mod process;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::model::facts::EngineFacts;
use crate::model::name::{MemberName, PortName};
use crate::model::reading::EffectiveLimits;
use crate::model::{Budget, CpuSet, Known, Role, RoleReading};

/// What loadlab marks everything with that it makes, so that `gc` finds it and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// The draft that it belongs to: an entry's name.
    pub entry: String,
    /// Distinguishes groups of one run, such as `b0001a1`.
    pub part: String,
}

/// A role as an engine is asked to make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSpec {
    /// Whose group.
    pub role: Role,
    /// CPUs that its members may run on; absent: all.
    pub cpus: Option<CpuSet>,
    /// What it may use.
    pub budget: Budget,
    /// The members that will be started, with their ports in order.
    pub members: Vec<(MemberName, Vec<PortName>)>,
}

/// A group: a role's place to run. Plain data; the engine keeps the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Unique in the engine.
    pub id: String,
    /// Whose group.
    pub role: Role,
    /// Address that its ports are reached at from roles on this machine.
    pub host: String,
    /// The ports given out.
    pub ports: BTreeMap<(MemberName, PortName), u16>,
    /// Work folder of each member, absolute.
    pub work: BTreeMap<MemberName, PathBuf>,
}

/// A member with everything bound: what is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberSpec {
    /// The name.
    pub name: MemberName,
    /// Program and arguments, executed in the member's work folder: relative paths start there.
    pub command: Vec<String>,
    /// The whole environment but for `PATH`, `HOME` and `LANG`, which the engine sets.
    pub env: BTreeMap<String, String>,
    /// Files written into the work folder before the start: relative path to bytes.
    pub files: BTreeMap<String, Vec<u8>>,
    /// User to run as; absent: the present one.
    pub user: Option<String>,
    /// From SIGTERM until SIGKILL.
    pub grace: Duration,
    /// Whether standard input stays open so that [`Engine::proceed`] can let it go.
    pub gated: bool,
    /// Files in the work folder that are results: handed out by [`Engine::collect`].
    pub outputs: Vec<String>,
}

/// What happened to a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberEvent {
    /// Which.
    pub member: MemberName,
    /// `CLOCK_MONOTONIC` when the engine saw it, nanoseconds.
    pub monotonic_ns: u64,
    /// What.
    pub what: MemberChange,
}

/// What happened to a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberChange {
    /// It printed a line on standard error (not decoded, without the line end).
    Line(Vec<u8>),
    /// It ended by itself or by a signal.
    Exited(Exit),
    /// The kernel killed one of its processes for want of memory.
    OutOfMemory,
}

/// How a member ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(f, "exited with status {status}"),
            Self::Signal(signal) => write!(f, "ended by signal {signal}"),
        }
    }
}

/// What a command printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub exit: Exit,
    /// Standard output, at most 1 MiB.
    pub stdout: Vec<u8>,
    /// Standard error, at most 1 MiB.
    pub stderr: Vec<u8>,
}

/// Something that a crashed run left behind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leftover {
    /// The entry that it belongs to.
    pub entry: String,
    /// What it is, for a person: `3 processes in group …`, `work folder …`.
    pub what: String,
    /// What the engine needs to remove it.
    pub handle: String,
}

/// Why an engine could not do what it was asked. Never about the candidate: that is an outcome.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {object}: {because}")]
pub struct EngineError {
    /// The verb: `reserve`, `start`, `read`, …
    pub operation: &'static str,
    /// What it was done to, in backticks where it has a name.
    pub object: String,
    /// The cause with its own causes.
    pub because: String,
    /// What kind of trouble it is.
    pub kind: Trouble,
}

/// Kinds of trouble that a caller treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The program does not exist or cannot be executed.
    NoProgram,
    /// The machine or the engine cannot do it: exit code 5.
    Unfit,
    /// The engine went away.
    Lost,
    /// Files could not be written: the disk is full, or its file system read-only.
    Storage,
    /// Anything else.
    Failed,
}

/// Either direction of a byte stream to a member's port.
pub trait Duplex: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin {}
impl<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin> Duplex for T {}

/// Makes groups, starts members in them, dials them, reads their counters, stops them.
#[async_trait]
pub trait Engine: Send + Sync {
    /// What it is and what it can enforce.
    fn describe(&self) -> EngineFacts;

    /// Makes a group: cgroup, work folders, ports. Nothing runs yet.
    async fn reserve(&self, role: &RoleSpec, tag: &Tag) -> Result<Group, EngineError>;

    /// Starts a member: intent recorded, group joined, then executed. Standard output and error go
    /// to the member's log.
    async fn start(&self, group: &Group, member: &MemberSpec) -> Result<(), EngineError>;

    /// The events of a group from its reservation on. Taken once.
    async fn events(&self, group: &Group) -> Result<mpsc::Receiver<MemberEvent>, EngineError>;

    /// Lets a gated member go: writes one line to its standard input and closes it.
    async fn proceed(&self, group: &Group, member: &MemberName) -> Result<(), EngineError>;

    /// Opens a connection to a port of a member.
    async fn dial(
        &self,
        group: &Group,
        member: &MemberName,
        port: &PortName,
    ) -> Result<Box<dyn Duplex>, std::io::Error>;

    /// Reads the group's counters.
    async fn read(&self, group: &Group) -> Result<RoleReading, EngineError>;

    /// CPU time so far of processes that left the group and live, nanoseconds; absent: this engine does not
    /// look for them, or none can leave.
    async fn outside_ns(&self, _group: &Group) -> Result<Known<u64>, EngineError> {
        Ok(Known::Absent(
            "this engine does not look for what left a group".to_owned(),
        ))
    }

    /// Reads the group's limits back from the kernel.
    async fn limits(&self, group: &Group) -> Result<EffectiveLimits, EngineError>;

    /// Runs a command to its end on the group's CPUs. Never inside a window.
    async fn execute(
        &self,
        group: &Group,
        command: &[String],
        within: Duration,
    ) -> Result<Output, EngineError>;

    /// Files that members declared as outputs, by name.
    async fn collect(
        &self,
        group: &Group,
        member: &MemberName,
    ) -> Result<BTreeMap<String, Vec<u8>>, EngineError>;

    /// Stops every process of the group, whatever it forked, and moves the members' logs to
    /// `<logs>.<member>.log`, all of one member's output in one file.
    async fn stop(&self, group: &Group, logs: &std::path::Path) -> Result<(), EngineError>;

    /// Removes the group. Called only after the records are on disk.
    async fn release(&self, group: Group) -> Result<(), EngineError>;

    /// What crashed runs left behind; never what a living run owns.
    async fn leftovers(&self) -> Result<Vec<Leftover>, EngineError>;

    /// Removes a leftover.
    async fn remove(&self, leftover: &Leftover) -> Result<(), EngineError>;
}
