//! The run loop on real processes: loadlab-stub as the candidate, real nginx as the probe, real load.
//! Skipped, with the reason, where a program is missing.

#![allow(clippy::print_stderr, reason = "a skipped test says why")]
#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]
#![allow(clippy::panic, reason = "a test ends where it fails")]

#[path = "run_loop/experiment.rs"]
mod experiment;
#[path = "programs/mod.rs"]
mod programs;
#[path = "programs/rig.rs"]
mod rig;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::experiment::{common, experiment, opened, rate};
use loadlab::model::candidate::{Program, Witness};
use loadlab::model::stub::{Stub, StubFaults};
use loadlab::model::{Bytes, EngineKind, Experiment, Known, Nanoseconds, Role};
use loadlab::plan;
use loadlab::record::event::{Measured, RawFile};
use loadlab::record::{Event, Journal, JournalError, MemoryJournal};
use loadlab::run::{self, Cancel, Unobserved};

/// A journal in memory that remembers when each line came, with a folder for logs.
struct Timed {
    memory: MemoryJournal,
    at: Vec<Instant>,
    logs: PathBuf,
}

impl Journal for Timed {
    fn append(&mut self, event: Event) -> Result<(), JournalError> {
        self.at.push(Instant::now());
        self.memory.append(event)
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.memory.sync()
    }

    fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<RawFile, JournalError> {
        self.memory.store_raw(name, bytes)
    }

    fn logs(&self, name: &str) -> PathBuf {
        self.logs.join(name)
    }
}

impl Timed {
    /// From the first line of this kind until the next line of that kind.
    fn between(&self, from: &str, to: &str) -> Duration {
        let kinds: Vec<&str> = self.memory.events.iter().map(Event::kind).collect();
        let from = kinds.iter().position(|kind| *kind == from).unwrap();
        let to = from + kinds[from..].iter().position(|kind| *kind == to).unwrap();
        self.at[to] - self.at[from]
    }

    fn measured(&self) -> Vec<&Measured> {
        let measured = self.memory.events.iter().filter_map(|event| match event {
            Event::Measured(measured) => Some(measured.as_ref()),
            _ => None,
        });
        measured.collect()
    }
}

/// One candidate, a stub that burns 100 us a request, one round, short windows.
fn stubs() -> Experiment {
    let mut experiment = experiment();
    experiment.phases[0].repetitions = 1;
    experiment.phases[0].candidates = vec!["one".parse().unwrap()];
    experiment.candidates.truncate(1);
    experiment.contract.clear();
    experiment.attempts = 1;
    experiment.probe.duration = Nanoseconds::milliseconds(500);
    experiment.probe.at_least = rate("1/s");
    let definition = &mut experiment.candidates[0].definition;
    definition.prewarm.clear();
    definition.members[0].program = Program::Stub(Stub {
        work: Nanoseconds(100_000),
        wait: Nanoseconds(0),
        hold: Bytes(0),
        status: 200,
        body: Bytes(64),
        faults: StubFaults::default(),
    });
    definition.witness = Some(Witness::Counter {
        path: loadlab::load::stub::COUNT_PATH.to_owned(),
        pattern: r#""answered":\s*(\d+)"#.to_owned(),
    });
    experiment.scenarios[0].expect.body =
        Some(loadlab::model::scenario::ExpectBody::Length { bytes: 64 });
    let common = common(&mut experiment);
    common.warmup = Nanoseconds::milliseconds(500);
    common.duration = Nanoseconds::seconds(2);
    common.quiet = Nanoseconds::milliseconds(250);
    experiment
}

/// Held while something is measured: two runs of one process would share cores and ports.
static MEASURING: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn measure(experiment: &Experiment) -> Result<Timed, String> {
    let _alone = MEASURING
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), readable).unwrap();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    let rig = rig::rig(folder.path(), "run-process")?;
    run::preflight(experiment, &rig).unwrap();
    let plan = plan::build(experiment, None);
    let mut journal = Timed {
        memory: MemoryJournal::default(),
        at: Vec::new(),
        logs,
    };
    journal.append(opened(experiment)).unwrap();
    let earlier = journal.memory.records();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let cancel = Cancel::default();
    let mut observer = Unobserved;
    let asked = plan.into();
    let run = run::run(
        &asked,
        experiment,
        &earlier,
        &rig,
        &mut journal,
        &mut observer,
        &cancel,
    );
    let closing = runtime.block_on(run).unwrap();
    assert!(closing.complete, "{closing:?}");
    assert!(
        runtime
            .block_on(rig.engines[&EngineKind::Process].leftovers())
            .unwrap()
            .is_empty()
    );
    Ok(journal)
}

#[test]
fn a_real_block_is_measured_and_adds_up() {
    let journal = match measure(&stubs()) {
        Ok(journal) => journal,
        Err(because) => return eprintln!("skipped: {because}"),
    };
    let measured = journal.measured();
    let [measured] = measured.as_slice() else {
        panic!("{:?}", journal.memory.events);
    };
    let Known::Value(account) = &measured.account else {
        panic!("{:?}", measured.account);
    };
    let Some(Known::Value(witness)) = &measured.witness else {
        panic!("{:?}", measured.witness);
    };
    assert_eq!(
        witness.after - witness.before - witness.own,
        account.answered.get()
    );
    let cpu = |edge: &loadlab::model::reading::Edge| {
        edge.roles[&Role::Candidate].cpu.value().unwrap().cpu_ns
    };
    let each = (cpu(&measured.after) - cpu(&measured.before)) / account.answered.get();
    assert!(
        (100_000..1_000_000).contains(&each),
        "{each} ns per request"
    );
    assert!(measured.incidents.is_empty(), "{:?}", measured.incidents);
    assert!(measured.start_monotonic_ns.value().is_some());
    assert!(
        measured
            .answers
            .iter()
            .all(|check| check.difference.is_none())
    );
    let own = measured.after.host.own_cpu_ns - measured.before.host.own_cpu_ns;
    let window = measured.after.host.monotonic_ns - measured.before.host.monotonic_ns;
    eprintln!(
        "loadlab itself: {} ppm of a core in the window",
        own * 1_000_000 / window
    );
    assert!(
        own * 50 < window,
        "loadlab itself used {own} ns of {window}"
    );
}

#[test]
fn a_real_block_without_load_takes_less_than_half_a_second() {
    let mut experiment = stubs();
    if let loadlab::model::LoadShape::FixedRate { rates, .. } = &mut experiment.phases[0].load {
        rates.clear();
    }
    experiment.probe.when = loadlab::model::probe::ProbeTimes::Before;
    let journal = match measure(&experiment) {
        Ok(journal) => journal,
        Err(because) => return eprintln!("skipped: {because}"),
    };
    let took = journal.between("probed", "block_finished");
    eprintln!("a block without load: {took:?}");
    assert!(took < Duration::from_millis(500), "{took:?}");
}
