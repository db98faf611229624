//! Whose turn it is: what steps are recorded under and what groups and logs are called.

use std::collections::BTreeMap;

use super::bench::Bench;
use super::broken::Broken;
use super::groups::{Groups, Label};
use super::observer::Notice;
use super::role::Running;
use crate::model::Candidate;
use crate::record::event::{Step, StepKind};
use crate::record::{Attempt, Event, JournalError};

/// A candidate's turn: a try at a block, or a rehearsal, of which steps are not recorded.
pub(super) struct Turn<'a> {
    pub(super) candidate: &'a Candidate,
    /// Absent: a rehearsal.
    pub(super) attempt: Option<Attempt>,
    pub(super) label: Label,
}

/// What runs during a turn, or during a whole session.
#[derive(Default)]
pub(super) struct Stage<'a> {
    pub(super) groups: Groups,
    pub(super) services: Vec<Running<'a>>,
}

impl Stage<'_> {
    /// Stops everything, waits until the records are on disk, and only then cleans up.
    ///
    /// Goes on after a failure, so that nothing is left behind that could be removed.
    pub(super) async fn clear(&mut self, bench: &mut Bench<'_>) -> Result<(), Broken> {
        let stopped = self.groups.stop_all(bench).await;
        self.services.clear();
        bench.sync()?;
        let released = self.groups.release_all().await;
        Ok(stopped.and(released)?)
    }
}

/// A step that has begun.
pub(super) struct Begun {
    attempt: Option<Attempt>,
    kind: StepKind,
    what: String,
    at_ns: u64,
}

impl Begun {
    /// Begins a step.
    pub(super) fn step(
        bench: &mut Bench<'_>,
        turn: &Turn<'_>,
        kind: StepKind,
        what: impl Into<String>,
    ) -> Self {
        let what = what.into();
        if let Some(attempt) = &turn.attempt {
            bench.notice(Notice::Step {
                attempt,
                kind,
                what: &what,
            });
        }
        Self {
            attempt: turn.attempt.clone(),
            kind,
            what,
            at_ns: bench.now_ns(),
        }
    }

    /// Records how the step ended.
    pub(super) fn end(
        self,
        bench: &mut Bench<'_>,
        failed: Option<String>,
        facts: BTreeMap<String, String>,
    ) -> Result<(), JournalError> {
        let Some(attempt) = self.attempt else {
            return Ok(());
        };
        let took_ns = bench.now_ns().saturating_sub(self.at_ns);
        bench.record(Event::Step(Step {
            attempt,
            kind: self.kind,
            what: self.what,
            took_ns,
            failed,
            facts,
        }))
    }

    /// Records the end of a step that yields no facts, and passes on why it failed.
    pub(super) fn close(
        self,
        bench: &mut Bench<'_>,
        result: Result<(), Broken>,
    ) -> Result<(), Broken> {
        let failed = result.as_ref().err().map(ToString::to_string);
        self.end(bench, failed, BTreeMap::new())?;
        result
    }
}
