//! One try at a block: the steps of the method in their order.

use super::bench::Bench;
use super::broken::Broken;
use super::contract;
use super::error::RunError;
use super::groups::Label;
use super::measurement::Windows;
use super::observer::Notice;
use super::turn::{Begun, Stage, Turn};
use super::{prewarm, probing, role, scenario};
use crate::guard::Context;
use crate::model::candidate::Lifetime;
use crate::model::probe::ProbeTimes;
use crate::model::{GuardCode, Known, Outcome};
use crate::plan::Block;
use crate::record::Event;
use crate::record::event::{BlockFinished, BlockStarted, Breach, ProbeTime, StepKind};
use crate::record::progress::Next;

/// How a try at a block ended.
pub(super) struct Ended {
    pub(super) finished: BlockFinished,
    /// Why the run cannot go on, where it cannot.
    pub(super) fatal: Option<RunError>,
}

impl Ended {
    /// Whether a guard was breached that ends the run: the request to stop, an engine that is gone, or
    /// programs that are no longer those the run began with.
    pub(super) fn ends_run(&self) -> Option<&Breach> {
        let breaches = self.finished.breaches.iter();
        breaches.into_iter().find(|breach| breach.code.ends_run())
    }

    /// Whether the session goes on to another block.
    pub(super) fn goes_on(&self) -> bool {
        self.fatal.is_none() && self.ends_run().is_none()
    }
}

/// Everything that ended a block early, in order of time.
#[derive(Default)]
struct Ends {
    outcome: Option<(Outcome, String)>,
    breaches: Vec<Breach>,
    fatal: Option<RunError>,
}

impl Ends {
    fn take(&mut self, result: Result<(), Broken>) {
        match result {
            Ok(()) => {}
            Err(Broken::Outcome(outcome, detail)) => {
                self.outcome.get_or_insert((outcome, detail));
            }
            Err(Broken::Breach(breach)) => self.breaches.push(breach),
            Err(Broken::Fatal(error)) => {
                self.breaches.push(Breach {
                    code: GuardCode::HarnessError,
                    evidence: error.to_string(),
                    measurement: None,
                });
                self.fatal.get_or_insert(error);
            }
        }
    }

    fn is_sound(&self) -> bool {
        self.breaches.is_empty()
    }
}

/// Makes a try at a block. Whatever happens in it, its groups are cleaned up and its end is recorded.
pub(super) async fn attempt<'a>(
    bench: &mut Bench<'a>,
    lasting: &Stage<'a>,
    block: &Block,
    next: &Next,
) -> Result<Ended, RunError> {
    let candidate = bench.experiment.candidates.get(&block.id.candidate);
    let candidate = candidate.ok_or_else(|| {
        let name = &block.id.candidate;
        RunError::Beginning(format!(
            "the plan names candidate `{name}`, the experiment does not"
        ))
    })?;
    let turn = Turn {
        candidate,
        attempt: Some(next.attempt.clone()),
        label: Label {
            part: format!("b{:04}a{}", next.position, next.attempt.attempt),
            log: next.attempt.to_string(),
        },
    };
    begin(bench, block, next)?;
    let mut ends = Ends::default();
    let mut stage = Stage::default();
    ends.take(steps(bench, &turn, block, lasting, &mut stage).await);
    ends.take(clean_up(bench, &turn, &mut stage).await);
    ends.take(same_programs(bench));
    if ends.is_sound() && bench.experiment.probe.when == ProbeTimes::BeforeAndAfter {
        ends.take(probing::around(bench, &turn, ProbeTime::After).await);
    }
    finish(bench, next, ends)
}

/// Host readings; the intent is on disk before anything starts.
fn begin(bench: &mut Bench<'_>, block: &Block, next: &Next) -> Result<(), RunError> {
    bench.forget_attempt();
    let host = bench.rig.host.read();
    let host =
        host.map_err(|error| RunError::Unfit(format!("cannot read the machine: {error}")))?;
    bench.record(Event::BlockStarted(BlockStarted {
        attempt: next.attempt.clone(),
        position: u64::try_from(next.position).unwrap_or(u64::MAX),
        session: bench.session,
        method_key: block.method_key,
        environment_key: block.environment_key,
        host,
    }))?;
    Ok(bench.sync()?)
}

/// The steps from the probe to the last measurement.
async fn steps<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'a>,
    block: &Block,
    lasting: &Stage<'a>,
    stage: &mut Stage<'a>,
) -> Result<(), Broken> {
    bench.check_cancel()?;
    same_programs(bench)?;
    probing::around(bench, turn, ProbeTime::Before).await?;
    role::services(bench, turn, Lifetime::Block, &lasting.services, stage).await?;
    prewarm::of_experiment(bench, turn, lasting, stage).await?;
    let candidate = role::candidate(bench, turn, lasting, stage).await?;
    prewarm::of_role(bench, turn, &candidate, StepKind::CandidatePrewarm).await?;
    contract::check(bench, turn, &candidate).await?;
    let mut windows = Windows {
        candidate: &candidate,
        lasting,
        stage,
        made: 0,
    };
    for measurement in &block.measurements {
        scenario::measure(bench, turn, &mut windows, measurement).await?;
    }
    Ok(())
}

/// Nothing is measured with programs that are not those the session began with.
fn same_programs(bench: &Bench<'_>) -> Result<(), Broken> {
    let changed = bench.rig.pinned.changed();
    if changed.is_empty() {
        return Ok(());
    }
    Err(Broken::breach(GuardCode::ImageMismatch, changed.join("; ")))
}

/// Stops the candidate and the block's services, waits until the records are on disk, and only then
/// cleans up.
async fn clean_up(
    bench: &mut Bench<'_>,
    turn: &Turn<'_>,
    stage: &mut Stage<'_>,
) -> Result<(), Broken> {
    let begun = Begun::step(bench, turn, StepKind::Stopped, turn.candidate.name.as_str());
    let stopped = stage.groups.stop_all(bench).await.map_err(Broken::from);
    let stopped = begun.close(bench, stopped);
    let cleared = stage.clear(bench).await;
    stopped.and(cleared)
}

/// Judges the try and records its end.
fn finish(bench: &mut Bench<'_>, next: &Next, mut ends: Ends) -> Result<Ended, RunError> {
    if let Some(error) = ends.fatal.take_if(|error| error.keeps_nothing()) {
        return Err(error);
    }
    let context = Context {
        experiment: bench.experiment,
        calibrated: bench.calibrated.as_ref(),
    };
    let mut breaches = ends.breaches;
    let rules = &bench.rig.rules;
    breaches.extend(rules.judge(&bench.attempt_records(), &context).breaches);
    let finished = BlockFinished {
        attempt: next.attempt.clone(),
        outcome: ends.outcome,
        breaches,
        host: Known::from(bench.rig.host.read()),
    };
    bench.record(Event::BlockFinished(finished.clone()))?;
    bench.sync()?;
    Ok(Ended {
        finished,
        fatal: ends.fatal,
    })
}

/// Tells that a try begins.
pub(super) fn announce(
    bench: &mut Bench<'_>,
    next: &Next,
    blocks: usize,
    left: std::time::Duration,
) {
    bench.notice(Notice::BlockStarted {
        attempt: &next.attempt,
        position: next.position,
        blocks,
        left,
    });
}
