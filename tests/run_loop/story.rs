//! A builder that reads as a story: an experiment, a rig of fakes, a run.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use loadlab::engine::fake::{Effect, Fault};
use loadlab::model::candidate::{
    Candidate, Definition, Endpoint, Member, PrewarmStep, Process, Program, Ready,
};
use loadlab::model::cores::{Isolation, Sharing};
use loadlab::model::estimator::RatioInterval;
use loadlab::model::experiment::{Experiment, Order, OrderRule, PROTOCOL, Page};
use loadlab::model::phase::{LoadCommon, LoadShape, Phase};
use loadlab::model::probe::{Probe, ProbeTimes};
use loadlab::model::scenario::{ContractCheck, Expect, ExpectBody, Request, Scenario};
use loadlab::model::{Budget, Bytes, EngineKind, Nanoseconds, Role, Share};
use loadlab::plan::{self, Plan};
use loadlab::record::event::{BlockFinished, Opened, RawFile};
use loadlab::record::{Event, Journal, JournalError, MemoryJournal, Records};
use loadlab::run::fake::FakeRig;
use loadlab::run::{self, Cancel, Closing, Notice, Observer, RunError, Unobserved};

pub fn rate(text: &str) -> loadlab::model::Rate {
    text.parse().unwrap()
}

fn candidate(name: &str) -> Candidate {
    let member = Member {
        program: Program::Process(Process {
            command: vec!["server".parse().unwrap(), "{{ port }}".parse().unwrap()],
            version: None,
        }),
        env: BTreeMap::new(),
        files: BTreeMap::new(),
        user: None,
        ports: vec!["http".parse().unwrap()],
        grace: Nanoseconds::seconds(1),
    };
    Candidate {
        name: name.parse().unwrap(),
        title: name.to_owned(),
        definition: Definition {
            engine: EngineKind::Process,
            members: IndexMap::from([("main".parse().unwrap(), member)]),
            endpoint: Endpoint {
                member: "main".parse().unwrap(),
                port: "http".parse().unwrap(),
            },
            values: BTreeMap::new(),
            ready: Ready::Http {
                path: "/ready".to_owned(),
                status: 200,
                within: Nanoseconds::seconds(5),
            },
            prewarm: vec![PrewarmStep::Http {
                path: "/prewarm".to_owned(),
                status: 200,
                times: 1,
                within: Nanoseconds::seconds(1),
            }],
            departures: Vec::new(),
            witness: None,
        },
    }
}

fn request(path: &str) -> Request {
    Request {
        method: "GET".to_owned(),
        path: path.parse().unwrap(),
        headers: BTreeMap::new(),
        body: None,
    }
}

fn expect() -> Expect {
    Expect {
        status: 200,
        headers: BTreeMap::new(),
        body: Some(ExpectBody::Text {
            text: "ok\n".to_owned(),
        }),
    }
}

/// Two candidates, one scenario at one rate, two rounds, a probe around each block, two attempts.
pub fn experiment() -> Experiment {
    let common = LoadCommon {
        warmup: Nanoseconds::seconds(1),
        duration: Nanoseconds::seconds(2),
        timeout: Nanoseconds::seconds(1),
        quiet: Nanoseconds::seconds(1),
        keep_requests: 0,
    };
    let phase = Phase {
        name: "fixed-rate".parse().unwrap(),
        title: "At a rate".to_owned(),
        load: LoadShape::FixedRate {
            rates: IndexMap::from([("page".parse().unwrap(), vec![rate("1000/s")])]),
            connections: 4,
            held_at: Share::percent(99),
            common,
        },
        repetitions: 2,
        candidates: vec!["one".parse().unwrap(), "two".parse().unwrap()],
        estimate: IndexMap::new(),
        accept: None,
    };
    let scenario = Scenario {
        name: "page".parse().unwrap(),
        title: "A page".to_owned(),
        request: request("/page"),
        expect: expect(),
        changes_data: false,
    };
    let contract = ContractCheck {
        request: request("/contract"),
        expect: Expect {
            body: None,
            ..expect()
        },
        same_for_all_candidates: true,
    };
    Experiment {
        protocol: PROTOCOL,
        name: "story".parse().unwrap(),
        page: Page {
            title: String::new(),
            question: String::new(),
            authors: Vec::new(),
            licence: None,
            programme: None,
            technologies: Vec::new(),
            finding: None,
            limits: Vec::new(),
            questions: Vec::new(),
            results: Vec::new(),
        },
        isolation: Isolation::default(),
        cores: BTreeMap::from([
            (Role::Candidate, "0".parse().unwrap()),
            (Role::Load, "1".parse().unwrap()),
        ]),
        sharing: Sharing::default(),
        budgets: BTreeMap::from([(
            Role::Candidate,
            Budget {
                cores: Some(1),
                memory: Some(Bytes(256 << 20)),
                processes: Some(64),
                connections: None,
            },
        )]),
        probe: Probe {
            when: ProbeTimes::BeforeAndAfter,
            rate: rate("1000/s"),
            connections: 4,
            duration: Nanoseconds::seconds(1),
            at_least: rate("900/s"),
            calibration: 3,
            ceiling: None,
        },
        services: IndexMap::new(),
        prewarm: Vec::new(),
        candidates: ["one", "two"]
            .map(|name| (name.parse().unwrap(), candidate(name)))
            .into(),
        scenarios: IndexMap::from([("page".parse().unwrap(), scenario)]),
        contract: vec![contract],
        phases: IndexMap::from([("fixed-rate".parse().unwrap(), phase)]),
        order: Order {
            rule: OrderRule::Rotated,
            seed: Some(1),
        },
        attempts: 2,
        guards: Default::default(),
        coverage: Share::percent(95),
        ratio_interval: RatioInterval::default(),
        spread_bound: None,
        primary: None,
        derived: IndexMap::new(),
        scale: None,
        files: Vec::new(),
    }
}

/// The only phase's settings.
pub fn common(experiment: &mut Experiment) -> &mut LoadCommon {
    match &mut experiment.phases[0].load {
        LoadShape::FixedRate { common, .. } | LoadShape::Ceiling { common, .. } => common,
    }
}

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
        let (plan, experiment, rig) = (&self.plan, &self.experiment, &self.fakes.rig);
        run::run(
            plan,
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

pub fn opened(experiment: &Experiment) -> Event {
    let digest = loadlab::model::Digest::of(b"story");
    Event::Opened(Box::new(Opened {
        format: loadlab::record::event::RECORD_FORMAT,
        protocol: PROTOCOL,
        experiment: experiment.name.clone(),
        entry: "2026-01-01.abc".parse().unwrap(),
        version: "0".to_owned(),
        program: loadlab::model::Known::Value(digest),
        manifest: digest,
        lock: None,
        expanded: digest,
        plan: digest,
        caveats: Vec::new(),
        source: loadlab::model::Known::Absent("a story".to_owned()),
    }))
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
