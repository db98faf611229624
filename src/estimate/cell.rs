//! One scenario at one load point for one candidate: its repetitions and what they showed.

use std::collections::BTreeMap;

use crate::guard::{self, Window};
use crate::model::{
    BlockId, CandidateName, Experiment, LoadPoint, Outcome, PhaseName, Role, ScenarioName, Share,
};
use crate::plan::Plan;
use crate::record::event::Measured;

use super::centre::{Sample, whole};
use super::kept::Selection;
use super::observe;
use super::slot::Slot;
use super::summary::{Cell, Decimal, RanOut};

/// Above this share of its cores a role ran out of CPU.
const BUSY: Share = Share::percent(90);

/// What names a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key<'a> {
    pub(super) phase: &'a PhaseName,
    pub(super) scenario: &'a ScenarioName,
    pub(super) at: LoadPoint,
    pub(super) candidate: &'a CandidateName,
}

/// The repetitions of a cell in the order of rounds.
#[derive(Debug)]
pub(super) struct Repetitions<'a> {
    pub(super) key: Key<'a>,
    pub(super) kept: Vec<Slot<'a>>,
    /// The first complete attempt of each block, whatever guards and people say.
    pub(super) everything: Vec<Slot<'a>>,
    pub(super) connections: u32,
    /// Windows that were measured, those of excluded attempts too.
    pub(super) attempted: u64,
}

/// Position in the manifest of phase, scenario, load point and candidate; then the key.
type Position<'a> = ([usize; 4], Key<'a>);

/// Every cell of the plan, in the order of the manifest.
pub(super) fn cells<'a>(
    selection: &Selection<'a>,
    experiment: &Experiment,
    plan: &'a Plan,
) -> Vec<Repetitions<'a>> {
    let mut cells: BTreeMap<Position<'a>, Repetitions<'a>> = BTreeMap::new();
    let attempted = tally(selection.attempts.iter().flat_map(|judged| {
        let block = &judged.attempt.block;
        judged.by_id.keys().map(move |id| (block, *id))
    }));
    let mut blocks: Vec<_> = plan.blocks.iter().collect();
    blocks.sort_by_key(|block| block.id.round);
    for block in blocks {
        for measurement in &block.measurements {
            let key = Key {
                phase: &block.id.phase,
                scenario: &measurement.id.scenario,
                at: measurement.id.at,
                candidate: &block.id.candidate,
            };
            let cell = cells
                .entry((position(&key, experiment), key))
                .or_insert_with(|| Repetitions {
                    key,
                    kept: Vec::new(),
                    everything: Vec::new(),
                    connections: measurement.connections,
                    attempted: 0,
                });
            let times = attempted.get(&(&block.id, &measurement.id));
            cell.attempted += times.copied().unwrap_or(0);
            let slot = |chosen: &BTreeMap<&BlockId, usize>| {
                let judged = &selection.attempts[*chosen.get(&block.id)?];
                Slot::of(judged, &measurement.id, experiment)
            };
            cell.kept.extend(slot(&selection.kept));
            cell.everything.extend(slot(&selection.everything));
        }
    }
    cells.into_values().collect()
}

fn position(key: &Key<'_>, experiment: &Experiment) -> [usize; 4] {
    let last = usize::MAX;
    let Some((phase_at, _, phase)) = experiment.phases.get_full(key.phase) else {
        return [last; 4];
    };
    let points = phase.load.points(key.scenario);
    [
        phase_at,
        experiment
            .scenarios
            .get_index_of(key.scenario)
            .unwrap_or(last),
        points.iter().position(|at| *at == key.at).unwrap_or(last),
        experiment
            .candidates
            .get_index_of(key.candidate)
            .unwrap_or(last),
    ]
}

impl Repetitions<'_> {
    /// What the repetitions showed besides their metrics.
    pub(super) fn summary(&self, experiment: &Experiment) -> Cell {
        let measured = || self.kept.iter().filter_map(|slot| slot.measured);
        let medians = |of: &dyn Fn(&Measured) -> Option<f64>| {
            Sample::of(measured().filter_map(of)).map(|sample| Decimal::from(sample.median()))
        };
        let candidate_cores = experiment.cores.get(&Role::Candidate);
        let foreign = |it: &Measured, of: fn(&guard::Foreign) -> u64| {
            let foreign = guard::foreign(it, candidate_cores?, experiment)?;
            over(of(&foreign), Window::of(it).length_ns())
        };
        let foreign_cores = medians(&|it| foreign(it, |foreign| foreign.low_ns));
        let foreign_most = medians(&|it| foreign(it, |foreign| foreign.high_ns));
        Cell {
            phase: self.key.phase.clone(),
            scenario: self.key.scenario.clone(),
            at: self.key.at,
            candidate: self.key.candidate.clone(),
            kept: length(&self.kept),
            accepted: u64::try_from(self.kept.iter().filter(|slot| slot.accepted).count())
                .unwrap_or(u64::MAX),
            attempted: self.attempted,
            outcomes: tally(self.kept.iter().map(|slot| slot.outcome)),
            ran_out: tally(self.kept.iter().map(|slot| ran_out(slot, experiment))),
            candidate_busy: medians(&|it| busy(it, &Role::Candidate, experiment)),
            generator_busy: medians(&|it| busy(it, &Role::Load, experiment)),
            foreign_at_most: foreign_most.filter(|most| Some(most) != foreign_cores.as_ref()),
            foreign_cores,
            steal: measured()
                .filter_map(|it| {
                    let window = Window::of(it);
                    let stolen = window.host_ns(candidate_cores?, |times| times.steal_ns)?;
                    over(stolen, window.capacity_ns(candidate_cores?))
                })
                .reduce(f64::max)
                .map(Decimal::from),
            softirq_per_request: medians(&|it| {
                let softirq = Window::of(it).host_ns(candidate_cores?, |times| times.softirq_ns)?;
                over(softirq, it.account.value()?.answered.get())
            }),
            idle_cores: medians(&|it| {
                let idle = it.idle.get(&Role::Candidate)?;
                over(idle.cpu_ns, idle.over_ns)
            }),
            not_steady: measured()
                .filter(|it| guard::is_unsteady(it, experiment.guards.not_steady) == Some(true))
                .map(|_| 1)
                .sum(),
            burst: measured()
                .filter_map(|it| it.account.value()?.burst.value().copied())
                .max(),
            connections: self.connections,
            requests: observe::requests(measured()),
            memory: observe::memory(self, experiment),
            watched: observe::watched(measured()),
        }
    }
}

fn length<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

fn over(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| whole(part) / whole(all))
}

fn tally<T: Ord>(items: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

/// CPU time of a role over what its cores had; absent where either is not known.
fn busy(measured: &Measured, role: &Role, experiment: &Experiment) -> Option<f64> {
    let window = Window::of(measured);
    let cpus = experiment.cores.get(role)?;
    over(window.cpu_ns(role).ok()?, window.capacity_ns(cpus))
}

/// Who ran out: a limit of the budget, the generator's, the candidate's or a service's cores, or
/// nobody; the first that applies.
pub(super) fn ran_out(slot: &Slot<'_>, experiment: &Experiment) -> RanOut {
    let at_limit = matches!(
        slot.outcome,
        Outcome::Oom | Outcome::LimitReached | Outcome::ConnectionsOverBudget
    );
    if at_limit {
        return RanOut::Budget;
    }
    let Some(measured) = slot.measured else {
        return RanOut::Nobody;
    };
    let is_busy = |role: &Role| {
        let share = busy(measured, role, experiment);
        share.is_some_and(|share| share > whole(BUSY.millionths()) / 1e6)
    };
    let mut services = experiment.services.keys().cloned().map(Role::Service);
    if guard::generator_ran_out(measured, experiment) {
        RanOut::Generator
    } else if is_busy(&Role::Candidate) {
        RanOut::Candidate
    } else if services.any(|service| is_busy(&service)) {
        RanOut::Service
    } else {
        RanOut::Nobody
    }
}
