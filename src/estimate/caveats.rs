//! What weakens a conclusion: of the run, of its plan, of kept attempts, of comparisons.

use std::collections::BTreeMap;

use crate::model::cores::Sharing;
use crate::model::experiment::OrderRule;
use crate::model::plural::counted;
use crate::model::{Caveat, Experiment, LoadPoint, Metric, PhaseName, Role};

use super::kept::Selection;
use super::readings::Readings;
use super::summary::{BlockCounts, CaveatNote, Estimate};

/// Attempts by which the exclusions of two candidates may differ.
const EQUAL_EXCLUSIONS: u64 = 1;

/// Every caveat, in the order of the list of codes, each once; where it holds in several places,
/// with how many and the first. Steal that was unknown when the run began is known once some was seen.
pub(super) fn caveats(
    readings: &Readings,
    experiment: &Experiment,
    selection: &Selection<'_>,
    counts: &[BlockCounts],
    of_rig: Vec<CaveatNote>,
    of_comparisons: Vec<CaveatNote>,
) -> Vec<CaveatNote> {
    let recorded = (readings.opened).iter().flat_map(|opened| &opened.caveats);
    let seen_later = readings.counters.steal_was_seen;
    let recorded: Vec<CaveatNote> = recorded
        .filter(|(code, _)| !(*code == Caveat::StealUnknown && seen_later))
        .map(|(code, detail)| CaveatNote {
            code: *code,
            detail: detail.clone(),
        })
        .collect();
    let mut found = of_plan(experiment);
    found.retain(|note| !recorded.iter().any(|known| known.code == note.code));
    found.extend(recorded);
    found.extend(unequal_exclusion(counts));
    found.extend(judged_after(selection));
    found.extend(together(of_attempts(selection)));
    found.extend(together(of_rig));
    found.extend(together(of_comparisons));
    found.sort();
    found.dedup();
    found
}

fn length<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

fn note(code: Caveat, detail: impl Into<String>) -> CaveatNote {
    CaveatNote {
        code,
        detail: detail.into(),
    }
}

/// What follows from the experiment alone.
fn of_plan(experiment: &Experiment) -> Vec<CaveatNote> {
    let mut found = Vec::new();
    let shared = shared_cores(experiment);
    if experiment.sharing == Sharing::Declared || !shared.is_empty() {
        found.push(note(Caveat::SharedCores, shared.join("; ")));
    }
    for phase in experiment.phases.values() {
        let (candidates, rounds) = (phase.candidates.len(), phase.repetitions);
        if candidates > 1 {
            found.extend(order(
                experiment.order.rule,
                candidates,
                rounds,
                &phase.name,
            ));
        }
        let scenarios = phase.load.scenarios().len();
        if scenarios > 1 {
            let detail = format!("{scenarios} scenarios of a block in {}", phase.name);
            found.push(note(Caveat::SharedProcess, detail));
        }
    }
    if experiment
        .scenarios
        .values()
        .any(|scenario| scenario.expect.body.is_some())
    {
        let detail = "samples before and after each window, and the sum of all lengths";
        found.push(note(Caveat::BodyUnseen, detail));
    }
    found
}

fn shared_cores(experiment: &Experiment) -> Vec<String> {
    let roles: Vec<_> = experiment
        .cores
        .iter()
        .filter(|(role, _)| **role != Role::Probe)
        .collect();
    let mut shared = Vec::new();
    for (position, (role, cpus)) in roles.iter().enumerate() {
        for (other, others) in &roles[position + 1..] {
            let common = cpus.common(others);
            if !common.is_empty() {
                let common: Vec<String> = common.iter().map(ToString::to_string).collect();
                shared.push(format!(
                    "{role} and {other} share CPU {}",
                    common.join(", ")
                ));
            }
        }
    }
    shared
}

/// A Williams design has k rounds for an even number of candidates and 2k for an odd one.
fn order(rule: OrderRule, candidates: usize, rounds: u32, phase: &PhaseName) -> Option<CaveatNote> {
    let balanced = if candidates.is_multiple_of(2) {
        candidates
    } else {
        2 * candidates
    };
    let is_incomplete =
        usize::try_from(rounds).is_ok_and(|rounds| !rounds.is_multiple_of(balanced));
    match rule {
        OrderRule::Balanced if is_incomplete => {
            let detail = format!("{rounds} rounds in {phase}, a balanced design has {balanced}");
            Some(note(Caveat::IncompleteBalance, detail))
        }
        OrderRule::Rotated => Some(note(Caveat::PlainRotation, format!("in {phase}"))),
        OrderRule::Balanced | OrderRule::Random => None,
    }
}

fn unequal_exclusion(counts: &[BlockCounts]) -> Vec<CaveatNote> {
    let mut by_phase: BTreeMap<&PhaseName, Vec<&BlockCounts>> = BTreeMap::new();
    for count in counts {
        by_phase.entry(&count.phase).or_default().push(count);
    }
    let unequal = |(phase, counts): (&PhaseName, Vec<&BlockCounts>)| {
        let excluded = |count: &&&BlockCounts| count.excluded;
        let fewest = counts.iter().min_by_key(excluded)?;
        let most = counts.iter().max_by_key(excluded)?;
        (most.excluded - fewest.excluded > EQUAL_EXCLUSIONS).then(|| {
            let detail = format!(
                "in {phase}: {} of {}, {} of {}",
                counted(most.excluded, "attempt", "attempts"),
                most.candidate,
                fewest.excluded,
                fewest.candidate
            );
            note(Caveat::UnequalExclusion, detail)
        })
    };
    by_phase.into_iter().filter_map(unequal).collect()
}

fn judged_after(selection: &Selection<'_>) -> Option<CaveatNote> {
    let first = selection.judged_after.first()?;
    let detail = format!(
        "{}, the first is {first}",
        counted(length(&selection.judged_after), "block", "blocks")
    );
    Some(note(Caveat::JudgedAfter, detail))
}

fn of_attempts(selection: &Selection<'_>) -> Vec<CaveatNote> {
    let kept = selection
        .kept
        .values()
        .map(|position| &selection.attempts[*position]);
    kept.flat_map(|judged| judged.tried.verdict.caveats.iter().cloned())
        .collect()
}

/// Notes with the same code become one that says how many there are and the first.
fn together(notes: Vec<CaveatNote>) -> Vec<CaveatNote> {
    let mut by_code: BTreeMap<Caveat, (u64, String)> = BTreeMap::new();
    for CaveatNote { code, detail } in notes {
        by_code
            .entry(code)
            .and_modify(|(times, _)| *times += 1)
            .or_insert((1, detail));
    }
    let summed = |(code, (times, first)): (Caveat, (u64, String))| {
        let detail = if times == 1 {
            first
        } else {
            format!("{times} times; the first: {first}")
        };
        note(code, detail)
    };
    by_code.into_iter().map(summed).collect()
}

/// Response times under twice the probe's: they are the rig's own floor, and marked as such.
pub(super) fn rig_floor(
    readings: &Readings,
    experiment: &Experiment,
    estimates: &mut [Estimate],
) -> Vec<CaveatNote> {
    let mut floors: BTreeMap<Metric, Option<f64>> = BTreeMap::new();
    let mut found = Vec::new();
    for estimate in estimates {
        let (Metric::Latency(quantile), LoadPoint::Rate(_), Some(value)) =
            (estimate.metric, estimate.at, &estimate.value)
        else {
            continue;
        };
        let floor = floors
            .entry(estimate.metric)
            .or_insert_with(|| readings.probes.median(quantile));
        let Some(floor) = *floor else { continue };
        if value.get() < 2.0 * floor {
            estimate.rig_floor = true;
            let detail = format!(
                "{quantile} of {} {} at {} is {:.0} ns, the probe's at {} is {floor:.0} ns",
                estimate.candidate,
                estimate.scenario,
                estimate.at,
                value.get(),
                experiment.probe.rate
            );
            found.push(note(Caveat::RigFloor, detail));
        }
    }
    found
}
