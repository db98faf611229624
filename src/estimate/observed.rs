//! One scenario at one load point for one candidate: what was read beside the metrics.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summary::Decimal;
use crate::model::code::Outcome;
use crate::model::phase::LoadPoint;
use crate::model::{CandidateName, PhaseName, Role, ScenarioName};

/// One scenario at one load point for one candidate: what its repetitions showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Phase.
    #[schemars(with = "String")]
    pub phase: PhaseName,
    /// Scenario.
    #[schemars(with = "String")]
    pub scenario: ScenarioName,
    /// Load point.
    #[schemars(with = "String")]
    pub at: LoadPoint,
    /// Candidate.
    #[schemars(with = "String")]
    pub candidate: CandidateName,
    /// Kept repetitions.
    pub kept: u64,
    /// Those that enter estimates: all kept, or only those accepted.
    pub accepted: u64,
    /// Windows that were measured, those of excluded attempts too.
    pub attempted: u64,
    /// How many repetitions had each outcome.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Who ran out, by repetition: candidate, service, generator, budget, nobody.
    pub ran_out: BTreeMap<RanOut, u64>,
    /// Median busy share of the candidate's cores, 1 is all of them.
    pub candidate_busy: Option<Decimal>,
    /// Median busy share of the generator's cores.
    pub generator_busy: Option<Decimal>,
    /// Median foreign CPU on the candidate's cores, cores; the least it may be where it is not exact.
    pub foreign_cores: Option<Decimal>,
    /// The most that it may be, where it is not exact.
    pub foreign_at_most: Option<Decimal>,
    /// Largest steal on the candidate's cores, share.
    pub steal: Option<Decimal>,
    /// Median softirq time on the candidate's cores per request, nanoseconds.
    pub softirq_per_request: Option<Decimal>,
    /// Median idle CPU of the candidate before windows, cores.
    pub idle_cores: Option<Decimal>,
    /// Repetitions whose CPU use was not steady.
    pub not_steady: u64,
    /// Largest burst of requests in one millisecond.
    pub burst: Option<u64>,
    /// Connections.
    pub connections: u32,
    /// What became of the requests; absent: no window has an account.
    pub requests: Option<Requests>,
    /// Memory of the candidate and of each service.
    #[schemars(with = "BTreeMap<String, MemoryUse>")]
    pub memory: BTreeMap<Role, MemoryUse>,
    /// What the machine did in the windows.
    pub watched: Watched,
}

/// Who ran out in a measurement.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RanOut {
    /// Nobody.
    Nobody,
    /// The candidate's cores.
    Candidate,
    /// A service's cores.
    Service,
    /// The generator's cores.
    Generator,
    /// Another limit of the budget.
    Budget,
}

/// A count over several windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// The number.
    pub number: u64,
    /// Whether the generator counted it in every window; else it was obtained from other counts,
    /// which proves nothing.
    pub observed: bool,
}

/// What became of the requests of the kept repetitions, all windows added up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// Windows with an account.
    pub windows: u64,
    /// Requests planned; absent for a closed loop, which plans none.
    pub planned: Option<u64>,
    /// Requests that left the generator.
    pub sent: Counted,
    /// Answers of any status.
    pub answered: Counted,
    /// Answers by status.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub by_status: BTreeMap<u16, u64>,
    /// Requests given up at a window's end.
    pub aborted: Counted,
    /// Errors by the generator's message.
    pub errors: BTreeMap<String, u64>,
    /// Answers after a load window's end; no more than this where they cannot be told apart.
    pub late: u64,
    /// Whether late answers were counted.
    pub late_is_exact: bool,
    /// Answers by an independent count, beside those of the generator in the same windows; absent:
    /// no window had one.
    pub witness: Option<(u64, u64)>,
}

/// Memory of a role, medians over the kept repetitions, bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUse {
    /// Highest sample of anonymous plus shared memory.
    pub peak: Option<Decimal>,
    /// Mean of these samples.
    pub mean: Option<Decimal>,
    /// Kernel and socket memory at the closing edge.
    pub kernel: Option<Decimal>,
    /// The kernel's own peak: includes page cache and start-up.
    pub kernel_peak: Option<Decimal>,
}

/// What the machine did in the windows of the kept repetitions; absent: not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Watched {
    /// Median context switches per second of the whole machine.
    pub context_switches: Option<Decimal>,
    /// Median share of the time that some task was stalled for want of a CPU.
    pub cpu_pressure: Option<Decimal>,
    /// Largest share of a window that the generator waited for a CPU.
    pub generator_wait: Option<Decimal>,
    /// Most pages swapped in a window.
    pub swapped_pages: Option<u64>,
    /// Most TCP segments retransmitted in a window.
    pub retransmitted: Option<u64>,
    /// Most connections dropped for a full listen queue in a window.
    pub listen_overflows: Option<u64>,
    /// Longest time that the candidate was throttled in a window, nanoseconds.
    pub throttled_ns: Option<u64>,
}

/// Limits of a role's group as the kernel had them at the edges of windows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LimitsSeen {
    /// Whose.
    #[schemars(with = "String")]
    pub role: Role,
    /// CPUs that its members may run on; absent: not read.
    pub cpus: Option<String>,
    /// Most memory, bytes; absent: no limit, or not read.
    pub memory_bytes: Option<u64>,
    /// Most processes and threads; absent: no limit, or not read.
    pub processes: Option<u64>,
    /// Why something is absent, each reason once.
    pub because: Vec<String>,
    /// At how many edges it was so.
    pub edges: u64,
}
