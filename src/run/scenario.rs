//! One scenario of a block: one warm-up, then quiet, then a measurement per load point.

use super::answers::{bound, checked};
use super::bench::Bench;
use super::broken::Broken;
use super::measurement::{self, Windows};
use super::observer::Notice;
use super::quiet;
use super::role::Running;
use super::shooting::{Next, Shooting};
use super::turn::{Stage, Turn};
use crate::model::account::BoundRequest;
use crate::model::{
    Experiment, Known, LoadPoint, LoadShape, Metric, Nanoseconds, Phase, Quantile, Scenario, Shot,
};
use crate::plan::Measurement;
use crate::record::Event;
use crate::record::event::{Check, WarmedUp};

/// Answers sampled under warm-up load, at most: one a second.
const SAMPLES: usize = 3;

/// A scenario in a phase with its request bound.
pub(super) struct Scene<'a> {
    pub(super) phase: &'a Phase,
    pub(super) scenario: &'a Scenario,
    pub(super) request: BoundRequest,
}

impl<'a> Scene<'a> {
    /// The scenario of a planned measurement, with its request bound to the candidate.
    pub(super) fn of(
        bench: &Bench<'a>,
        turn: &Turn<'_>,
        measurement: &Measurement,
        candidate: &Running<'_>,
    ) -> Result<Self, Broken> {
        let experiment: &'a Experiment = bench.experiment;
        let phase = turn.attempt.as_ref().map(|attempt| &attempt.block.phase);
        let phase = phase.and_then(|phase| experiment.phases.get(phase));
        let scenario = experiment.scenarios.get(&measurement.id.scenario);
        let (Some(phase), Some(scenario)) = (phase, scenario) else {
            let place = &measurement.id;
            return Err(Broken::harness(format!(
                "the experiment has no such measurement as {place}"
            )));
        };
        Ok(Self {
            phase,
            scenario,
            request: bound(&scenario.request, &candidate.bindings, &bench.files)?,
        })
    }

    /// The load of a window.
    pub(super) fn shot(
        &self,
        at: LoadPoint,
        connections: u32,
        duration: Nanoseconds,
        threads: u32,
    ) -> Shot {
        let common = self.phase.load.common();
        let mut shot = Shot {
            request: self.request.clone(),
            at,
            connections,
            duration,
            timeout: common.timeout,
            threads,
            keep_requests: false,
            status: self.scenario.expect.status,
            quantiles: quantiles(self.phase),
        };
        let planned = shot.planned().unwrap_or(u64::MAX);
        shot.keep_requests = planned <= common.keep_requests;
        shot
    }

    /// The load of the warm-up: the first load point, or the largest number of connections.
    fn warmup(&self, first: &Measurement, duration: Nanoseconds, threads: u32) -> Shot {
        let largest = match &self.phase.load {
            LoadShape::Ceiling { connections, .. } => connections.iter().max().copied(),
            LoadShape::FixedRate { .. } => None,
        };
        let (at, connections) = largest.map_or((first.id.at, first.connections), |largest| {
            (LoadPoint::Connections(largest), largest)
        });
        let shot = self.shot(at, connections, duration, threads);
        Shot {
            keep_requests: false,
            ..shot
        }
    }
}

/// The quantiles that are always recorded, and those that the phase reports.
fn quantiles(phase: &Phase) -> Vec<Quantile> {
    let asked = phase.estimate.keys().filter_map(|metric| match metric {
        Metric::Latency(quantile) => Some(*quantile),
        _ => None,
    });
    let mut quantiles: Vec<Quantile> = Quantile::PRINTED.into_iter().chain(asked).collect();
    quantiles.sort_unstable();
    quantiles.dedup();
    quantiles
}

/// Warms up where the plan says so, waits for quiet, then measures.
pub(super) async fn measure<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'a>,
    windows: &mut Windows<'_, 'a>,
    measurement: &Measurement,
) -> Result<(), Broken> {
    bench.check_cancel()?;
    let scene = Scene::of(bench, turn, measurement, windows.candidate)?;
    if let Some(warmup) = measurement.warmup {
        warm_up(bench, turn, windows, &scene, measurement, warmup).await?;
        let longest = scene.phase.load.common().quiet;
        quiet::wait(bench, turn, &windows.candidate.place, longest).await?;
    }
    measurement::measure(bench, turn, windows, &scene, measurement).await
}

async fn warm_up(
    bench: &mut Bench<'_>,
    turn: &Turn<'_>,
    windows: &mut Windows<'_, '_>,
    scene: &Scene<'_>,
    first: &Measurement,
    duration: Nanoseconds,
) -> Result<(), Broken> {
    let Some(attempt) = turn.attempt.clone() else {
        return Ok(());
    };
    let scenario = &scene.scenario.name;
    bench.notice(Notice::WarmingUp {
        attempt: &attempt,
        scenario,
        duration: duration.duration(),
    });
    let shot = scene.warmup(first, duration, bench.load_threads()?);
    let label = windows.label(turn, &format!("{scenario}.warm-up"));
    let address = windows.candidate.address()?;
    let Stage { groups, .. } = &mut *windows.stage;
    let mut shooting = Shooting::aim(bench, groups, &shot, &address, &label).await?;
    shooting.release().await?;
    let (account, samples) = under_load(bench, windows.candidate, scene, &mut shooting).await?;
    windows
        .stage
        .groups
        .stop(bench, &crate::model::Role::Load)
        .await?;
    bench.record(Event::WarmedUp(Box::new(WarmedUp {
        attempt,
        scenario: scenario.clone(),
        account,
        samples,
    })))?;
    windows.still_there().await
}

/// Samples answers while the warm-up runs.
async fn under_load(
    bench: &Bench<'_>,
    candidate: &Running<'_>,
    scene: &Scene<'_>,
    shooting: &mut Shooting,
) -> Result<(Known<crate::model::Account>, Vec<Check>), Broken> {
    let expect = &scene.scenario.expect;
    let within = scene.phase.load.common().timeout;
    let mut samples = Vec::new();
    loop {
        match shooting.next(bench).await? {
            Next::Second(_) if samples.len() < SAMPLES => {
                let asked = checked(candidate, &scene.request, expect, &bench.files, within);
                samples.push(bench.unless_cancelled(asked).await??);
            }
            Next::Second(_) => {}
            Next::Ended(exit) => {
                let shown = shooting.shown(bench, exit).await?;
                return Ok((shown.account, samples));
            }
            Next::Overdue => return Err(Broken::harness(shooting.overdue())),
        }
    }
}
