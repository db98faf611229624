//! What every step of a run works with.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::broken::Broken;
use super::cancel::Cancel;
use super::error::RunError;
use super::files::Files;
use super::observer::{Notice, Observer};
use super::reference::Reference;
use super::rig::Rig;
use crate::engine::Engine;
use crate::model::reading::HostReading;
use crate::model::{Budget, CpuSet, EngineKind, Experiment, Role};
use crate::record::event::{Calibrated, RawFile};
use crate::record::{AttemptRecords, Event, Journal, JournalError};

/// What every step of a run works with.
pub(super) struct Bench<'a> {
    /// The one whose turn it is: the experiment, or its standards as one of their own.
    pub(super) experiment: &'a Experiment,
    whole: Whole<'a>,
    pub(super) rig: &'a Rig,
    pub(super) cancel: &'a Cancel,
    pub(super) files: Files,
    /// Number of the session.
    pub(super) session: u32,
    /// The instrument at the start of this session.
    pub(super) calibrated: Option<Calibrated>,
    /// The answers that all candidates must give alike.
    pub(super) reference: Reference,
    journal: &'a mut dyn Journal,
    observer: &'a mut dyn Observer,
    /// Events of the try in progress, for judging it.
    kept: Vec<Event>,
}

/// An experiment and, where it has any, its standards as an experiment of their own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) standards: Option<&'a Experiment>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        whole: Whole<'a>,
        rig: &'a Rig,
        cancel: &'a Cancel,
        files: Files,
        journal: &'a mut dyn Journal,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Self {
            experiment: whole.experiment,
            whole,
            rig,
            cancel,
            files,
            session: 1,
            calibrated: None,
            reference: Reference::default(),
            journal,
            observer,
            kept: Vec::new(),
        }
    }

    /// The experiment's own turn.
    pub(super) const fn turn_to_experiment(&mut self) {
        self.experiment = self.whole.experiment;
    }

    /// The standards' turn; false: there are none.
    pub(super) const fn turn_to_standards(&mut self) -> bool {
        if let Some(standards) = self.whole.standards {
            self.experiment = standards;
        }
        self.whole.standards.is_some()
    }

    /// Records an event; on disk after [`sync`](Self::sync).
    pub(super) fn record(&mut self, event: Event) -> Result<(), JournalError> {
        if event.attempt().is_some() {
            self.kept.push(event.clone());
        }
        self.journal.append(event)
    }

    pub(super) fn sync(&mut self) -> Result<(), JournalError> {
        self.journal.sync()
    }

    pub(super) fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<RawFile, JournalError> {
        self.journal.store_raw(name, bytes)
    }

    pub(super) fn logs(&self, name: &str) -> PathBuf {
        self.journal.logs(name)
    }

    pub(super) fn notice(&mut self, notice: Notice<'_>) {
        self.observer.notice(notice);
    }

    /// Begins to keep the events of another try.
    pub(super) fn forget_attempt(&mut self) {
        self.kept.clear();
    }

    /// Everything recorded of the try in progress.
    pub(super) fn attempt_records(&self) -> AttemptRecords<'_> {
        let mut records = AttemptRecords::default();
        for event in &self.kept {
            records.add(event);
        }
        records
    }

    pub(super) fn engine(
        &self,
        kind: EngineKind,
        role: &Role,
    ) -> Result<Arc<dyn Engine>, RunError> {
        let engine = self.rig.engines.get(&kind).map(Arc::clone);
        engine.ok_or_else(|| RunError::NoEngine {
            role: role.to_string(),
            engine: kind,
        })
    }

    /// The CPUs of a role; the probe runs on the candidate's.
    pub(super) fn cpus(&self, role: &Role) -> Option<&'a CpuSet> {
        let role = match role {
            Role::Probe => &Role::Candidate,
            other => other,
        };
        self.experiment.cores.get(role)
    }

    /// The CPUs of the load role.
    pub(super) fn load_cpus(&self) -> Result<&'a CpuSet, RunError> {
        let cpus = self.cpus(&Role::Load);
        cpus.ok_or_else(|| RunError::Unfit("the load role has no cores".to_owned()))
    }

    /// Threads of the generator: one for each CPU of the load role.
    pub(super) fn load_threads(&self) -> Result<u32, RunError> {
        Ok(u32::try_from(self.load_cpus()?.count()).unwrap_or(u32::MAX))
    }

    pub(super) fn budget(&self, role: &Role) -> Budget {
        let budget = self.experiment.budgets.get(role);
        budget.cloned().unwrap_or_default()
    }

    pub(super) fn host(&self) -> Result<HostReading, Broken> {
        let reading = self.rig.host.read();
        reading.map_err(|error| Broken::harness(format!("cannot read the machine: {error}")))
    }

    pub(super) fn now_ns(&self) -> u64 {
        self.rig.clock.monotonic_ns()
    }

    /// Ends the block when a stop was requested.
    pub(super) fn check_cancel(&self) -> Result<(), Broken> {
        if self.cancel.is_requested() {
            return Err(Broken::interrupted());
        }
        Ok(())
    }

    /// Waits for something that may take long, unless a stop is requested before.
    pub(super) async fn unless_cancelled<T>(
        &self,
        something: impl Future<Output = T>,
    ) -> Result<T, Broken> {
        tokio::select! {
            biased;
            () = self.cancel.requested() => Err(Broken::interrupted()),
            value = something => Ok(value),
        }
    }

    pub(super) async fn pause(&self, length: Duration) -> Result<(), Broken> {
        self.unless_cancelled(tokio::time::sleep(length)).await
    }
}
