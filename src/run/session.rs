//! A session: from its first record to its last, over every block that is left.

use super::bench::Bench;
use super::block::{self, Ended};
use super::broken::Broken;
use super::error::RunError;
use super::groups::Label;
use super::left::TimeLeft;
use super::observer::Notice;
use super::turn::{Stage, Turn};
use super::unmeasured::Tally;
use super::{Closing, calibration, rehearsal, role};
use crate::model::candidate::Lifetime;
use crate::model::plural::counted;
use crate::plan::Plan;
use crate::record::event::{Rehearsed, Session};
use crate::record::progress::{self, Next};
use crate::record::{Event, Progress, Records};

/// Measures every block that is left, and records how the session ended.
pub(super) async fn session<'a>(
    bench: &mut Bench<'a>,
    plan: &Plan,
    earlier: &Records,
    progress: &mut Progress,
) -> Result<Closing, RunError> {
    let rehearsed: Vec<Rehearsed> = earlier.rehearsals().into_iter().cloned().collect();
    begin(bench, plan, progress)?;
    let mut lasting = Stage::default();
    let mut course = Course {
        progress,
        left: TimeLeft::of(plan),
        tally: Tally::of(earlier),
    };
    let measured = measure(bench, plan, &rehearsed, &mut course, &mut lasting).await;
    let cleared = lasting.clear(bench).await;
    close(bench, &course, measured.and(cleared))
}

/// How far the run is, and what is known of it by then.
struct Course<'p> {
    progress: &'p mut Progress,
    left: TimeLeft,
    tally: Tally,
}

fn begin(bench: &mut Bench<'_>, plan: &Plan, progress: &Progress) -> Result<(), RunError> {
    let rig = bench.rig;
    bench.session = progress.sessions() + 1;
    let engines = rig.engines.iter();
    bench.record(Event::Session(Box::new(Session {
        number: bench.session,
        boot_id: rig.machine.boot_id.clone(),
        pid: std::process::id(),
        machine: rig.machine.identity(),
        set_aside: rig.set_aside.clone(),
        engines: engines
            .map(|(kind, engine)| (*kind, engine.describe()))
            .collect(),
        generator: rig.generator.facts(),
    })))?;
    bench.sync()?;
    let left = TimeLeft::of(plan).of_open(plan, progress, bench.experiment.attempts);
    bench.notice(Notice::Session {
        number: bench.session,
        done: progress
            .blocks()
            .iter()
            .filter(|block| block.asked && block.is_valid())
            .count(),
        blocks: progress.blocks().iter().filter(|it| it.asked).count(),
        left,
    });
    Ok(())
}

/// Services that live on, rehearsals, calibration, then every block.
async fn measure<'a>(
    bench: &mut Bench<'a>,
    plan: &Plan,
    rehearsed: &[Rehearsed],
    course: &mut Course<'_>,
    lasting: &mut Stage<'a>,
) -> Result<(), Broken> {
    let mut starts = 1;
    start_lasting(bench, lasting, starts).await?;
    rehearsal::every_candidate(bench, lasting, rehearsed).await?;
    calibration::calibrate(bench).await?;
    while let Some(next) = course.progress.next(bench.experiment.attempts) {
        bench.check_cancel()?;
        mend_lasting(bench, lasting, &mut starts).await?;
        one_block(bench, plan, course, lasting, &next).await?;
    }
    Ok(())
}

/// Starts the services that live as long as the session. `start` counts how often they were started.
async fn start_lasting<'a>(
    bench: &mut Bench<'a>,
    lasting: &mut Stage<'a>,
    start: u32,
) -> Result<(), Broken> {
    let Some(candidate) = bench.experiment.candidates.values().next() else {
        return Ok(());
    };
    let turn = Turn {
        candidate,
        attempt: None,
        label: Label {
            part: format!("s{}n{start}", bench.session),
            log: format!("session-{}.start-{start}", bench.session),
        },
    };
    role::services(bench, &turn, Lifetime::Run, &[], lasting).await
}

/// Starts the lasting services again when one of them broke.
async fn mend_lasting<'a>(
    bench: &mut Bench<'a>,
    lasting: &mut Stage<'a>,
    starts: &mut u32,
) -> Result<(), Broken> {
    let mut services = lasting.services.iter();
    if services.any(|service| service.watch.seen().is_broken()) {
        lasting.clear(bench).await?;
        *starts += 1;
        start_lasting(bench, lasting, *starts).await?;
    }
    Ok(())
}

/// Rehearses every candidate without measuring anything.
pub(super) async fn rehearse(bench: &mut Bench<'_>) -> Result<Vec<Rehearsed>, RunError> {
    let mut lasting = Stage::default();
    let rehearsed = match start_lasting(bench, &mut lasting, 1).await {
        Ok(()) => rehearsal::every_candidate(bench, &lasting, &[]).await,
        Err(broken) => Err(broken),
    };
    let cleared = lasting.clear(bench).await;
    let result = rehearsed.and_then(|rehearsed| cleared.map(|()| rehearsed));
    result.map_err(|broken| match broken {
        Broken::Fatal(error) => error,
        other => RunError::Beginning(other.to_string()),
    })
}

async fn one_block<'a>(
    bench: &mut Bench<'a>,
    plan: &Plan,
    course: &mut Course<'_>,
    lasting: &Stage<'a>,
    next: &Next,
) -> Result<(), Broken> {
    let (attempts, began_ns) = (bench.experiment.attempts, bench.now_ns());
    let block = &plan.blocks[next.position];
    let time = course.left.of_open(plan, course.progress, attempts);
    block::announce(bench, next, plan.blocks.len(), time);
    if block.standard && !bench.turn_to_standards() {
        let name = &block.id.candidate;
        let because = format!("the plan names the standard `{name}`, the experiment has none");
        return Err(RunError::Beginning(because).into());
    }
    let ended = block::attempt(bench, lasting, block, next).await;
    bench.turn_to_experiment();
    let ended = ended?;
    course.tally.add(&bench.attempt_records());
    let Course { progress, left, .. } = course;
    progress.ended(&next.attempt, progress::ending(&ended.finished));
    left.learn(block, bench.now_ns().saturating_sub(began_ns));
    let so_far = &progress.blocks()[next.position];
    let open = !so_far.is_valid() && so_far.tries() < attempts;
    let again = open && ended.goes_on();
    bench.notice(Notice::BlockFinished {
        finished: &ended.finished,
        again,
        left: left.of_open(plan, progress, attempts),
    });
    go_on(ended)
}

fn go_on(ended: Ended) -> Result<(), Broken> {
    if let Some(breach) = ended.ends_run() {
        return Err(Broken::Breach(breach.clone()));
    }
    ended
        .fatal
        .map_or(Ok(()), |error| Err(Broken::Fatal(error)))
}

/// Records how the session ended. An end that is no error of loadlab is a closing.
fn close(
    bench: &mut Bench<'_>,
    course: &Course<'_>,
    measured: Result<(), Broken>,
) -> Result<Closing, RunError> {
    let because = measured.as_ref().err().map(ToString::to_string);
    let attempts = bench.experiment.attempts;
    let closing = closing(course.progress, attempts, &course.tally, because);
    let measured = match measured {
        Err(Broken::Fatal(error)) if error.keeps_nothing() => return Err(error),
        other => other,
    };
    let whole = closing.complete && closing.not_asked == 0;
    let part = || {
        let blocks = counted(closing.not_asked as u64, "block was", "blocks were");
        format!("{blocks} not asked for")
    };
    let because = closing.because.clone();
    bench.record(Event::Closed {
        complete: whole,
        because: because.or_else(|| (!whole && closing.complete).then(part)),
    })?;
    bench.sync()?;
    bench.notice(Notice::Closed(&closing));
    match measured {
        Ok(()) => Ok(closing),
        Err(Broken::Fatal(error)) => Err(error),
        Err(Broken::Breach(breach)) if breach.code.ends_run() => Ok(closing),
        Err(Broken::Breach(breach)) => Err(RunError::Beginning(breach.evidence)),
        Err(Broken::Outcome(_, detail)) => Err(RunError::Beginning(detail)),
    }
}

/// What the run comes to.
pub(super) fn closing(
    progress: &Progress,
    attempts: u32,
    tally: &Tally,
    because: Option<String>,
) -> Closing {
    let blocks = progress.blocks();
    let count = |which: &dyn Fn(&progress::BlockProgress) -> bool| {
        blocks.iter().filter(|block| which(block)).count()
    };
    let valid = count(&progress::BlockProgress::is_valid);
    let left = count(&|block| block.is_open(attempts));
    let not_asked = count(&|block| !block.asked && block.is_unmeasured(attempts));
    Closing {
        complete: left == 0,
        because: because.filter(|_| left > 0),
        not_asked,
        valid,
        invalid: blocks.len() - valid - left - not_asked,
        left,
        unmeasured: tally.unmeasured(),
    }
}
