//! `generator_saturated`: the generator used nearly all of its cores at a rate that was not held.
//!
//! Below that, `generator_busy` says that part of the latency is the generator's own; in a closed
//! loop a generator that ran out invalidates nothing: the value is "at least" (`ceiling_of_rig`).

use crate::model::phase::LoadShape;
use crate::model::{Caveat, Experiment, GuardCode, LoadPoint, Role};
use crate::record::event::Measured;

use super::share::{exceeds, percent};
use super::{Context, Verdict, Window, holds, inside, place};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let guards = &context.experiment.guards;
    let Some((busy, capacity)) = busy(measured, context.experiment) else {
        return Verdict::default();
    };
    let seen = || {
        format!(
            "the generator used {} of its cores",
            percent(busy, capacity)
        )
    };
    let ran_out = exceeds(busy, capacity, guards.generator_busy_invalid);
    let closed_loop = matches!(measured.id.at, LoadPoint::Connections(_));
    if ran_out && closed_loop {
        Verdict::caveat(
            Caveat::CeilingOfRig,
            format!("{}: {}", place(measured), seen()),
        )
    } else if ran_out && !is_held(measured, context.experiment) {
        let evidence = format!(
            "{} at a rate that was not held, invalid above {}",
            seen(),
            guards.generator_busy_invalid
        );
        Verdict::breach(GuardCode::GeneratorSaturated, evidence, Some(&measured.id))
    } else if exceeds(busy, capacity, guards.generator_busy_caveat) && !closed_loop {
        Verdict::caveat(
            Caveat::GeneratorBusy,
            format!("{}: {}", place(measured), seen()),
        )
    } else {
        Verdict::default()
    }
}

/// CPU time of the generator and what its cores had, nanoseconds; absent: not known.
#[must_use]
pub fn busy(measured: &Measured, experiment: &Experiment) -> Option<(u64, u64)> {
    let window = Window::of(measured);
    let cpus = experiment.cores.get(&Role::Load)?;
    Some((window.cpu_ns(&Role::Load).ok()?, window.capacity_ns(cpus)))
}

/// Whether the generator ran out of its cores in a window; false where it is not known.
#[must_use]
pub fn ran_out(measured: &Measured, experiment: &Experiment) -> bool {
    busy(measured, experiment).is_some_and(|(busy, capacity)| {
        exceeds(busy, capacity, experiment.guards.generator_busy_invalid)
    })
}

fn is_held(measured: &Measured, experiment: &Experiment) -> bool {
    let phase = experiment.phases.get(&measured.attempt.block.phase);
    let (Some(LoadShape::FixedRate { held_at, .. }), LoadPoint::Rate(rate)) =
        (phase.map(|phase| &phase.load), measured.id.at)
    else {
        return true;
    };
    let scenario = experiment.scenarios.get(&measured.id.scenario);
    let status = scenario.map_or(200, |scenario| scenario.expect.status);
    let planned = rate.planned(crate::model::Nanoseconds(measured.window_ns));
    measured
        .account
        .value()
        .is_some_and(|account| holds(inside(account, status), planned, *held_at))
}
