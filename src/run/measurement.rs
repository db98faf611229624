//! One load window between the two edges of its counter window.

use super::answers::checked;
use super::bench::Bench;
use super::broken::Broken;
use super::edge;
use super::groups::{Label, Place};
use super::incidents;
use super::observer::Notice;
use super::quiet::millicores;
use super::role::Running;
use super::scenario::Scene;
use super::shooting::{Next, Shooting, Shown};
use super::turn::{Stage, Turn};
use super::watch::Seen;
use super::witness;
use crate::engine::Exit;
use crate::guard::{self, OutcomeFacts};
use crate::model::reading::{Edge, IdleReading, Sample};
use crate::model::{Experiment, GuardCode, Outcome, Role, Share};
use crate::plan::Measurement;
use crate::record::Event;
use crate::record::event::{Check, Incident, Measured, RawFile};
use std::collections::BTreeMap;
use std::path::Path;

/// The load windows of one block: what they share.
pub(super) struct Windows<'w, 'a> {
    pub(super) candidate: &'w Running<'a>,
    pub(super) lasting: &'w Stage<'a>,
    pub(super) stage: &'w mut Stage<'a>,
    /// Load groups made so far in this block.
    pub(super) made: u32,
}

impl Windows<'_, '_> {
    /// The name of the next load group.
    pub(super) fn label(&mut self, turn: &Turn<'_>, what: &str) -> Label {
        self.made += 1;
        turn.label.with(&format!("w{:02}", self.made), what)
    }

    /// The groups of the candidate and of every service.
    fn places(&self) -> Vec<&Place> {
        let services = self.lasting.services.iter().chain(&self.stage.services);
        let services = services.map(|service| &*service.place);
        std::iter::once(&*self.candidate.place)
            .chain(services)
            .collect()
    }

    /// Ends the block when the candidate broke, or a service did.
    pub(super) async fn still_there(&self) -> Result<(), Broken> {
        self.services_there()?;
        let place = &self.candidate.place;
        let reading = place.engine.read(&place.group).await?;
        let found = incidents::now(&self.candidate.watch.seen(), &reading);
        ended_by(&found)
    }

    fn services_there(&self) -> Result<(), Broken> {
        let mut services = self.lasting.services.iter().chain(&self.stage.services);
        let lost = services.find_map(|service| {
            let incidents = service.watch.seen().incidents();
            let incident = incidents.into_iter().next()?;
            Some(format!("service `{}`: {}", service.role, incident.detail))
        });
        lost.map_or(Ok(()), |evidence| {
            Err(Broken::breach(GuardCode::ServiceLost, evidence))
        })
    }
}

/// An incident after which nothing more can be measured in this block.
fn ended_by(incidents: &[Incident]) -> Result<(), Broken> {
    incidents.first().map_or(Ok(()), |incident| {
        Err(Broken::Outcome(incident.outcome, incident.detail.clone()))
    })
}

/// What was seen of a window, before it is judged.
struct Watched {
    before: Edge,
    after: Edge,
    samples: Vec<Sample>,
    shown: Shown,
    command: Vec<String>,
}

impl Watched {
    /// What happened to the candidate.
    fn incidents(&self, seen: &Seen, foreign: Share) -> Vec<Incident> {
        let account = self.shown.account.value();
        let answered = account.map_or(0, |account| account.answered.get());
        let mut incidents = incidents::between(seen, &self.before, &self.after);
        incidents.extend(incidents::escaped(
            answered,
            &self.before,
            &self.after,
            foreign,
        ));
        incidents.extend(incidents::limit_reached(&self.before, &self.after));
        incidents
    }
}

/// Measures one load window and records it. A candidate that broke in it ends the block.
pub(super) async fn measure<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'a>,
    windows: &mut Windows<'_, 'a>,
    scene: &Scene<'a>,
    measurement: &Measurement,
) -> Result<(), Broken> {
    let measured = window(bench, turn, windows, scene, measurement).await;
    let measured = measured.map_err(|broken| broken.within(&measurement.id))?;
    let incidents = measured.incidents.clone();
    bench.notice(Notice::Measured(&measured));
    bench.record(Event::Measured(Box::new(measured)))?;
    let fatal = incidents
        .into_iter()
        .filter(|incident| ends_block(incident.outcome));
    ended_by(&fatal.collect::<Vec<_>>())?;
    windows
        .services_there()
        .map_err(|broken| broken.within(&measurement.id))
}

/// Whether a candidate that this happened to cannot be measured any further.
const fn ends_block(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Exited | Outcome::Oom | Outcome::Restarted | Outcome::Hung
    )
}

async fn window<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'a>,
    windows: &mut Windows<'_, 'a>,
    scene: &Scene<'a>,
    measurement: &Measurement,
) -> Result<Measured, Broken> {
    bench.check_cancel()?;
    let attempt = turn.attempt.clone();
    let attempt = attempt.ok_or_else(|| Broken::harness("a rehearsal measures nothing"))?;
    let mut answers = vec![sampled(bench, windows.candidate, scene).await?];
    let opening = witness::opening(bench, windows.candidate).await?;
    let idle = edge::idle(bench, &windows.places()).await?;
    bench.notice(Notice::Window {
        attempt: &attempt,
        measurement,
    });
    let watched = watch(bench, turn, windows, scene, measurement).await?;
    let witness = witness::closing(bench, windows.candidate, opening).await?;
    answers.push(sampled(bench, windows.candidate, scene).await?);
    if answers.last().is_some_and(|last| last.status.is_none()) {
        // One lost answer is not silence.
        answers.push(sampled(bench, windows.candidate, scene).await?);
    }
    let raw = store(
        bench,
        &format!("{attempt}.{}", measurement.id),
        &watched.shown,
    )?;
    windows.stage.groups.stop(bench, &Role::Load).await?;
    let incidents = watched.incidents(
        &windows.candidate.watch.seen(),
        bench.experiment.guards.foreign_load,
    );
    let measured = Measured {
        attempt,
        id: measurement.id.clone(),
        start_monotonic_ns: watched.shown.start_monotonic_ns,
        window_ns: measurement.duration.0,
        account: watched.shown.account,
        before: watched.before,
        after: watched.after,
        idle,
        samples: watched.samples,
        witness,
        connections_peak: None,
        answers,
        incidents,
        outcome: Outcome::Completed,
        detail: None,
        raw,
        command: watched.command,
    };
    judged(measured, bench.experiment)
}

/// The same with the outcome that follows from it.
fn judged(measured: Measured, experiment: &Experiment) -> Result<Measured, Broken> {
    let facts = OutcomeFacts::of(&measured, experiment);
    let facts = facts.ok_or_else(|| Broken::harness("the experiment has no such measurement"))?;
    let (outcome, detail) = guard::outcome(&facts);
    Ok(Measured {
        outcome,
        detail,
        ..measured
    })
}

async fn sampled(
    bench: &Bench<'_>,
    candidate: &Running<'_>,
    scene: &Scene<'_>,
) -> Result<Check, Broken> {
    let within = scene.phase.load.common().timeout;
    let asked = checked(
        candidate,
        &scene.request,
        &scene.scenario.expect,
        &bench.files,
        within,
    );
    bench.unless_cancelled(asked).await?
}

/// The counter window: opening edge, load, closing edge. Nothing is written and nothing is asked of
/// the candidate in it.
async fn watch<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'a>,
    windows: &mut Windows<'_, 'a>,
    scene: &Scene<'a>,
    measurement: &Measurement,
) -> Result<Watched, Broken> {
    let Measurement {
        id,
        connections,
        duration,
        ..
    } = measurement;
    let shot = scene.shot(id.at, *connections, *duration, bench.load_threads()?);
    let address = windows.candidate.address()?;
    let label = windows.label(turn, &id.to_string());
    let groups = &mut windows.stage.groups;
    let mut shooting = Shooting::aim(bench, groups, &shot, &address, &label).await?;
    let load = std::sync::Arc::clone(&shooting.place);
    let mut places = windows.places();
    places.push(&load);
    let before = edge::opening(bench, &places).await?;
    shooting.release().await?;
    let (exit, samples) = until_ended(bench, &places, &mut shooting, &before).await?;
    let after = edge::closing(bench, &places).await?;
    let shown = match exit {
        Some(exit) => shooting.shown(bench, exit).await?,
        None => return Err(overdue(bench, windows.candidate, scene, &shooting).await),
    };
    Ok(Watched {
        before,
        after,
        samples,
        shown,
        command: by_name(&shooting.spec.command),
    })
}

/// A command line with its program's name alone: where it lies is this machine's affair.
fn by_name(command: &[String]) -> Vec<String> {
    let mut words = command.to_vec();
    if let Some(program) = words.first_mut()
        && let Some(name) = Path::new(program.as_str()).file_name()
    {
        *program = name.to_string_lossy().into_owned();
    }
    words
}

/// Takes a sample each second until the generator ends; no exit: it should have ended long ago.
async fn until_ended(
    bench: &mut Bench<'_>,
    places: &[&Place],
    shooting: &mut Shooting,
    before: &Edge,
) -> Result<(Option<Exit>, Vec<Sample>), Broken> {
    let mut samples: Vec<Sample> = Vec::new();
    loop {
        match shooting.next(bench).await? {
            Next::Second(second) => {
                let sample = edge::sample(bench, places).await;
                let used = used_since(samples.last(), before, &sample);
                bench.notice(Notice::Reading {
                    second,
                    millicores: &used,
                });
                samples.push(sample);
            }
            Next::Ended(exit) => return Ok((Some(exit), samples)),
            Next::Overdue => return Ok((None, samples)),
        }
    }
}

/// Thousandths of a core that each role used since the sample before, or since the opening edge.
fn used_since(last: Option<&Sample>, before: &Edge, now: &Sample) -> BTreeMap<Role, u64> {
    let since = |role: &Role| match last {
        Some(last) => Some((*last.cpu_ns.get(role)?, last.monotonic_ns)),
        None => {
            let reading = before.roles.get(role)?;
            Some((reading.cpu.value()?.cpu_ns, reading.monotonic_ns))
        }
    };
    let used = now.cpu_ns.iter().filter_map(|(role, cpu_ns)| {
        let (earlier, at_ns) = since(role)?;
        let used = IdleReading {
            cpu_ns: cpu_ns.checked_sub(earlier)?,
            over_ns: now.monotonic_ns.checked_sub(at_ns)?,
        };
        Some((role.clone(), millicores(&used)))
    });
    used.collect()
}

/// A generator that does not end: the candidate hangs where it does not answer loadlab either; else it
/// is the instrument's fault.
async fn overdue(
    bench: &Bench<'_>,
    candidate: &Running<'_>,
    scene: &Scene<'_>,
    shooting: &Shooting,
) -> Broken {
    match sampled(bench, candidate, scene).await {
        Ok(Check {
            status: None,
            difference,
            ..
        }) => {
            let because = difference.unwrap_or_default();
            Broken::Outcome(Outcome::Hung, format!("{}; {because}", shooting.overdue()))
        }
        Ok(_) => Broken::harness(shooting.overdue()),
        Err(broken) => broken,
    }
}

fn store(bench: &mut Bench<'_>, name: &str, shown: &Shown) -> Result<Vec<RawFile>, Broken> {
    let files = shown.raw.iter();
    let stored = files.map(|(file, bytes)| Ok(bench.store_raw(&format!("{name}.{file}"), bytes)?));
    stored.collect()
}

#[cfg(test)]
mod tests {
    use super::by_name;

    #[test]
    fn a_command_names_its_program_and_not_its_place() {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        };
        for (command, shown) in [
            (
                ["/opt/bin/loadlab-oha", "http://127.0.0.1:80/a"],
                ["loadlab-oha", "http://127.0.0.1:80/a"],
            ),
            (["oha", "/kept/path"], ["oha", "/kept/path"]),
        ] {
            assert_eq!(by_name(&words(&command)), words(&shown));
        }
        assert_eq!(by_name(&[]), words(&[]));
    }
}
