//! Makes whole runs of made-up numbers that fit together, for tests. Measures nothing.
//!
//! A [`Sample`] says what the candidates cost and what goes wrong; from it follow an experiment, a
//! plan, and the events of a run by the same fold that a real run resumes by. The same sample gives the
//! same bytes. Readings agree with each other: CPU time in a window is the cost times the answers.

mod inputs;
mod load;
mod machine;
mod phases;
mod readings;
mod turn;

use std::collections::BTreeMap;
use std::path::Path;

use super::Records;
use super::draft::{Draft, DraftError};
use super::event::{Calibrated, Check, Event, Rehearsed, Session, SetAside};
use super::inputs::{Inputs, Origin};
use super::journal::{Journal, JournalError};
use super::memory::MemoryJournal;
use super::progress::Progress;
use crate::model::code::{GuardCode, Outcome};
use crate::model::{CandidateName, Digest, EntryName, Experiment, Known, Program, Share};
use crate::plan::{Asked, Plan};
use turn::Turn;

/// What a made-up candidate costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleCandidate {
    /// Its name.
    pub name: &'static str,
    /// CPU time for each request, nanoseconds.
    pub cpu_per_request_ns: u64,
    /// Length of each answer, bytes.
    pub body_bytes: u64,
    /// Median response time, nanoseconds; other quantiles follow from it.
    pub p50_ns: u64,
    /// Anonymous plus shared memory, bytes.
    pub memory_bytes: u64,
}

/// What goes wrong in one try at a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A guard is breached. For `steal`, `foreign_load` and `probe_below_floor` the readings show it
    /// too; the others are recorded only.
    Breach(GuardCode),
    /// Every measurement has this outcome; with `not_held`, a tenth of the planned answers is missing.
    Outcome(Outcome),
    /// The block ends before its first measurement with this outcome.
    BlockOutcome(Outcome),
    /// loadlab is killed after the first measurement: the session ends there.
    Killed,
}

/// A made-up run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The candidates in the manifest's order.
    pub candidates: Vec<SampleCandidate>,
    /// Rounds of the phase `fixed-rate`, at least 1.
    pub rounds: u32,
    /// Planned rates of the phase `fixed-rate`, requests per second.
    pub rates: Vec<u64>,
    /// Load window, seconds.
    pub window_s: u64,
    /// Connection counts of a phase `ceiling`; empty: no such phase.
    pub ceiling: Vec<u32>,
    /// Rounds of the phase `ceiling`.
    pub ceiling_rounds: u32,
    /// Largest deviation of a CPU cost or response time from its true value, millionths.
    pub noise: u64,
    /// What distinguishes the deviations of one sample from those of another.
    pub seed: u64,
    /// Tries at a block.
    pub attempts: u32,
    /// Planted differences of CPU, of the test server's, as shares; empty: no standards.
    pub standards: Vec<Share>,
    /// Patterns of the blocks that are asked for; none: every block.
    pub only: Vec<String>,
    /// What goes wrong, by the attempt as printed: `fixed-rate.r01.plain.a1`.
    pub faults: BTreeMap<String, Fault>,
}

impl Default for Sample {
    fn default() -> Self {
        let candidate = |name, cpu_per_request_ns, body_bytes| SampleCandidate {
            name,
            cpu_per_request_ns,
            body_bytes,
            p50_ns: 200_000 + cpu_per_request_ns,
            memory_bytes: 6 << 20,
        };
        Self {
            candidates: vec![
                candidate("plain", 40_000, 20_078),
                candidate("gzip", 200_000, 4_211),
            ],
            rounds: 6,
            rates: vec![1_000],
            window_s: 4,
            ceiling: Vec::new(),
            ceiling_rounds: 3,
            noise: 20_000,
            seed: 1,
            attempts: 3,
            standards: Vec::new(),
            only: Vec::new(),
            faults: BTreeMap::new(),
        }
    }
}

impl Sample {
    /// The same with something that goes wrong in an attempt, such as `fixed-rate.r01.plain.a1`.
    #[must_use]
    pub fn with_fault(mut self, attempt: &str, fault: Fault) -> Self {
        self.faults.insert(attempt.to_owned(), fault);
        self
    }

    /// The same with a ceiling phase over these connection counts.
    #[must_use]
    pub fn with_ceiling(mut self, connections: &[u32]) -> Self {
        self.ceiling = connections.to_vec();
        self
    }

    /// The candidates, and what was planted beside them under neutral names: a request costs 100 us and
    /// the planted share on top.
    ///
    /// # Panics
    /// Never: nine planted servers have names.
    #[must_use]
    pub fn everyone(&self) -> Vec<SampleCandidate> {
        const NAMES: [&str; 9] = [
            "standard-01",
            "standard-02",
            "standard-03",
            "standard-04",
            "standard-05",
            "standard-06",
            "standard-07",
            "standard-08",
            "standard-09",
        ];
        let mut everyone = self.candidates.clone();
        let Some(standards) = self.experiment().standards else {
            return everyone;
        };
        for (name, weight) in NAMES.into_iter().zip(standards.weights.values()) {
            let Program::Weight(weight) = &weight.definition.members[0].program else {
                continue;
            };
            everyone.push(SampleCandidate {
                name,
                cpu_per_request_ns: 100_000 + weight.extra.millionths() / 10,
                body_bytes: 25,
                p50_ns: 300_000,
                memory_bytes: 4 << 20,
            });
        }
        everyone
    }

    /// The experiment with every default.
    #[must_use]
    pub fn experiment(&self) -> Experiment {
        inputs::experiment(self)
    }

    /// The plan: candidates forwards in odd rounds, backwards in even ones.
    #[must_use]
    pub fn plan(&self) -> Plan {
        inputs::plan(self)
    }

    /// Everything that a run begins with.
    #[must_use]
    pub fn inputs(&self) -> Inputs {
        inputs::inputs(self)
    }

    /// The name of the entry.
    ///
    /// # Panics
    /// Never: the name is plain.
    #[must_use]
    pub fn entry(&self) -> EntryName {
        "2026-11-30-sample".parse().expect("the name is plain")
    }

    /// What stands in the first record beside the digests of the inputs.
    #[must_use]
    pub fn origin(&self) -> Origin {
        inputs::origin()
    }

    /// The first record.
    #[must_use]
    pub fn opening(&self) -> super::event::Opened {
        inputs::opened(self)
    }

    /// The records of a whole run, made in memory.
    ///
    /// # Panics
    /// Never: a journal in memory takes everything.
    #[must_use]
    pub fn records(&self) -> Records {
        let mut journal = MemoryJournal::default();
        let opened = self.opening();
        let mut append = |event| journal.append(event).expect("memory takes everything");
        append(Event::Opened(Box::new(opened)));
        let records = journal.records();
        self.drive(&mut journal, &records, None)
            .expect("memory takes everything");
        journal.records()
    }

    /// A draft of a whole run below `root`.
    ///
    /// # Errors
    /// When the draft cannot be made.
    ///
    /// # Panics
    /// When its records cannot be written.
    pub fn draft(&self, root: &Path) -> Result<Draft, DraftError> {
        let draft = Draft::create(root, self.entry(), &self.inputs())?;
        self.go_on(&draft).expect("the draft takes records");
        Ok(draft)
    }

    /// Goes on with a draft until its end, as `run --resume` does. The clock of the records is one
    /// second a line from 2026-11-30 on.
    ///
    /// # Errors
    /// When the records cannot be written or are damaged.
    pub fn go_on(&self, draft: &Draft) -> Result<(), Box<dyn std::error::Error>> {
        let lines =
            std::sync::atomic::AtomicU64::new(draft.records()?.records.lines().len() as u64);
        let clock = move || {
            let line = lines.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            super::memory::SAMPLE_EPOCH_NS + line * 1_000_000_000
        };
        let mut writer = draft.writer_with(Box::new(clock))?;
        if writer.sequence() == 0 {
            writer.append(Event::Opened(Box::new(draft.opening(self.origin())?)))?;
        }
        let records = draft.records()?.records;
        let logs = Journal::logs(&writer, "fixed-rate.r01.plain.a1.candidate.main.log");
        if !logs.exists() {
            std::fs::write(logs, "a line of a log\n")?;
        }
        let set_aside = writer.set_aside().cloned();
        self.drive(&mut writer, &records, set_aside)?;
        writer.sync()?;
        Ok(())
    }

    /// Appends everything that is left to do, session by session; the first names what was set aside.
    ///
    /// # Errors
    /// When the journal refuses, or the records are not of this sample's plan.
    pub fn drive(
        &self,
        journal: &mut dyn Journal,
        records: &Records,
        mut set_aside: Option<SetAside>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let asked = Asked::of(self.plan(), &self.only)?;
        let plan = &asked.plan;
        let mut progress = Progress::of(records, plan)?.asked_for(|block| asked.includes(block));
        let mut session = progress.sessions();
        if progress.complete(self.attempts) && is_closed(records) {
            return Ok(());
        }
        loop {
            session += 1;
            self.begin(journal, session, set_aside.take())?;
            if self.session(journal, plan, &mut progress, session)? {
                return Ok(());
            }
        }
    }

    fn begin(
        &self,
        journal: &mut dyn Journal,
        session: u32,
        set_aside: Option<SetAside>,
    ) -> Result<(), JournalError> {
        let inputs = self.inputs();
        journal.append(Event::Session(Box::new(Session {
            number: session,
            boot_id: Known::Value("made-up-boot".to_owned()),
            pid: 4_000 + session,
            machine: inputs.host.identity(),
            set_aside,
            engines: inputs.engine.engines,
            generator: inputs.engine.generator,
        })))?;
        let reading =
            |number| readings::probe(self, &format!("calibration.{session}.{number}"), None);
        journal.append(Event::Calibrated(Box::new(Calibrated {
            session,
            probe: (0..5).map(reading).collect(),
            ceiling: None,
            fixed_work: readings::fixed_work(self, &format!("calibration.{session}")),
        })))?;
        for candidate in &self.everyone() {
            journal.append(Event::Rehearsed(Rehearsed {
                candidate: name(candidate.name),
                checks: vec![check(candidate)],
                failed: None,
            }))?;
        }
        Ok(())
    }

    /// One session; false where it was killed.
    fn session(
        &self,
        journal: &mut dyn Journal,
        plan: &Plan,
        progress: &mut Progress,
        session: u32,
    ) -> Result<bool, JournalError> {
        let everyone = self.everyone();
        while let Some(next) = progress.next(self.attempts) {
            let before: u64 = progress
                .blocks()
                .iter()
                .map(|block| block.attempts.len() as u64)
                .sum();
            let turn = Turn {
                sample: self,
                everyone: &everyone,
                block: &plan.blocks[next.position],
                position: next.position as u64,
                attempt: next.attempt.clone(),
                session,
                fault: self.faults.get(&next.attempt.to_string()).copied(),
                begins_ns: 1_000_000_000_000 + before * 60_000_000_000,
            };
            let ending = turn.take(journal)?;
            progress.ended(&next.attempt, ending);
            if turn.fault == Some(Fault::Killed) {
                return Ok(false);
            }
            journal.sync()?;
        }
        journal.append(Event::Closed {
            complete: self.only.is_empty(),
            because: None,
        })?;
        Ok(true)
    }
}

fn is_closed(records: &Records) -> bool {
    matches!(
        records.lines().last().map(|line| &line.event),
        Some(Event::Closed { .. })
    )
}

fn name(text: &str) -> CandidateName {
    text.parse().expect("a made-up name is plain")
}

fn check(candidate: &SampleCandidate) -> Check {
    Check {
        request: "GET /page.html".to_owned(),
        status: Some(200),
        body: Some(Digest::of(b"a page")),
        wire_bytes: Some(candidate.body_bytes),
        difference: None,
    }
}

/// A deviation from 1 in millionths that follows from what it is of: within plus or minus the noise.
fn deviation(sample: &Sample, of: &str) -> i64 {
    let span = 2 * sample.noise + 1;
    let drawn = Digest::of(format!("{}/{of}", sample.seed).as_bytes()).seed() % span;
    i64::try_from(drawn).unwrap_or(0) - i64::try_from(sample.noise).unwrap_or(0)
}

/// A value with the deviation of what it is of.
fn noisy(sample: &Sample, of: &str, value: u64) -> u64 {
    let factor = 1_000_000 + i128::from(deviation(sample, of));
    u64::try_from(i128::from(value) * factor / 1_000_000).unwrap_or(value)
}
