//! A case: an experiment of one short block, a rig of real programs, and what is done to it.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use crate::doctored::{Doctored, Machine, SlowFrom};
use crate::experiment::{common, only_one_block, opened, rate};
use crate::hand::{Act, Watcher, When};
use loadlab::guard::Rules;
use loadlab::measure::host;
use loadlab::model::candidate::{Process, Program, Witness};
use loadlab::model::reading::HostReading;
use loadlab::model::scenario::ExpectBody;
use loadlab::model::thresholds::Thresholds;
use loadlab::model::{Definition, EngineKind, Experiment, GuardCode, Nanoseconds, Share, Template};
use loadlab::plan;
use loadlab::record::event::Measured;
use loadlab::record::{Event, Journal as _, MemoryJournal};
use loadlab::run::{self, Cancel, Rig};

/// What a fault is done to, and how.
pub struct Case {
    pub experiment: Experiment,
    /// Another's hand: when, how long after that, and what it does.
    pub hand: Option<(When, Duration, Act)>,
    pub machine: Option<fn(&mut HostReading, u64)>,
    /// From which fixed work on it is slow.
    pub slow_from: Option<u64>,
    pub output: Option<fn(&mut Vec<u8>)>,
    /// A person asks to stop this long after the run began.
    pub stop: Option<Duration>,
}

/// What came of it.
pub struct Came {
    pub codes: BTreeSet<String>,
    pub measured: Vec<Measured>,
}

/// Whatever a busy machine does is allowed; a case takes back what it is about.
pub fn lenient() -> Thresholds {
    let all = Share::percent(100);
    Thresholds {
        probe_drift_at_least: Share::percent(100_000),
        fixed_work_caveat: Share::percent(100_000),
        fixed_work_invalid: Share::percent(100_000),
        generator_busy_caveat: all,
        generator_busy_invalid: Share::percent(1000),
        generator_late: all,
        foreign_load: Share::percent(1000),
        steal_caveat: all,
        steal_invalid: all,
        clock_step: Nanoseconds::seconds(3600),
        suspended: Nanoseconds::seconds(3600),
        swap_pages: 1 << 40,
        ..Thresholds::default()
    }
}

/// A candidate that is loadlab's own server with these words.
pub fn stub(definition: &mut Definition, words: &[&str]) {
    let program = env!("CARGO_BIN_EXE_loadlab-stub");
    let listen = ["--listen", "127.0.0.1:{{ port }}"];
    let words = std::iter::once(&program).chain(&listen).chain(words);
    let command: Vec<Template> = words.map(|word| word.parse().unwrap()).collect();
    definition.members[0].program = Program::Process(Process {
        command,
        version: None,
    });
    definition.prewarm.clear();
}

impl Case {
    /// One candidate with these words, one window of a second at 500/s.
    pub fn of(words: &[&str]) -> Self {
        let mut experiment = only_one_block();
        experiment.attempts = 1;
        experiment.contract.clear();
        experiment.guards = lenient();
        experiment.probe.rate = rate("500/s");
        experiment.probe.at_least = rate("1/s");
        experiment.probe.duration = Nanoseconds::milliseconds(300);
        experiment.probe.calibration = 1;
        let definition = &mut experiment.candidates[0].definition;
        stub(definition, words);
        definition.witness = Some(Witness::Counter {
            path: loadlab::load::stub::COUNT_PATH.to_owned(),
            pattern: r#""answered":\s*(\d+)"#.to_owned(),
        });
        experiment.scenarios[0].expect.body = Some(ExpectBody::Length { bytes: 64 });
        if let loadlab::model::LoadShape::FixedRate { rates, .. } = &mut experiment.phases[0].load {
            rates[0] = vec![rate("500/s")];
        }
        let common = common(&mut experiment);
        common.warmup = Nanoseconds(0);
        common.quiet = Nanoseconds(0);
        common.duration = Nanoseconds::seconds(1);
        Self {
            experiment,
            hand: None,
            machine: None,
            slow_from: None,
            output: None,
            stop: None,
        }
    }

    /// With another experiment.
    pub fn with(mut self, change: impl FnOnce(&mut Experiment)) -> Self {
        change(&mut self.experiment);
        self
    }

    /// With this threshold taken back.
    pub fn strict(self, change: impl FnOnce(&mut Thresholds, Thresholds)) -> Self {
        self.with(|experiment| change(&mut experiment.guards, Thresholds::default()))
    }

    pub fn hand(mut self, when: When, after_ms: u64, act: Act) -> Self {
        self.hand = Some((when, Duration::from_millis(after_ms), act));
        self
    }

    /// Runs it, with one guard taken out where that is asked for.
    ///
    /// # Errors
    /// Why it cannot be run here.
    pub fn run(&self, without: Option<GuardCode>) -> Result<Came, String> {
        Ok(came(&self.events(without)?))
    }

    /// Runs it: the breaches of each of its blocks.
    ///
    /// # Errors
    /// Why it cannot be run here.
    pub fn blocks(&self) -> Result<Vec<Vec<String>>, String> {
        let events = self.events(None)?;
        let ends = events.iter().filter_map(|event| match event {
            Event::BlockFinished(finished) => Some(&finished.breaches),
            _ => None,
        });
        let said = ends.map(|breaches| {
            let breaches = breaches.iter();
            breaches
                .map(|breach| format!("{}: {}", breach.code.code(), breach.evidence))
                .collect()
        });
        Ok(said.collect())
    }

    fn events(&self, without: Option<GuardCode>) -> Result<Vec<Event>, String> {
        let folder = tempfile::tempdir().unwrap();
        let readable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), readable).unwrap();
        let mut rig = crate::rig::rig(folder.path(), "faults")?;
        if let Some(change) = self.machine {
            rig.host = Arc::new(Machine::changing(change));
        }
        if let Some(from) = self.slow_from {
            rig.fixed_work = Arc::new(SlowFrom::the(from));
        }
        if let Some(change) = self.output {
            let inner = Arc::clone(&rig.generator);
            rig.generator = Arc::new(Doctored { inner, change });
        }
        rig.rules = without.map_or_else(Rules::all, Rules::without);
        self.measure(&rig)
    }

    fn measure(&self, rig: &Rig) -> Result<Vec<Event>, String> {
        let experiment = &self.experiment;
        run::preflight(experiment, rig).unwrap();
        let plan = plan::build(experiment, None).into();
        let mut journal = MemoryJournal::default();
        journal.append(opened(experiment)).unwrap();
        let earlier = journal.records();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let mut watcher = Watcher::new(rig.entry.as_str(), self.hand);
        let cancel = Cancel::default();
        let asked = cancel.clone();
        let stop = self.stop;
        let closing = runtime.block_on(async {
            let asking = async {
                if let Some(after) = stop {
                    tokio::time::sleep(after).await;
                    asked.request();
                }
            };
            let run = run::run(
                &plan,
                experiment,
                &earlier,
                rig,
                &mut journal,
                &mut watcher,
                &cancel,
            );
            tokio::join!(run, asking).0
        });
        assert!(watcher.release(), "the hand failed");
        closing.map_err(|error| error.to_string())?;
        let engine = &rig.engines[&EngineKind::Process];
        let left = runtime.block_on(engine.leftovers()).unwrap();
        assert!(left.is_empty(), "left behind: {left:?}");
        Ok(journal.events)
    }
}

fn came(events: &[Event]) -> Came {
    let measured: Vec<Measured> = events
        .iter()
        .filter_map(|event| match event {
            Event::Measured(measured) => Some((**measured).clone()),
            _ => None,
        })
        .collect();
    let ends = events.iter().filter_map(|event| match event {
        Event::BlockFinished(finished) => Some(finished),
        _ => None,
    });
    let mut breaches = BTreeSet::new();
    let mut outcomes: BTreeSet<String> = measured
        .iter()
        .map(|measured| measured.outcome.code().to_owned())
        .collect();
    for end in ends {
        breaches.extend(
            end.breaches
                .iter()
                .map(|breach| breach.code.code().to_owned()),
        );
        outcomes.extend(
            end.outcome
                .iter()
                .map(|(outcome, _)| outcome.code().to_owned()),
        );
    }
    let codes = if breaches.is_empty() {
        outcomes
    } else {
        breaches
    };
    Came { codes, measured }
}

/// Why nothing of this can be run here; absent: it can.
pub fn unfit() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("only root can reach into another's control groups".to_owned());
    }
    if crate::programs::generator().is_none() {
        return Some("loadlab-oha is not built".to_owned());
    }
    if host::online().count() < 2 {
        return Some("there are fewer than two cores".to_owned());
    }
    let folder = tempfile::tempdir().unwrap();
    match crate::rig::rig(folder.path(), "faults") {
        Err(because) => Some(because),
        Ok(rig) => {
            let facts = rig.engines[&EngineKind::Process].describe();
            let enforced = facts.enforces.processes.value() == Some(&true);
            (!enforced).then(|| "control groups cannot be made here".to_owned())
        }
    }
}
