//! Readings: values taken from counters, with source, clock and uncertainty.
//!
//! A reading is a fact; what it means is decided later, by guards and estimators. A number that could
//! not be read is [`Known::Absent`] with the reason, never 0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cores::CpuSet;
use super::name::MemberName;
use super::role::Role;
use super::unit::Bytes;

/// A value, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Known<T> {
    /// The value.
    Value(T),
    /// Why there is none.
    Absent(String),
}

impl<T> Known<T> {
    /// The value, where there is one.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent(_) => None,
        }
    }

    /// The reason, where there is no value.
    pub const fn reason(&self) -> Option<&String> {
        match self {
            Self::Value(_) => None,
            Self::Absent(reason) => Some(reason),
        }
    }

    /// The value under a function; the reason stays.
    pub fn map<U>(self, function: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Self::Value(value) => Known::Value(function(value)),
            Self::Absent(reason) => Known::Absent(reason),
        }
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for Known<T> {
    fn from(result: Result<T, E>) -> Self {
        result.map_or_else(|error| Self::Absent(error.to_string()), Self::Value)
    }
}

/// Where a counter was read.
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
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// cgroup version 1 files.
    CgroupV1,
    /// cgroup version 2 files.
    CgroupV2,
    /// `/proc/PID/stat` of every process of the tree, ticks; processes that ended and were not
    /// waited for by a member of the tree are lost.
    ProcessTree,
    /// `/proc/stat`, ticks.
    ProcStat,
    /// The engine's API.
    EngineApi,
    /// `/proc/PID/task/TID/schedstat`.
    Schedstat,
    /// A fake, in tests.
    Fake,
}

/// CPU time of a role's group since its creation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CpuReading {
    /// CPU time of all members, user and system, nanoseconds.
    pub cpu_ns: u64,
    /// The same per CPU, where the source has it.
    pub per_cpu_ns: Known<BTreeMap<u32, u64>>,
    /// Time throttled by a quota, nanoseconds.
    pub throttled_ns: Known<u64>,
    /// Where it was read.
    pub source: Source,
    /// The smallest step of the source, nanoseconds.
    pub granularity_ns: u64,
}

/// Memory of a role's group at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MemoryReading {
    /// Anonymous memory, bytes.
    pub anonymous_bytes: u64,
    /// Shared memory (shmem), bytes; absent where the source folds it into another number.
    pub shared_bytes: Known<u64>,
    /// Kernel and socket memory, bytes.
    pub kernel_bytes: Known<u64>,
    /// The kernel's own peak: with cache and start-up, bytes.
    pub kernel_peak_bytes: Known<u64>,
    /// Where it was read.
    pub source: Source,
}

/// One member of a role at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MemberReading {
    /// Which.
    pub name: MemberName,
    /// Whether its first process lives.
    pub alive: bool,
    /// How it ended, when it has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<String>,
    /// Kills for want of memory.
    pub oom_kills: Known<u64>,
}

/// Everything read of a role's group at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RoleReading {
    /// Whose group.
    pub role: Role,
    /// `CLOCK_MONOTONIC` when the CPU counter was read, nanoseconds.
    pub monotonic_ns: u64,
    /// How long the reading took: the true moment is within this much of `monotonic_ns`.
    pub uncertainty_ns: u64,
    /// CPU time.
    pub cpu: Known<CpuReading>,
    /// Memory.
    pub memory: Known<MemoryReading>,
    /// Processes and threads.
    pub processes: Known<u64>,
    /// How often the limit of processes refused a new one since the group was made.
    #[serde(default = "not_recorded")]
    pub refused_processes: Known<u64>,
    /// Time runnable threads waited for a CPU, nanoseconds.
    pub run_delay_ns: Known<u64>,
    /// Each member.
    pub members: Vec<MemberReading>,
}

fn not_recorded() -> Known<u64> {
    Known::Absent("it was not recorded".to_owned())
}

/// One CPU's times since boot, nanoseconds, as `/proc/stat` counts them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CpuTimes {
    /// User, nice, system, irq and softirq together.
    pub busy_ns: u64,
    /// Softirq alone.
    pub softirq_ns: u64,
    /// Idle and waiting for I/O.
    pub idle_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
}

/// Everything read of the machine at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HostReading {
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub monotonic_ns: u64,
    /// `CLOCK_BOOTTIME`, nanoseconds: also counts time asleep.
    pub boottime_ns: u64,
    /// `CLOCK_REALTIME`, nanoseconds since 1970.
    pub realtime_ns: u64,
    /// How long the reading took.
    pub uncertainty_ns: u64,
    /// Each online CPU at tick granularity.
    pub cpus: BTreeMap<u32, CpuTimes>,
    /// The step of `cpus`, nanoseconds.
    pub granularity_ns: u64,
    /// Exact CPU time used on each CPU by all tasks, nanoseconds, where the kernel offers it.
    pub used_per_cpu_ns: Known<BTreeMap<u32, u64>>,
    /// Pages swapped in and out since boot.
    pub swapped_pages: Known<u64>,
    /// Context switches since boot.
    pub context_switches: Known<u64>,
    /// Dirty memory not yet written back, bytes.
    pub dirty_bytes: Known<u64>,
    /// TCP segments retransmitted since boot.
    pub retransmitted_segments: Known<u64>,
    /// Connections dropped because a listen queue was full, since boot.
    pub listen_overflows: Known<u64>,
    /// Share of time some task was stalled for want of CPU since boot, microseconds (PSI total).
    pub cpu_pressure_us: Known<u64>,
    /// CPU time of loadlab's own process, nanoseconds.
    pub own_cpu_ns: u64,
}

/// What the kernel enforces for a role's group, read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EffectiveLimits {
    /// CPUs that its members may run on.
    pub cpus: Known<CpuSet>,
    /// Most memory.
    pub memory: Known<Bytes>,
    /// Most processes and threads.
    pub processes: Known<u64>,
}

/// A role's idle CPU time before a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct IdleReading {
    /// CPU time used, nanoseconds.
    pub cpu_ns: u64,
    /// Over this much time, nanoseconds.
    pub over_ns: u64,
}

/// The edge of a counter window: everything read at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Edge {
    /// The machine.
    pub host: HostReading,
    /// Every role that runs.
    pub roles: BTreeMap<Role, RoleReading>,
    /// What the kernel enforces for each role.
    pub limits: BTreeMap<Role, EffectiveLimits>,
    /// CPU time so far of a role's processes that left its group, nanoseconds: those that live and were
    /// recognised by their session, their family or their working folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outside_ns: BTreeMap<Role, Known<u64>>,
}

/// What is read every second inside a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Sample {
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub monotonic_ns: u64,
    /// CPU time of each role's group so far, nanoseconds.
    pub cpu_ns: BTreeMap<Role, u64>,
    /// Anonymous plus shared memory of each role's group, bytes.
    pub memory_bytes: BTreeMap<Role, u64>,
}

/// Rounds of a fixed piece of work done on one CPU in a fixed time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FixedWork {
    /// CPU time that one piece of work took on each CPU, nanoseconds, the smallest of several.
    pub per_cpu_ns: BTreeMap<u32, u64>,
}

/// One reading of the reference nginx.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProbeReading {
    /// What the generator counted.
    pub account: Known<super::account::Account>,
    /// CPU time of the probe's group in the counter window, nanoseconds.
    pub cpu_ns: Known<u64>,
    /// How far `cpu_ns` may be off for the steps of its counter, nanoseconds; 0 where it is exact.
    #[serde(default)]
    pub cpu_unsure_ns: u64,
    /// CPU time of the generator in the counter window, nanoseconds.
    pub load_cpu_ns: Known<u64>,
    /// Length of the counter window, nanoseconds.
    pub window_ns: u64,
    /// What nginx itself counted.
    pub witness: Known<u64>,
    /// The fixed-work loop beside it.
    pub fixed_work: Known<FixedWork>,
}
