//! A load generator from its gate to its output.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until, timeout};

use super::bench::Bench;
use super::broken::Broken;
use super::groups::{Groups, Label, Place};
use crate::engine::{Exit, MemberChange, MemberEvent, MemberSpec, RoleSpec};
use crate::load::{Address, RawOutput};
use crate::model::{Account, EngineKind, Known, Role, Shot};

/// From a generator's start until it waits at its gate.
const GATE_WITHIN: Duration = Duration::from_secs(10);
/// What a generator may take beyond its load and the longest wait for an answer.
const SLACK: Duration = Duration::from_secs(10);
/// What it may take to write out every request that it kept.
const WRITING: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);

/// What comes next in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another second is over: how many.
    Second(u64),
    /// The generator ended.
    Ended(Exit),
    /// The generator should have ended long ago.
    Overdue,
}

/// A load generator that was started or will be.
pub(super) struct Shooting {
    pub(super) place: std::sync::Arc<Place>,
    pub(super) spec: MemberSpec,
    shot: Shot,
    events: mpsc::Receiver<MemberEvent>,
    marker: Option<u64>,
    seconds: Option<Interval>,
    second: u64,
    deadline: Instant,
    last_line: Option<String>,
}

/// What a generator left.
pub(super) struct Shown {
    pub(super) raw: RawOutput,
    pub(super) account: Known<Account>,
    pub(super) start_monotonic_ns: Known<u64>,
}

impl Shooting {
    /// Makes the load role's group, starts the generator and waits until it is at its gate. One
    /// without a gate is started by [`release`](Self::release).
    pub(super) async fn aim(
        bench: &Bench<'_>,
        groups: &mut Groups,
        shot: &Shot,
        address: &Address,
        label: &Label,
    ) -> Result<Self, Broken> {
        let cpus = bench.load_cpus()?;
        let spec = bench.rig.generator.member(shot, address, cpus);
        let spec = spec.map_err(|unsupported| Broken::harness(unsupported.to_string()))?;
        let role = RoleSpec {
            role: Role::Load,
            cpus: Some(cpus.clone()),
            budget: bench.budget(&Role::Load),
            members: vec![(spec.name.clone(), Vec::new())],
        };
        let place = groups
            .reserve(bench, EngineKind::Process, &role, label)
            .await?;
        let events = place.engine.events(&place.group).await?;
        let mut shooting = Self {
            place,
            spec,
            shot: shot.clone(),
            events,
            marker: None,
            seconds: None,
            second: 0,
            deadline: Instant::now(),
            last_line: None,
        };
        if shooting.spec.gated {
            shooting.start().await?;
            shooting.at_gate(bench).await?;
        }
        Ok(shooting)
    }

    async fn start(&self) -> Result<(), Broken> {
        let Place { engine, group, .. } = &*self.place;
        Ok(engine.start(group, &self.spec).await?)
    }

    async fn at_gate(&mut self, bench: &Bench<'_>) -> Result<(), Broken> {
        let waited = async {
            while let Some(event) = self.events.recv().await {
                if bench.rig.generator.at_gate(&event) {
                    return Ok(());
                }
                if let Some(exit) = self.see(bench, &event) {
                    return Err(format!("{exit} before its load{}", self.said()));
                }
            }
            Err("is gone before its load".to_owned())
        };
        let waited = bench.unless_cancelled(timeout(GATE_WITHIN, waited)).await?;
        let overdue = || format!("was not at its gate within {GATE_WITHIN:?}");
        let waited = waited.unwrap_or_else(|_| Err(overdue()));
        waited.map_err(|because| Broken::harness(format!("the load generator {because}")))
    }

    /// Lets it go. From here on nothing but readings may happen until it has ended.
    pub(super) async fn release(&mut self) -> Result<(), Broken> {
        let Place { engine, group, .. } = &*self.place;
        if self.spec.gated {
            engine.proceed(group, &self.spec.name).await?;
        } else {
            self.start().await?;
        }
        let writing = if self.shot.keep_requests {
            WRITING
        } else {
            Duration::ZERO
        };
        let load = self.shot.duration.duration() + self.shot.timeout.duration();
        let now = Instant::now();
        self.deadline = now + load + SLACK + writing;
        let mut seconds = interval_at(now + SECOND, SECOND);
        seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
        self.seconds = Some(seconds);
        Ok(())
    }

    /// Waits for what comes next. Cheap: nothing is polled.
    pub(super) async fn next(&mut self, bench: &Bench<'_>) -> Result<Next, Broken> {
        loop {
            let Some(seconds) = &mut self.seconds else {
                return Err(Broken::harness("the load generator was never let go"));
            };
            let event = tokio::select! {
                biased;
                () = bench.cancel.requested() => return Err(Broken::interrupted()),
                event = self.events.recv() => event,
                () = sleep_until(self.deadline) => return Ok(Next::Overdue),
                _ = seconds.tick() => {
                    self.second += 1;
                    return Ok(Next::Second(self.second));
                }
            };
            let Some(event) = event else {
                return Err(Broken::harness("the load generator is gone without an end"));
            };
            if let Some(exit) = self.see(bench, &event) {
                return Ok(Next::Ended(exit));
            }
        }
    }

    /// Takes in an event; present: the generator ended.
    fn see(&mut self, bench: &Bench<'_>, event: &MemberEvent) -> Option<Exit> {
        if let Some(start) = bench.rig.generator.window(event) {
            self.marker = Some(start.monotonic_ns);
        }
        match &event.what {
            MemberChange::Line(line) => {
                self.last_line = Some(String::from_utf8_lossy(line).into_owned());
                None
            }
            MemberChange::Exited(exit) => Some(*exit),
            MemberChange::OutOfMemory => None,
        }
    }

    /// Its last line as the end of a message.
    fn said(&self) -> String {
        let line = self.last_line.as_ref();
        line.map_or_else(String::new, |line| format!("; its last line: {line}"))
    }

    /// That it did not end, as evidence.
    pub(super) fn overdue(&self) -> String {
        let load = self.shot.duration;
        format!(
            "the load generator did not end after its load of {load}{}",
            self.said()
        )
    }

    /// Reads what it left. A generator that failed counted nothing: that is the instrument's fault.
    pub(super) async fn shown(&self, bench: &Bench<'_>, exit: Exit) -> Result<Shown, Broken> {
        if exit != Exit::Status(0) {
            let evidence = format!("the load generator {exit}{}", self.said());
            return Err(Broken::harness(evidence));
        }
        let Place { engine, group, .. } = &*self.place;
        let raw = engine.collect(group, &self.spec.name).await?;
        let account = Known::from(bench.rig.generator.account(&raw, &self.shot));
        let marker = self
            .marker
            .ok_or("the generator printed no marker of its start");
        Ok(Shown {
            raw,
            account,
            start_monotonic_ns: Known::from(marker),
        })
    }
}
