//! One scenario at one load point for one candidate: its repetitions and what they showed.

use std::collections::BTreeMap;

use crate::model::{CandidateName, Experiment, LoadPoint, PhaseName, ScenarioName};
use crate::plan::Plan;

use super::centre::Sample;
use super::kept::Selection;
use super::observe;
use super::shown::{Shown, is_at_limit};
use super::slot::Slot;
use super::summary::{Cell, Decimal, RanOut};

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

/// Every cell of the plan, in the order of the manifest.
pub(super) fn cells<'a>(
    selection: &Selection<'a>,
    experiment: &Experiment,
    plan: &'a Plan,
) -> Vec<Repetitions<'a>> {
    let mut cells: BTreeMap<Key<'a>, Repetitions<'a>> = BTreeMap::new();
    let mut blocks: Vec<_> = plan.blocks.iter().collect();
    blocks.sort_by_key(|block| block.id.round);
    for block in blocks {
        let attempts = selection.attempts_at(&block.id);
        let kept = selection.kept.get(&block.id);
        let everything = selection.everything.get(&block.id);
        for measurement in &block.measurements {
            let key = Key {
                phase: &block.id.phase,
                scenario: &measurement.id.scenario,
                at: measurement.id.at,
                candidate: &block.id.candidate,
            };
            let cell = cells.entry(key).or_insert_with(|| Repetitions {
                key,
                kept: Vec::new(),
                everything: Vec::new(),
                connections: measurement.connections,
                attempted: 0,
            });
            let times = attempts.iter().map(|judged| judged.times(&measurement.id));
            cell.attempted += times.sum::<u64>();
            let slot = |chosen: Option<&usize>| {
                let judged = &selection.attempts[*chosen?];
                Slot::of(judged, &measurement.id, experiment)
            };
            cell.kept.extend(slot(kept));
            cell.everything.extend(slot(everything));
        }
    }
    let mut cells: Vec<_> = cells.into_values().collect();
    // Those of one place keep the order of their keys.
    cells.sort_by_cached_key(|cell| position(&cell.key, experiment));
    cells
}

/// Position in the manifest of phase, scenario, load point and candidate.
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
        let shown = || self.kept.iter().filter_map(|slot| slot.shown);
        let medians = |of: fn(&Shown) -> Option<f64>| {
            Sample::of(shown().filter_map(of)).map(|sample| Decimal::from(sample.median()))
        };
        let counted = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let foreign_cores = medians(|it| it.foreign.map(|(low, _)| low));
        let foreign_most = medians(|it| it.foreign.map(|(_, high)| high));
        Cell {
            phase: self.key.phase.clone(),
            scenario: self.key.scenario.clone(),
            at: self.key.at,
            candidate: self.key.candidate.clone(),
            kept: counted(self.kept.len()),
            accepted: counted(self.kept.iter().filter(|slot| slot.accepted).count()),
            attempted: self.attempted,
            outcomes: tally(self.kept.iter().map(|slot| slot.outcome)),
            ran_out: tally(self.kept.iter().map(ran_out)),
            candidate_busy: medians(|it| it.candidate_busy),
            generator_busy: medians(|it| it.generator_busy),
            foreign_at_most: foreign_most.filter(|most| Some(most) != foreign_cores.as_ref()),
            foreign_cores,
            steal: shown()
                .filter_map(|it| it.steal)
                .reduce(f64::max)
                .map(Decimal::from),
            softirq_per_request: medians(|it| it.softirq_per_request),
            idle_cores: medians(|it| it.idle_cores),
            not_steady: counted(shown().filter(|it| it.is_unsteady).count()),
            burst: shown().filter_map(|it| it.burst).max(),
            connections: self.connections,
            requests: observe::requests(shown()),
            memory: observe::memory(self, experiment),
            watched: observe::watched(shown()),
        }
    }
}

fn tally<T: Ord>(items: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

/// Who ran out; of a block that ended before the window only a limit of its budget is known.
fn ran_out(slot: &Slot<'_>) -> RanOut {
    match slot.shown {
        Some(shown) => shown.ran_out,
        None if is_at_limit(slot.outcome) => RanOut::Budget,
        None => RanOut::Nobody,
    }
}
