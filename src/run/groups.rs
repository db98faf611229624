//! The groups that a part of a run holds: stopped when it ends, released only after the records are synced.

use std::sync::Arc;

use super::bench::Bench;
use super::broken::Broken;
use crate::engine::{Engine, EngineError, Group, RoleSpec, Tag};
use crate::model::{EngineKind, Role};

/// A group with the engine that made it.
pub(super) struct Place {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) group: Group,
    /// What its members' logs are called: `fixed-rate.r01.plain.a1.candidate`.
    pub(super) log: String,
}

/// How a group is called: its tag's part and its logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    /// Short and unique in the run: `b0001a1w02`.
    pub(super) part: String,
    /// Long and readable: `fixed-rate.r01.plain.a1`.
    pub(super) log: String,
}

impl Label {
    /// The same with something appended to both.
    pub(super) fn with(&self, part: &str, log: &str) -> Self {
        Self {
            part: format!("{}{part}", self.part),
            log: format!("{}.{log}", self.log),
        }
    }
}

struct Held {
    place: Arc<Place>,
    stopped: bool,
}

/// Groups in the order they were reserved.
#[derive(Default)]
pub(super) struct Groups {
    held: Vec<Held>,
}

impl Groups {
    /// Makes a group and holds it.
    pub(super) async fn reserve(
        &mut self,
        bench: &Bench<'_>,
        kind: EngineKind,
        spec: &RoleSpec,
        label: &Label,
    ) -> Result<Arc<Place>, Broken> {
        let engine = bench.engine(kind, &spec.role)?;
        let tag = Tag {
            entry: bench.rig.entry.to_string(),
            part: label.part.clone(),
        };
        let group = engine.reserve(spec, &tag).await?;
        let place = Arc::new(Place {
            engine,
            group,
            log: format!("{}.{}", label.log, spec.role),
        });
        self.held.push(Held {
            place: Arc::clone(&place),
            stopped: false,
        });
        Ok(place)
    }

    /// Stops the groups of a role that still run, last one first.
    pub(super) async fn stop(&mut self, bench: &Bench<'_>, role: &Role) -> Result<(), EngineError> {
        let of_role = |held: &&mut Held| held.place.group.role == *role;
        stop(bench, self.held.iter_mut().rev().filter(of_role)).await
    }

    /// Stops everything that still runs, last one first. Goes on after a failure and tells the first.
    pub(super) async fn stop_all(&mut self, bench: &Bench<'_>) -> Result<(), EngineError> {
        stop(bench, self.held.iter_mut().rev()).await
    }

    /// Removes every group, last one first. The records must be synced before.
    pub(super) async fn release_all(&mut self) -> Result<(), EngineError> {
        let mut result = Ok(());
        while let Some(held) = self.held.pop() {
            let released = held.place.engine.release(held.place.group.clone()).await;
            result = result.and(released);
        }
        result
    }
}

async fn stop(bench: &Bench<'_>, held: impl Iterator<Item = &mut Held>) -> Result<(), EngineError> {
    let mut result = Ok(());
    for held in held.filter(|held| !held.stopped) {
        let logs = bench.logs(&held.place.log);
        let stopped = held.place.engine.stop(&held.place.group, &logs).await;
        held.stopped = stopped.is_ok();
        result = result.and(stopped);
    }
    result
}
