//! What one load window showed: the numbers that estimates and tables need of it, and nothing else.

use crate::guard::{self, Window};
use crate::model::{Experiment, MeasurementId, Metric, Outcome, Phase, Quantile, Role, Share};
use crate::record::event::Measured;

use super::centre::whole;
use super::observe::{self, KernelMemory, Watch};
use super::slot::outcome;
use super::summary::{RanOut, Requests};
use super::value::{Value, value};

/// Above this share of its cores a role ran out of CPU.
const BUSY: Share = Share::percent(90);

/// The candidate's numbers that the order of time shows of every window.
pub(super) const IN_TIME: [Metric; 4] = [
    Metric::Achieved,
    Metric::CpuPerRequest,
    Metric::Latency(Quantile::P50),
    Metric::Latency(crate::probe::verdict::PROBE_QUANTILE),
];

/// What one load window showed.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) id: MeasurementId,
    /// The wall clock at its opening edge, nanoseconds since 1970.
    pub(super) realtime_ns: u64,
    /// Judged by the present rules.
    pub(super) outcome: Outcome,
    pub(super) detail: Option<Box<str>>,
    pub(super) ran_out: RanOut,
    pub(super) generator_ran_out: bool,
    pub(super) is_unsteady: bool,
    pub(super) candidate_busy: Option<f64>,
    pub(super) generator_busy: Option<f64>,
    /// CPU of other processes on the candidate's cores: no less and no more, cores.
    pub(super) foreign: Option<(f64, f64)>,
    pub(super) steal: Option<f64>,
    pub(super) softirq_per_request: Option<f64>,
    pub(super) idle_cores: Option<f64>,
    pub(super) burst: Option<u64>,
    pub(super) requests: Option<Box<Requests>>,
    pub(super) watch: Watch,
    pub(super) kernel_memory: Box<[KernelMemory]>,
    /// A number for each metric and role that is [`wanted`] of its phase.
    pub(super) values: Box<[Value]>,
}

/// The metrics and roles that have a number in every window of a phase; first those of
/// [`IN_TIME`], then memory, then what the phase declares.
pub(super) fn wanted(phase: Option<&Phase>, experiment: &Experiment) -> Vec<(Metric, Role)> {
    let mut wanted: Vec<(Metric, Role)> = IN_TIME.map(|metric| (metric, Role::Candidate)).into();
    let declared = phase.into_iter().flat_map(|phase| phase.estimate.keys());
    let memory = [Metric::MemoryPeak, Metric::MemoryMean];
    for metric in memory.iter().chain(declared) {
        for role in roles(*metric, experiment) {
            if !wanted.contains(&(*metric, role.clone())) {
                wanted.push((*metric, role));
            }
        }
    }
    wanted
}

/// The roles that a metric is estimated for.
pub(super) fn roles(metric: Metric, experiment: &Experiment) -> Vec<Role> {
    let mut roles = vec![Role::Candidate];
    if metric.is_per_role() {
        roles.extend(experiment.services.keys().cloned().map(Role::Service));
    }
    if matches!(metric, Metric::CpuPerRequest | Metric::CoresUsed) {
        roles.push(Role::Load);
    }
    roles
}

impl Shown {
    /// Reduces a recorded window.
    pub(super) fn of(
        measured: &Measured,
        experiment: &Experiment,
        wanted: &[(Metric, Role)],
    ) -> Self {
        let outcome = outcome(measured, experiment);
        let number =
            |(metric, role): &(Metric, Role)| value(measured, outcome, *metric, role, experiment);
        let window = Window::of(measured);
        let cores = experiment.cores.get(&Role::Candidate);
        let generator_ran_out = guard::generator_ran_out(measured, experiment);
        let account = measured.account.value();
        Self {
            id: measured.id.clone(),
            realtime_ns: measured.before.host.realtime_ns,
            outcome,
            detail: measured.detail.as_deref().map(Box::from),
            ran_out: ran_out(measured, outcome, generator_ran_out, experiment),
            generator_ran_out,
            is_unsteady: guard::is_unsteady(measured, experiment.guards.not_steady) == Some(true),
            candidate_busy: busy(measured, &Role::Candidate, experiment),
            generator_busy: busy(measured, &Role::Load, experiment),
            foreign: foreign(measured, experiment),
            steal: cores.and_then(|cores| {
                let stolen = window.host_ns(cores, |times| times.steal_ns)?;
                over(stolen, window.capacity_ns(cores))
            }),
            softirq_per_request: cores.and_then(|cores| {
                let softirq = window.host_ns(cores, |times| times.softirq_ns)?;
                over(softirq, account?.answered.get())
            }),
            idle_cores: measured
                .idle
                .get(&Role::Candidate)
                .and_then(|idle| over(idle.cpu_ns, idle.over_ns)),
            burst: account.and_then(|account| account.burst.value().copied()),
            requests: observe::requests_of(measured),
            watch: Watch::of(measured),
            kernel_memory: observe::kernel_memory(measured, experiment),
            values: wanted.iter().map(number).collect(),
        }
    }
}

fn over(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| whole(part) / whole(all))
}

/// CPU time of other processes on the candidate's cores over the window: no less and no more.
fn foreign(measured: &Measured, experiment: &Experiment) -> Option<(f64, f64)> {
    let cores = experiment.cores.get(&Role::Candidate)?;
    let foreign = guard::foreign(measured, cores, experiment)?;
    let length = Window::of(measured).length_ns();
    over(foreign.low_ns, length).zip(over(foreign.high_ns, length))
}

/// CPU time of a role over what its cores had; absent where either is not known.
fn busy(measured: &Measured, role: &Role, experiment: &Experiment) -> Option<f64> {
    let window = Window::of(measured);
    let cpus = experiment.cores.get(role)?;
    over(window.cpu_ns(role).ok()?, window.capacity_ns(cpus))
}

/// Who ran out: a limit of the budget, the generator's, the candidate's or a service's cores, or
/// nobody; the first that applies.
fn ran_out(
    measured: &Measured,
    outcome: Outcome,
    generator_ran_out: bool,
    experiment: &Experiment,
) -> RanOut {
    let is_busy = |role: &Role| {
        let share = busy(measured, role, experiment);
        share.is_some_and(|share| share > whole(BUSY.millionths()) / 1e6)
    };
    let mut services = experiment.services.keys().cloned().map(Role::Service);
    if is_at_limit(outcome) {
        RanOut::Budget
    } else if generator_ran_out {
        RanOut::Generator
    } else if is_busy(&Role::Candidate) {
        RanOut::Candidate
    } else if services.any(|service| is_busy(&service)) {
        RanOut::Service
    } else {
        RanOut::Nobody
    }
}

/// Whether an outcome means that a limit of the budget was reached.
pub(super) const fn is_at_limit(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Oom | Outcome::LimitReached | Outcome::ConnectionsOverBudget
    )
}
