//! The experiment that every story is about.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;

use indexmap::IndexMap;
use loadlab::model::candidate::{
    Candidate, Definition, Endpoint, Member, PrewarmStep, Process, Program, Ready,
};
use loadlab::model::cores::{Isolation, Sharing};
use loadlab::model::estimator::RatioInterval;
use loadlab::model::experiment::{Experiment, Order, OrderRule, PROTOCOL, Page};
use loadlab::model::phase::{LoadCommon, LoadShape, Phase};
use loadlab::model::probe::{Probe, ProbeTimes};
use loadlab::model::scenario::{ContractCheck, Expect, ExpectBody, Request, Scenario};
use loadlab::model::{Budget, Bytes, EngineKind, Nanoseconds, Rate, Role, Share};
use loadlab::record::Event;
use loadlab::record::event::Opened;

/// A rate as a manifest writes it.
pub fn rate(text: &str) -> Rate {
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

fn phase() -> Phase {
    let common = LoadCommon {
        warmup: Nanoseconds::seconds(1),
        duration: Nanoseconds::seconds(2),
        timeout: Nanoseconds::seconds(1),
        quiet: Nanoseconds::seconds(1),
        keep_requests: 0,
    };
    Phase {
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
    }
}

fn scenario() -> Scenario {
    Scenario {
        name: "page".parse().unwrap(),
        title: "A page".to_owned(),
        request: request("/page"),
        expect: expect(),
        changes_data: false,
    }
}

fn contract() -> ContractCheck {
    ContractCheck {
        request: request("/contract"),
        expect: Expect {
            body: None,
            ..expect()
        },
        same_for_all_candidates: true,
    }
}

fn probe() -> Probe {
    Probe {
        when: ProbeTimes::BeforeAndAfter,
        rate: rate("1000/s"),
        connections: 4,
        duration: Nanoseconds::seconds(1),
        at_least: rate("900/s"),
        calibration: 3,
        ceiling: None,
    }
}

fn page() -> Page {
    Page {
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
    }
}

fn budget() -> Budget {
    Budget {
        cores: Some(1),
        memory: Some(Bytes(256 << 20)),
        processes: Some(64),
        connections: None,
    }
}

/// Two candidates, one scenario at one rate, two rounds, a probe around each block, two attempts.
pub fn experiment() -> Experiment {
    Experiment {
        protocol: PROTOCOL,
        name: "story".parse().unwrap(),
        page: page(),
        isolation: Isolation::default(),
        cores: BTreeMap::from([
            (Role::Candidate, "0".parse().unwrap()),
            (Role::Load, "1".parse().unwrap()),
        ]),
        sharing: Sharing::default(),
        budgets: BTreeMap::from([(Role::Candidate, budget())]),
        probe: probe(),
        services: IndexMap::new(),
        prewarm: Vec::new(),
        candidates: ["one", "two"]
            .map(|name| (name.parse().unwrap(), candidate(name)))
            .into(),
        scenarios: IndexMap::from([("page".parse().unwrap(), scenario())]),
        contract: vec![contract()],
        phases: IndexMap::from([("fixed-rate".parse().unwrap(), phase())]),
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
        standards: None,
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

/// One candidate and one round of it.
pub fn only_one_block() -> Experiment {
    let mut experiment = experiment();
    experiment.phases[0].repetitions = 1;
    experiment.phases[0].candidates = vec!["one".parse().unwrap()];
    experiment.candidates.truncate(1);
    experiment
}

/// The first record of such an experiment.
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
