//! The rehearsal: every candidate is started once and asked everything once, without load.

use super::answers::{bound, checked};
use super::bench::Bench;
use super::broken::Broken;
use super::contract::{self, ANSWER_WITHIN};
use super::groups::Label;
use super::observer::Notice;
use super::turn::{Stage, Turn};
use super::{prewarm, role};
use crate::model::Candidate;
use crate::model::candidate::Lifetime;
use crate::record::Event;
use crate::record::event::{Check, Rehearsed, StepKind};

/// Rehearses every candidate that the records do not have, and every planted server, and records it.
/// What a candidate cannot do is recorded and is no reason to stop: its blocks will show it. Yields
/// the new rehearsals.
pub(super) async fn every_candidate<'a>(
    bench: &mut Bench<'a>,
    lasting: &Stage<'a>,
    earlier: &[Rehearsed],
) -> Result<Vec<Rehearsed>, Broken> {
    let mut new = Vec::new();
    for rehearsed in earlier {
        bench.reference.learn(bench.experiment, rehearsed);
    }
    every_one(bench, lasting, earlier, &mut new).await?;
    if bench.turn_to_standards() {
        let standards = every_one(bench, lasting, earlier, &mut new).await;
        bench.turn_to_experiment();
        standards?;
    }
    bench.sync()?;
    Ok(new)
}

/// Rehearses the candidates of the one whose turn it is.
async fn every_one<'a>(
    bench: &mut Bench<'a>,
    lasting: &Stage<'a>,
    earlier: &[Rehearsed],
    new: &mut Vec<Rehearsed>,
) -> Result<(), Broken> {
    let experiment = bench.experiment;
    let first = u32::try_from(new.len() + earlier.len()).unwrap_or(u32::MAX / 2) + 1;
    for (number, candidate) in (first..).zip(experiment.candidates.values()) {
        let known = earlier
            .iter()
            .any(|rehearsed| rehearsed.candidate == candidate.name);
        if known {
            continue;
        }
        bench.check_cancel()?;
        bench.notice(Notice::Rehearsing(&candidate.name));
        let rehearsed = rehearse(bench, lasting, candidate, number).await?;
        bench.reference.learn(experiment, &rehearsed);
        bench.notice(Notice::Rehearsed(&rehearsed));
        bench.record(Event::Rehearsed(rehearsed.clone()))?;
        new.push(rehearsed);
    }
    Ok(())
}

async fn rehearse<'a>(
    bench: &mut Bench<'a>,
    lasting: &Stage<'a>,
    candidate: &'a Candidate,
    number: u32,
) -> Result<Rehearsed, Broken> {
    let turn = Turn {
        candidate,
        attempt: None,
        label: Label {
            part: format!("s{}r{number:02}", bench.session),
            log: format!("session-{}.rehearsal.{}", bench.session, candidate.name),
        },
    };
    let mut stage = Stage::default();
    let mut checks = Vec::new();
    let asked = ask_everything(bench, &turn, lasting, &mut stage, &mut checks).await;
    let cleared = stage.clear(bench).await;
    let failed = match asked {
        Ok(()) => None,
        Err(Broken::Outcome(outcome, detail)) => Some((outcome, detail)),
        Err(broken) => return Err(broken),
    };
    cleared?;
    Ok(Rehearsed {
        candidate: candidate.name.clone(),
        checks,
        failed,
    })
}

async fn ask_everything<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'a>,
    lasting: &Stage<'a>,
    stage: &mut Stage<'a>,
    checks: &mut Vec<Check>,
) -> Result<(), Broken> {
    role::services(bench, turn, Lifetime::Block, &lasting.services, stage).await?;
    prewarm::of_experiment(bench, turn, lasting, stage).await?;
    let candidate = role::candidate(bench, turn, lasting, stage).await?;
    prewarm::of_role(bench, turn, &candidate, StepKind::CandidatePrewarm).await?;
    checks.extend(contract::answers(bench, &candidate).await?);
    for scenario in bench.experiment.scenarios.values() {
        let request = bound(&scenario.request, &candidate.bindings, &bench.files)?;
        let expect = &scenario.expect;
        let asked = checked(&candidate, &request, expect, &bench.files, ANSWER_WITHIN);
        checks.push(bench.unless_cancelled(asked).await??);
    }
    Ok(())
}
