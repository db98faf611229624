//! Driving the reference nginx on the candidate's cores.

use super::bench::Bench;
use super::broken::Broken;
use super::edge;
use super::groups::{Groups, Label, Place};
use super::http;
use super::observer::Notice;
use super::ready::get;
use super::shooting::{Next, Shooting};
use super::turn::{Stage, Turn};
use crate::engine::{Exit, MemberSpec, RoleSpec};
use crate::load::Address;
use crate::model::reading::{Edge, FixedWork, Known, ProbeReading};
use crate::model::{Budget, CpuSet, EngineKind, PortName, Role, Shot};
use crate::probe::{self, nginx};
use crate::record::event::{ProbeTime, Probed};
use crate::record::{Attempt, Event};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// From its start until the reference nginx answers.
const READY_WITHIN: Duration = Duration::from_secs(10);
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// Drives the probe before or after a block, records the reading and cleans up.
pub(super) async fn around(
    bench: &mut Bench<'_>,
    turn: &Turn<'_>,
    when: ProbeTime,
) -> Result<(), Broken> {
    let Some(attempt) = turn.attempt.clone() else {
        return Ok(());
    };
    bench.notice(Notice::Probing(&attempt));
    let (part, log) = match when {
        ProbeTime::Before => ("pb", "before"),
        ProbeTime::After => ("pa", "after"),
    };
    let shot = probe::shot(&bench.experiment.probe, bench.load_threads()?);
    let mut stage = Stage::default();
    let label = turn.label.with(part, log);
    let read = match driven(bench, &mut stage, &shot, &label).await {
        Ok(reading) => record(bench, attempt, when, reading),
        Err(broken) => Err(broken),
    };
    read.and(stage.clear(bench).await)
}

fn record(
    bench: &mut Bench<'_>,
    attempt: Attempt,
    when: ProbeTime,
    reading: ProbeReading,
) -> Result<(), Broken> {
    let probed = Probed {
        attempt,
        when,
        reading,
    };
    Ok(bench.record(Event::Probed(Box::new(probed)))?)
}

/// One reading for calibration; cleaned up.
pub(super) async fn reading(
    bench: &mut Bench<'_>,
    shot: &Shot,
    label: &Label,
) -> Result<ProbeReading, Broken> {
    let mut stage = Stage::default();
    let driven = driven(bench, &mut stage, shot, label).await;
    let cleared = stage.clear(bench).await;
    driven.and_then(|reading| cleared.map(|()| reading))
}

/// A fresh nginx, driven once, with the fixed-work loop before it.
async fn driven(
    bench: &Bench<'_>,
    stage: &mut Stage<'_>,
    shot: &Shot,
    label: &Label,
) -> Result<ProbeReading, Broken> {
    let fixed_work = fixed_work(bench).await?;
    let reading = drive(bench, &mut stage.groups, shot, label).await?;
    Ok(ProbeReading {
        fixed_work,
        ..reading
    })
}

/// The fixed-work loop on the candidate's cores.
pub(super) async fn fixed_work(bench: &Bench<'_>) -> Result<Known<FixedWork>, Broken> {
    let cpus = candidate_cpus(bench)?.clone();
    let worker = std::sync::Arc::clone(&bench.rig.fixed_work);
    let work = tokio::task::spawn_blocking(move || worker.work(&cpus));
    Ok(work
        .await
        .unwrap_or_else(|error| Known::Absent(error.to_string())))
}

fn candidate_cpus<'a>(bench: &Bench<'a>) -> Result<&'a CpuSet, Broken> {
    let cpus = bench.cpus(&Role::Candidate);
    cpus.ok_or_else(|| Broken::harness("the candidate role has no cores"))
}

/// The reference nginx that runs.
struct Nginx {
    place: std::sync::Arc<Place>,
    member: MemberSpec,
    port_name: PortName,
    port: u16,
}

async fn drive(
    bench: &Bench<'_>,
    groups: &mut Groups,
    shot: &Shot,
    label: &Label,
) -> Result<ProbeReading, Broken> {
    let nginx = start(bench, groups, label).await?;
    let first = nginx.count(bench).await?;
    let count = nginx.count(bench).await?;
    let own = first
        .zip(count)
        .and_then(|(first, count)| count.checked_sub(first));
    let address = nginx.address();
    let mut shooting = Shooting::aim(bench, groups, shot, &address, label).await?;
    let before = edge::opening(bench, &[&nginx.place, &shooting.place]).await?;
    shooting.release().await?;
    let exit = until_ended(bench, &mut shooting).await?;
    let after = edge::closing(bench, &[&nginx.place, &shooting.place]).await?;
    let last = nginx.count(bench).await?;
    Ok(ProbeReading {
        account: shooting.shown(bench, exit).await?.account,
        cpu_ns: cpu_ns(&before, &after, &Role::Probe),
        cpu_unsure_ns: cpu_unsure_ns(&after),
        load_cpu_ns: cpu_ns(&before, &after, &Role::Load),
        window_ns: after
            .host
            .monotonic_ns
            .saturating_sub(before.host.monotonic_ns),
        witness: witness(count, last, own),
        fixed_work: Known::Absent("not done in this reading".to_owned()),
    })
}

async fn start(bench: &Bench<'_>, groups: &mut Groups, label: &Label) -> Result<Nginx, Broken> {
    let cpus = candidate_cpus(bench)?;
    let port_name: PortName = "http".parse()?;
    let name = "nginx".parse()?;
    let spec = RoleSpec {
        role: Role::Probe,
        cpus: Some(cpus.clone()),
        budget: Budget::default(),
        members: vec![(name, vec![port_name.clone()])],
    };
    let place = groups
        .reserve(bench, EngineKind::Process, &spec, label)
        .await?;
    let given = place.group.ports.values().next().copied();
    let port = given.ok_or_else(|| Broken::harness("the engine gave no port to the probe"))?;
    let workers = u32::try_from(cpus.count()).unwrap_or(u32::MAX);
    let nginx = Nginx {
        member: nginx::member(&bench.rig.programs.nginx, port, workers),
        place,
        port_name,
        port,
    };
    let Place { engine, group, .. } = &*nginx.place;
    engine.start(group, &nginx.member).await?;
    nginx.ready(bench).await?;
    Ok(nginx)
}

impl Nginx {
    fn address(&self) -> Address {
        Address {
            host: self.place.group.host.clone(),
            port: self.port,
        }
    }

    async fn ready(&self, bench: &Bench<'_>) -> Result<(), Broken> {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            let tried = timeout_at(deadline, self.ask(nginx::PATH));
            let last = match bench.unless_cancelled(tried).await? {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(because)) => because,
                Err(_) => "it did not answer".to_owned(),
            };
            if Instant::now() + BETWEEN_TRIES >= deadline {
                let evidence =
                    format!("the reference nginx was not ready within {READY_WITHIN:?}: {last}");
                return Err(Broken::harness(evidence));
            }
            bench.pause(BETWEEN_TRIES).await?;
        }
    }

    /// What nginx counted so far, this request included where it counts it; absent: it did not say.
    async fn count(&self, bench: &Bench<'_>) -> Result<Option<u64>, Broken> {
        let page = bench.unless_cancelled(self.ask(nginx::STATUS_PATH)).await?;
        Ok(page.ok().and_then(|page| probe::witness(&page).ok()))
    }

    async fn ask(&self, path: &str) -> Result<String, String> {
        let Place { engine, group, .. } = &*self.place;
        let dialled = engine.dial(group, &self.member.name, &self.port_name).await;
        let connection = dialled.map_err(|error| error.to_string())?;
        let host = self.address().to_string();
        let asked = http::exchange(connection, &host, &get(path), probe::TIMEOUT.duration()).await;
        let answer = asked.map_err(|fault| fault.to_string())?;
        if answer.status != 200 {
            return Err(format!("GET {path} had status {}", answer.status));
        }
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }
}

/// Waits for the generator's end. One that does not end in time is the instrument's fault.
async fn until_ended(bench: &Bench<'_>, shooting: &mut Shooting) -> Result<Exit, Broken> {
    loop {
        match shooting.next(bench).await? {
            Next::Second(_) => {}
            Next::Ended(exit) => return Ok(exit),
            Next::Overdue => {
                return Err(Broken::harness(shooting.overdue()));
            }
        }
    }
}

fn cpu_ns(before: &Edge, after: &Edge, role: &Role) -> Known<u64> {
    let cpu = |edge: &Edge| {
        let reading = edge.roles.get(role)?;
        reading.cpu.value().map(|cpu| cpu.cpu_ns)
    };
    let used = cpu(before).zip(cpu(after));
    let used = used.and_then(|(before, after)| after.checked_sub(before));
    used.map_or_else(
        || {
            Known::Absent(format!(
                "the CPU time of {role} could not be read at both edges"
            ))
        },
        Known::Value,
    )
}

/// Each process of the probe is rounded to a step of the counter, at either edge.
fn cpu_unsure_ns(after: &Edge) -> u64 {
    let reading = after.roles.get(&Role::Probe);
    let unsure = reading.and_then(|reading| {
        let step = reading.cpu.value()?.granularity_ns;
        Some(step.saturating_mul(reading.processes.value().copied().unwrap_or(1)))
    });
    unsure.unwrap_or(0)
}

fn witness(before: Option<u64>, after: Option<u64>, own: Option<u64>) -> Known<u64> {
    let counted = before.zip(after).zip(own);
    let counted =
        counted.and_then(|((before, after), own)| after.checked_sub(before)?.checked_sub(own));
    counted.map_or_else(
        || Known::Absent("nginx's own count could not be read".to_owned()),
        Known::Value,
    )
}
