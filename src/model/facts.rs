//! Facts about the machine, the engines and the generator: recorded once a run, compared by `--resume`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cores::CpuSet;
use super::digest::Digest;
use super::reading::Known;
use super::role::{EngineKind, Role};

/// Name and version of the load generator that this build brings.
pub const GENERATOR: &str = "oha 1.16.0";

/// The machine as it was observed. Written to `host.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HostFacts {
    /// Model name of the CPU.
    pub cpu_model: Known<String>,
    /// Machine architecture, as `uname -m`.
    pub architecture: String,
    /// Online CPUs.
    pub online: CpuSet,
    /// Hyper-thread siblings of each CPU, itself included.
    pub siblings: Known<BTreeMap<u32, CpuSet>>,
    /// Frequency governor of each CPU.
    pub governors: Known<BTreeMap<u32, String>>,
    /// Whether turbo is on.
    pub turbo: Known<bool>,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Swap, bytes.
    pub swap_bytes: u64,
    /// Kernel release and version.
    pub kernel: String,
    /// Kernel command line.
    pub command_line: Known<String>,
    /// Timer frequency of the kernel, Hz.
    pub kernel_hz: Known<u64>,
    /// Whether interrupt time is charged apart (`IRQ_TIME_ACCOUNTING`).
    pub irq_time_accounting: Known<bool>,
    /// CPUs that served interrupts so far, with how many.
    pub interrupts: Known<BTreeMap<u32, u64>>,
    /// `v1`, `v2` or `hybrid`, and the controllers that can be used.
    pub cgroups: Known<String>,
    /// The hypervisor, or `none`.
    pub virtualisation: Known<String>,
    /// Clock source.
    pub clock_source: Known<String>,
    /// `mains`, `battery` or unknown.
    pub power: Known<String>,
    /// Distribution name and version.
    pub distribution: Known<String>,
    /// Identity of this boot; differs after each restart. Not part of the machine's identity.
    pub boot_id: Known<String>,
    /// Digest of the machine's own id, so that two machines of one kind differ.
    pub machine: Known<Digest>,
}

/// A CPU of one role whose hyper-thread sibling belongs to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedCore<'a> {
    /// The CPU.
    pub cpu: u32,
    /// Whose it is.
    pub role: &'a Role,
    /// The other thread of its core.
    pub sibling: u32,
    /// Whose that is.
    pub other: &'a Role,
}

impl std::fmt::Display for SharedCore<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            cpu,
            role,
            sibling,
            other,
        } = self;
        write!(
            f,
            "CPU {cpu} of {role} and CPU {sibling} of {other} are one core"
        )
    }
}

impl HostFacts {
    /// The first core that each two roles share by its threads; absent: the machine does not say which
    /// CPUs are siblings.
    #[must_use]
    pub fn shared_cores<'a>(
        &self,
        cores: &'a BTreeMap<Role, CpuSet>,
    ) -> Known<Vec<SharedCore<'a>>> {
        let siblings = match &self.siblings {
            Known::Value(siblings) => siblings,
            Known::Absent(because) => return Known::Absent(because.clone()),
        };
        let roles: Vec<_> = cores.iter().collect();
        let mut shared = Vec::new();
        for (position, (role, cpus)) in roles.iter().enumerate() {
            for (other, others) in &roles[position + 1..] {
                let first = cpus.iter().find_map(|cpu| {
                    let threads = siblings.get(&cpu)?;
                    let sibling = threads
                        .iter()
                        .find(|it| *it != cpu && others.contains(*it))?;
                    Some((cpu, sibling))
                });
                shared.extend(first.map(|(cpu, sibling)| SharedCore {
                    cpu,
                    role,
                    sibling,
                    other,
                }));
            }
        }
        Known::Value(shared)
    }

    /// The machine's identity: the same after a restart, another one after an upgrade of its kernel.
    /// The boot and what counts up are left out.
    #[must_use]
    pub fn identity(&self) -> Digest {
        let left_out = || "not part of the identity".to_owned();
        Digest::of_value(&Self {
            boot_id: Known::Absent(left_out()),
            interrupts: Known::Absent(left_out()),
            ..self.clone()
        })
    }
}

/// What an engine is and can enforce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EngineFacts {
    /// Which engine.
    pub kind: EngineKind,
    /// Its version; loadlab's own for processes.
    pub version: String,
    /// Whether its kernel is this machine's.
    pub local_kernel: bool,
    /// Whether each limit is enforced, or why not.
    pub enforces: Enforces,
    /// Where CPU time comes from and how fine it is.
    pub cpu_source: String,
}

/// Whether each limit is enforced, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Enforces {
    /// CPUs, by a cpuset (a process can always be pinned by its affinity).
    pub cpus: Known<bool>,
    /// Memory.
    pub memory: Known<bool>,
    /// Processes and threads.
    pub processes: Known<bool>,
}

/// What a load generator is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GeneratorFacts {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Digest of its program.
    pub digest: Digest,
    /// Whether it waits at a gate and marks its start.
    pub marks_start: bool,
}
