//! Standards: what is planted, on which load, and whether the candidate's budget has room for it.

use std::collections::BTreeMap;

use super::context::{Context, Fault, texts};
use super::feasible::part_of;
use super::reference::{self, Phases};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::name::{ExperimentName, PhaseName};
use crate::model::standards::{Difference, NAMES, Standards};
use crate::model::{Budget, LoadShape, Nanoseconds, Phase, Rate, Role, Share};

const AT: &str = "/standards";
/// The highest rate that is taken from a phase.
const USUAL_RATE: u64 = 5_000;
/// The test server's usual work for each request.
const USUAL_WORK: Nanoseconds = Nanoseconds(150_000);
/// Most of a core that the usual work keeps busy.
const USUAL_BUSY: Share = Share::percent(40);
/// Most of a core that planted work may keep busy: the rest is what a request costs in itself.
const MOST_BUSY: Share = Share::percent(70);
/// What a process of loadlab's own needs beside what is planted, bytes.
const OWN_MEMORY: u64 = 16 << 20;

/// Plants the standards of an experiment, scaled for a rehearsal; absent where the manifest asks for
/// none, or where they have no phase.
pub(super) fn standards(
    wire: Option<wire::Standards>,
    (experiment, scale): (&ExperimentName, Option<Share>),
    phases: &Phases,
    budgets: &BTreeMap<Role, Budget>,
    context: &mut Context<'_>,
) -> Option<Standards> {
    let wire = wire?;
    names_are_free(context);
    let differences = differences(wire.differences, context);
    let share = share(wire.share, context);
    let phase = phase(wire.phase.map(|name| name.0), phases, context)?;
    let rate = rate(wire.rate.map(|rate| rate.0), phase, scale);
    let work = wire.work.map_or_else(|| usual_work(rate), |work| work.0);
    leaves_room(rate, work, &differences, context);
    fits_memory(&differences, budgets, context);
    let load = (phase.name.clone(), rate, share);
    Some(Standards::plant(experiment, load, work, &differences))
}

/// No candidate is called like a planted server.
fn names_are_free(context: &mut Context<'_>) {
    for name in context.names.candidates.clone() {
        if name.as_str().starts_with(NAMES) {
            let message = format!(
                "a candidate cannot be called `{name}` where there are standards: planted servers are called `{NAMES}01` and so on"
            );
            let pointer = below("/candidates", name.as_str());
            let fault = Fault::new(DiagnosticCode::ReservedName, &pointer, message).on_key();
            context.report(fault.touching(AT));
        }
    }
}

fn differences(
    wire: wire::NonEmpty<wire::Difference>,
    context: &mut Context<'_>,
) -> Vec<Difference> {
    let at = below(AT, "differences");
    let mut differences: Vec<Difference> = Vec::new();
    for (index, written) in wire.0.into_iter().enumerate() {
        let difference = difference(&written);
        let pointer = below(&at, &index.to_string());
        if differences.contains(&difference) {
            let message = format!("{difference} is planted twice");
            context.report(Fault::new(DiagnosticCode::PlantedTwice, &pointer, message));
            continue;
        }
        is_meant(difference, &pointer, context);
        differences.push(difference);
    }
    differences
}

const fn difference(wire: &wire::Difference) -> Difference {
    use wire::DifferenceKind::{Cpu, Delay, Memory, Nginx};
    match wire {
        wire::Difference::Cpu(by) | wire::Difference::Kind(Cpu { by }) => {
            Difference::Cpu { by: by.0 }
        }
        wire::Difference::Kind(Nginx { by }) => Difference::Nginx { by: by.0 },
        wire::Difference::Kind(Delay { by }) => Difference::Delay { by: by.0 },
        wire::Difference::Kind(Memory { by }) => Difference::Memory { by: by.0 },
    }
}

/// A difference is within what can be planted exactly.
fn is_meant(difference: Difference, pointer: &str, context: &mut Context<'_>) {
    let (fits, limits) = match difference {
        Difference::Cpu { by } | Difference::Nginx { by } => {
            (by <= Share::percent(100), "at most 100%")
        }
        Difference::Delay { by } => (
            (100_000..=1_000_000_000).contains(&by.0),
            "from 100us to 1s",
        ),
        Difference::Memory { by } => ((1 << 20..=1 << 34).contains(&by.0), "from 1MiB to 16GiB"),
    };
    if !fits {
        let message = format!("{difference} cannot be planted; expected {limits}");
        context.report(Fault::new(DiagnosticCode::BeyondMeaning, pointer, message));
    }
}

fn share(wire: Option<wire::Share>, context: &mut Context<'_>) -> Share {
    let share = wire.map_or(Share::percent(25), |share| share.0);
    if share.millionths() == 0 || share > Share::percent(90) {
        let message = format!("`share` is {share}; expected more than 0% and at most 90%");
        let pointer = below(AT, "share");
        context.report(Fault::new(DiagnosticCode::BeyondMeaning, &pointer, message));
    }
    share
}

/// The fixed-rate phase that is named, or the first one.
fn phase<'p>(
    name: Option<PhaseName>,
    phases: &'p Phases,
    context: &mut Context<'_>,
) -> Option<&'p Phase> {
    let is_fixed = |phase: &&Phase| matches!(phase.load, LoadShape::FixedRate { .. });
    let pointer = below(AT, "phase");
    let known = || {
        let fixed: Vec<PhaseName> = phases
            .values()
            .filter(is_fixed)
            .map(|it| it.name.clone())
            .collect();
        format!("phases at a fixed rate: {}", texts(&fixed).join(", "))
    };
    let Some(name) = name else {
        let first = phases.values().find(is_fixed);
        if first.is_none() {
            let message = "standards stand in a phase at a fixed rate, and there is none";
            let fault = Fault::new(DiagnosticCode::WrongPhase, AT, message).on_key();
            context.report(fault.touching("/phases"));
        }
        return first;
    };
    let found = reference::phase(&name, &pointer, phases, context)?;
    if !is_fixed(&found) {
        let message = format!("`{name}` is a ceiling; standards stand in a phase at a fixed rate");
        let fault = Fault::new(DiagnosticCode::WrongPhase, &pointer, message).help(known());
        context.report(fault.touching(below("/phases", name.as_str())));
        return None;
    }
    Some(found)
}

/// The rate of the planted servers: as it is written, scaled for a rehearsal, or the phase's first one.
fn rate(written: Option<Rate>, phase: &Phase, scale: Option<Share>) -> Rate {
    let per_second = match (written, scale) {
        (Some(rate), Some(scale)) => part_of(rate.get(), scale),
        (Some(rate), None) => rate.get(),
        (None, _) => match &phase.load {
            LoadShape::FixedRate { rates, .. } => {
                let first = rates.values().flatten().next();
                first.map_or(USUAL_RATE, |rate| rate.get().min(USUAL_RATE))
            }
            LoadShape::Ceiling { .. } => USUAL_RATE,
        },
    };
    Rate::per_second(per_second.max(1)).expect("at least one a second")
}

/// Whole microseconds that keep a core busy for no more than is usual.
fn usual_work(rate: Rate) -> Nanoseconds {
    let busy = USUAL_BUSY.millionths() * 1_000 / rate.get();
    Nanoseconds(USUAL_WORK.0.min(busy / 1_000 * 1_000))
}

/// The planted work leaves room on the one core that a test server can use.
fn leaves_room(
    rate: Rate,
    work: Nanoseconds,
    differences: &[Difference],
    context: &mut Context<'_>,
) {
    let extra = differences
        .iter()
        .filter_map(|difference| match difference {
            Difference::Cpu { by } => Some(by.millionths()),
            _ => None,
        });
    let most = 1_000_000 + extra.max().unwrap_or(0);
    let busy = u128::from(rate.get()) * u128::from(work.0) * u128::from(most) / 1_000_000_000;
    if busy > u128::from(MOST_BUSY.millionths()) {
        let message = format!(
            "{work} of work for each of {rate} keep {} % of a core busy; expected at most {MOST_BUSY}",
            busy / 10_000
        );
        let (at_work, at_rate) = (below(AT, "work"), below(AT, "rate"));
        let written = context.tree.find(&at_work).key.is_some();
        let pointer = if written { &at_work } else { AT };
        let fault = Fault::new(DiagnosticCode::StandardsTooHeavy, pointer, message);
        context.report(fault.touching(at_rate).touching("/phases"));
    }
}

fn fits_memory(
    differences: &[Difference],
    budgets: &BTreeMap<Role, Budget>,
    context: &mut Context<'_>,
) {
    let limit = budgets
        .get(&Role::Candidate)
        .and_then(|budget| budget.memory);
    let Some(limit) = limit else { return };
    for (index, difference) in differences.iter().enumerate() {
        if let Difference::Memory { by } = difference
            && by.0.saturating_add(OWN_MEMORY) > limit.0
        {
            let message =
                format!("{by} cannot be planted: the candidate's budget is {limit} altogether");
            let pointer = below(&below(AT, "differences"), &index.to_string());
            let fault = Fault::new(DiagnosticCode::StandardsTooHeavy, &pointer, message);
            context.report(fault.touching("/budgets/candidate/memory"));
        }
    }
}
