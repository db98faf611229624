//! Prewarm steps: commands and requests before the candidate gets load, in order, recorded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::ask::ask;
use super::bench::Bench;
use super::broken::Broken;
use super::groups::Place;
use super::ready::get;
use super::role::Running;
use super::turn::{Begun, Stage, Turn};
use crate::engine::{Exit, Output, RoleSpec};
use crate::model::candidate::PrewarmStep;
use crate::model::template::{Bindings, Template};
use crate::model::{Digest, EngineKind, GuardCode, Outcome, Role};
use crate::record::event::StepKind;

type Facts = BTreeMap<String, String>;

/// The prewarm steps of a role that runs, on its own cores.
pub(super) async fn of_role(
    bench: &mut Bench<'_>,
    turn: &Turn<'_>,
    running: &Running<'_>,
    kind: StepKind,
) -> Result<(), Broken> {
    for step in &running.definition.prewarm {
        bench.check_cancel()?;
        let begun = Begun::step(bench, turn, kind, described(step));
        let done = one(
            bench,
            step,
            Some(running),
            &running.place,
            &running.bindings,
        )
        .await;
        end(bench, begun, &running.role, done)?;
    }
    Ok(())
}

/// The prewarm steps of the experiment, before the candidate starts: commands run on the load role's
/// cores, requests go to the first service.
pub(super) async fn of_experiment<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'_>,
    lasting: &Stage<'a>,
    stage: &mut Stage<'a>,
) -> Result<(), Broken> {
    let steps = &bench.experiment.prewarm;
    if steps.is_empty() {
        return Ok(());
    }
    let spec = RoleSpec {
        role: Role::Load,
        cpus: bench.cpus(&Role::Load).cloned(),
        budget: bench.budget(&Role::Load),
        members: Vec::new(),
    };
    let label = turn.label.with("pw", "prewarm");
    let Stage { groups, services } = stage;
    let place = groups
        .reserve(bench, EngineKind::Process, &spec, &label)
        .await?;
    let first = services.iter().chain(&lasting.services);
    let first = first.min_by_key(|service| position(bench, &service.role));
    let none = Bindings::new();
    let bindings = first.map_or(&none, |service| &service.bindings);
    for step in steps {
        bench.check_cancel()?;
        let begun = Begun::step(bench, turn, StepKind::Prewarm, described(step));
        let done = one(bench, step, first, &place, bindings).await;
        end(bench, begun, &Role::Load, done)?;
    }
    Ok(())
}

fn position(bench: &Bench<'_>, role: &Role) -> Option<usize> {
    match role {
        Role::Service(name) => bench.experiment.services.get_index_of(name),
        _ => None,
    }
}

fn described(step: &PrewarmStep) -> String {
    match step {
        PrewarmStep::Command { command, .. } => {
            let words: Vec<&str> = command.iter().map(Template::source).collect();
            words.join(" ")
        }
        PrewarmStep::Http { path, times, .. } => format!("GET {path}, {times} times"),
    }
}

/// Records the step; a failure is the candidate's where the step is.
fn end(
    bench: &mut Bench<'_>,
    begun: Begun,
    role: &Role,
    done: Result<Result<Facts, String>, Broken>,
) -> Result<(), Broken> {
    let failed = match &done {
        Ok(Ok(_)) => None,
        Ok(Err(because)) => Some(because.clone()),
        Err(broken) => Some(broken.to_string()),
    };
    let facts = match &done {
        Ok(Ok(facts)) => facts.clone(),
        _ => Facts::new(),
    };
    begun.end(bench, failed, facts)?;
    done?.map(drop).map_err(|because| match role {
        Role::Candidate => Broken::Outcome(
            Outcome::NotReady,
            format!("a prewarm step failed: {because}"),
        ),
        Role::Service(_) => Broken::breach(
            GuardCode::ServiceLost,
            format!("a prewarm step failed: {because}"),
        ),
        Role::Load | Role::Probe => Broken::harness(format!("a prewarm step failed: {because}")),
    })
}

/// Does a step. The inner error is about the step itself.
async fn one(
    bench: &Bench<'_>,
    step: &PrewarmStep,
    to: Option<&Running<'_>>,
    place: &Arc<Place>,
    bindings: &Bindings,
) -> Result<Result<Facts, String>, Broken> {
    match step {
        PrewarmStep::Command { command, within } => {
            let words = command.iter().map(|word| word.bind(bindings));
            let words: Result<Vec<String>, _> = words.collect();
            let words = match words {
                Ok(words) => words,
                Err(unbound) => return Ok(Err(unbound.to_string())),
            };
            let words = bench.rig.programs.placed(words);
            let run = place
                .engine
                .execute(&place.group, &words, within.duration());
            let output = bench.unless_cancelled(run).await??;
            Ok(succeeded(&output))
        }
        PrewarmStep::Http {
            path,
            status,
            times,
            within,
        } => {
            let Some(running) = to else {
                return Ok(Err(
                    "there is no service that the request could go to".to_owned()
                ));
            };
            let all = requests(running, path, *status, *times, within.duration());
            bench.unless_cancelled(all).await
        }
    }
}

fn succeeded(output: &Output) -> Result<Facts, String> {
    if output.exit != Exit::Status(0) {
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.lines().next_back().unwrap_or("it printed no error");
        return Err(format!("the command {}: {last}", output.exit));
    }
    Ok(Facts::from([
        ("stdout".to_owned(), Digest::of(&output.stdout).to_string()),
        ("stderr".to_owned(), Digest::of(&output.stderr).to_string()),
    ]))
}

async fn requests(
    running: &Running<'_>,
    path: &str,
    status: u16,
    times: u32,
    within: Duration,
) -> Result<Facts, String> {
    let all = async {
        for time in 1..=times {
            let answer = ask(running, &get(path), within).await?;
            if answer.status != status {
                let found = answer.status;
                return Err(format!(
                    "answer {time} of {times} to GET {path} had status {found}, expected {status}"
                ));
            }
        }
        Ok(Facts::new())
    };
    let overdue = || format!("GET {path} was not answered {times} times within {within:?}");
    timeout(within, all).await.map_err(|_| overdue())?
}
