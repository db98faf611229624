//! A builder that reads as a story: an experiment, a rig of fakes, a run.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::path::Path;
use std::time::Duration;

use crate::experiment::opened;
use loadlab::engine::fake::{Effect, FakeAnswer, Fault};
use loadlab::model::Role;
use loadlab::model::experiment::Experiment;
use loadlab::plan::{self, Asked, Plan};
use loadlab::record::event::{BlockFinished, RawFile};
use loadlab::record::{Event, Journal, JournalError, MemoryJournal, Records};
use loadlab::run::fake::{FakeRig, answer};
use loadlab::run::{self, Cancel, Closing, Notice, Observer, RunError, Unobserved};

/// A journal in memory that notes its calls beside the engine's.
pub struct Noted<'a> {
    pub memory: &'a mut MemoryJournal,
    pub calls: loadlab::engine::fake::Calls,
}

impl Journal for Noted<'_> {
    fn append(&mut self, event: Event) -> Result<(), JournalError> {
        self.calls.note(format!("append {}", event.kind()));
        self.memory.append(event)
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.calls.note("sync");
        self.memory.sync()
    }

    fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<RawFile, JournalError> {
        self.calls.note(format!("store {name}"));
        self.memory.store_raw(name, bytes)
    }

    fn logs(&self, name: &str) -> std::path::PathBuf {
        self.memory.logs(name)
    }
}

/// A rig of fakes with an experiment and everything recorded so far.
pub struct Story {
    pub experiment: Experiment,
    pub plan: Plan,
    /// Patterns of the blocks that are asked for; none: every block.
    pub only: Vec<String>,
    pub fakes: FakeRig,
    pub memory: MemoryJournal,
}

impl Story {
    pub fn of(experiment: Experiment) -> Self {
        let fakes = FakeRig::new("2026-01-01.abc".parse().unwrap(), Path::new("/"));
        Self::on(experiment, fakes)
    }

    pub fn on(experiment: Experiment, fakes: FakeRig) -> Self {
        let plan = plan::build(&experiment, None);
        let mut memory = MemoryJournal::default();
        memory.append(opened(&experiment)).unwrap();
        Self {
            experiment,
            plan,
            only: Vec::new(),
            fakes,
            memory,
        }
    }

    pub fn fault(self, operation: &'static str, role: Role, part: &str, effect: Effect) -> Self {
        self.fakes.engine.inject(Fault {
            operation,
            role,
            part: part.to_owned(),
            effect,
        });
        self
    }

    pub async fn run(&mut self) -> Result<Closing, RunError> {
        self.run_with(&mut Unobserved, &Cancel::default()).await
    }

    pub async fn run_with(
        &mut self,
        observer: &mut dyn Observer,
        cancel: &Cancel,
    ) -> Result<Closing, RunError> {
        let earlier = self.records();
        let mut journal = Noted {
            memory: &mut self.memory,
            calls: self.fakes.calls.clone(),
        };
        let asked = Asked::of(self.plan.clone(), &self.only).unwrap();
        let (experiment, rig) = (&self.experiment, &self.fakes.rig);
        run::run(
            &asked,
            experiment,
            &earlier,
            rig,
            &mut journal,
            observer,
            cancel,
        )
        .await
    }

    pub fn records(&self) -> Records {
        self.memory.records()
    }

    /// The end of each try in order: its name and the codes of its breaches or its outcome.
    pub fn ends(&self) -> Vec<String> {
        let ends = self.memory.events.iter().filter_map(|event| match event {
            Event::BlockFinished(finished) => Some(shown(finished)),
            _ => None,
        });
        ends.collect()
    }

    /// The outcome of each measurement in order.
    pub fn outcomes(&self) -> Vec<&'static str> {
        let outcomes = self.memory.events.iter().filter_map(|event| match event {
            Event::Measured(measured) => Some(measured.outcome.code()),
            _ => None,
        });
        outcomes.collect()
    }
}

fn shown(finished: &BlockFinished) -> String {
    let codes = finished.breaches.iter().map(|breach| breach.code.code());
    let outcome = finished.outcome.iter().map(|(outcome, _)| outcome.code());
    let mut words: Vec<&str> = codes.chain(outcome).collect();
    words.dedup();
    format!("{} {}", finished.attempt, words.join(" "))
        .trim_end()
        .to_owned()
}

/// Asks to stop at the n-th notice.
pub struct StopsAt {
    pub cancel: Cancel,
    pub notice: usize,
    pub seen: usize,
}

impl Observer for StopsAt {
    fn notice(&mut self, _: Notice<'_>) {
        if self.seen == self.notice {
            self.cancel.request();
        }
        self.seen += 1;
    }
}

pub const SECOND: Duration = Duration::from_secs(1);

pub fn answering(
    rule: impl Fn(&loadlab::engine::fake::Asked) -> Option<FakeAnswer> + Send + Sync + 'static,
) -> FakeRig {
    let entry = "2026-01-01.abc".parse().unwrap();
    FakeRig::answering(entry, std::path::Path::new("/"), move |asked| {
        rule(asked).unwrap_or_else(|| answer(asked))
    })
}

pub fn body(text: &str) -> FakeAnswer {
    FakeAnswer {
        status: 200,
        body: text.as_bytes().to_vec(),
    }
}
