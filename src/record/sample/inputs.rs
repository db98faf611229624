//! The made-up experiment, its plan, lock and machine.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::machine::{engine, host};
use super::phases::{ceiling, fixed_rate};
use super::{Sample, name, readings};
use crate::lock::{self, Lock, ResolvedProgram, Resolver, Upgrade};
use crate::model::candidate::{Endpoint, Process, VersionRule};
use crate::model::cores::{Isolation, Sharing};
use crate::model::derived::Comparison;
use crate::model::estimator::RatioInterval;
use crate::model::experiment::{Author, Confidence, Finding, Order, PROTOCOL, Page};
use crate::model::facts::GENERATOR;
use crate::model::probe::{Probe, ProbeTimes};
use crate::model::scenario::{Expect, Request};
use crate::model::standards::{Difference, Standards};
use crate::model::thresholds::Thresholds;
use crate::model::unit::Rate;
use crate::model::{
    BlockId, Budget, Bytes, Candidate, CpuSet, Definition, Digest, EngineKind, Experiment,
    ExperimentName, Known, LoadPoint, MeasurementId, Member, Metric, Nanoseconds, Phase, Program,
    Ready, Role, Scenario, Share,
};
use crate::plan::{Added, Block, Measurement, Plan, Totals};
use crate::record::event::{Opened, RECORD_FORMAT, SourceCommit};
use crate::record::inputs::{Inputs, Origin};

/// A name that a sample writes itself.
pub(super) fn plain<T: std::str::FromStr>(text: &str) -> T {
    text.parse().ok().expect("a made-up name is plain")
}

pub(super) fn rate(requests: u64) -> Rate {
    Rate::per_second(requests).expect("a made-up rate is above 0")
}

pub(super) fn experiment(sample: &Sample) -> Experiment {
    let cpu = |cpu| CpuSet::of([cpu]).expect("one CPU is a set");
    let budget = Budget {
        cores: Some(1),
        memory: Some(Bytes(256 << 20)),
        processes: Some(64),
        connections: None,
    };
    let candidates = sample
        .candidates
        .iter()
        .map(|it| (name(it.name), candidate(it.name)));
    let mut phases = IndexMap::from([(plain("fixed-rate"), fixed_rate(sample))]);
    if !sample.ceiling.is_empty() {
        phases.insert(plain("ceiling"), ceiling(sample));
    }
    let name: ExperimentName = plain("sample");
    Experiment {
        protocol: PROTOCOL,
        standards: standards(sample, &name),
        name,
        page: page(),
        isolation: Isolation::Declared,
        cores: BTreeMap::from([(Role::Candidate, cpu(0)), (Role::Load, cpu(1))]),
        sharing: Sharing::Disjoint,
        budgets: BTreeMap::from([(Role::Candidate, budget)]),
        probe: probe(),
        services: IndexMap::new(),
        prewarm: Vec::new(),
        candidates: candidates.collect(),
        scenarios: IndexMap::from([(plain("page"), scenario())]),
        contract: Vec::new(),
        phases,
        order: Order {
            rule: crate::model::experiment::OrderRule::Balanced,
            seed: Some(sample.seed),
        },
        attempts: sample.attempts,
        guards: Thresholds::default(),
        coverage: Share::percent(95),
        ratio_interval: RatioInterval::TwoSample,
        spread_bound: None,
        primary: primary(sample),
        derived: IndexMap::new(),
        scale: None,
        files: Vec::new(),
    }
}

fn standards(sample: &Sample, experiment: &ExperimentName) -> Option<Standards> {
    let differences: Vec<Difference> = (sample.standards.iter())
        .map(|by| Difference::Cpu { by: *by })
        .collect();
    let load = (plain("fixed-rate"), rate(1_000), Share::percent(50));
    let work = Nanoseconds(100_000);
    (!differences.is_empty()).then(|| Standards::plant(experiment, load, work, &differences))
}

fn page() -> Page {
    Page {
        title: "A made-up run".to_owned(),
        question: "What does a made-up candidate cost?".to_owned(),
        authors: vec![Author {
            name: "The loadlab authors".to_owned(),
            id: None,
        }],
        licence: Some("CC-BY-4.0".to_owned()),
        programme: None,
        technologies: vec!["nginx".to_owned()],
        finding: Some(Finding {
            text: "Nothing was measured.".to_owned(),
            confidence: Confidence::Low,
            because: "every number is made up".to_owned(),
        }),
        limits: vec!["Every number is made up.".to_owned()],
        questions: Vec::new(),
        results: Vec::new(),
    }
}

fn probe() -> Probe {
    Probe {
        when: ProbeTimes::BeforeAndAfter,
        rate: rate(readings::PROBE_RATE),
        connections: 16,
        duration: Nanoseconds::seconds(1),
        at_least: rate(readings::PROBE_RATE * 99 / 100),
        calibration: 5,
        ceiling: None,
    }
}

fn candidate(text: &str) -> Candidate {
    let member = Member {
        program: Program::Process(Process {
            command: ["nginx", "-c", "{{ work }}/nginx.conf"].map(plain).to_vec(),
            version: Some(VersionRule {
                command: vec!["nginx".to_owned(), "-v".to_owned()],
                pattern: "nginx/(\\S+)".to_owned(),
            }),
        }),
        env: BTreeMap::new(),
        files: BTreeMap::new(),
        user: None,
        ports: vec![plain("http")],
        grace: Nanoseconds::seconds(5),
    };
    Candidate {
        name: name(text),
        title: format!("nginx, {text}"),
        definition: Definition {
            engine: EngineKind::Process,
            members: IndexMap::from([(plain("main"), member)]),
            endpoint: Endpoint {
                member: plain("main"),
                port: plain("http"),
            },
            values: BTreeMap::new(),
            ready: Ready::Http {
                path: "/page.html".to_owned(),
                status: 200,
                within: Nanoseconds::seconds(5),
            },
            prewarm: Vec::new(),
            departures: Vec::new(),
            witness: None,
        },
    }
}

fn scenario() -> Scenario {
    Scenario {
        name: plain("page"),
        title: "One page".to_owned(),
        request: Request {
            method: "GET".to_owned(),
            path: plain("/page.html"),
            headers: BTreeMap::new(),
            body: None,
        },
        expect: Expect {
            status: 200,
            headers: BTreeMap::new(),
            body: None,
        },
        changes_data: false,
    }
}

/// CPU per request of the second candidate against the first, at the first rate.
fn primary(sample: &Sample) -> Option<Comparison> {
    let [against, compare, ..] = sample.candidates.as_slice() else {
        return None;
    };
    Some(Comparison {
        metric: Metric::CpuPerRequest,
        phase: plain("fixed-rate"),
        scenario: Some(plain("page")),
        at: sample
            .rates
            .first()
            .copied()
            .map(|it| LoadPoint::Rate(rate(it))),
        role: None,
        compare: name(compare.name),
        against: name(against.name),
        equivalent_within: None,
    })
}

/// The blocks of an experiment's phases, round by round: candidates forwards in odd rounds, backwards
/// in even ones.
fn rounds(
    experiment: &Experiment,
    standard: bool,
) -> impl Iterator<Item = ((usize, u32), Vec<Block>)> {
    let phases = experiment.phases.values().enumerate();
    phases.flat_map(move |(index, phase)| {
        (1..=phase.repetitions).map(move |round| {
            let forwards = phase.candidates.iter().cloned();
            let candidates: Vec<_> = if round % 2 == 1 {
                forwards.collect()
            } else {
                forwards.rev().collect()
            };
            let candidates = candidates.into_iter();
            let blocks = candidates.map(|candidate| Block {
                standard,
                ..block(phase, round, candidate)
            });
            ((index, round), blocks.collect())
        })
    })
}

pub(super) fn plan(sample: &Sample) -> Plan {
    let experiment = experiment(sample);
    let planted = experiment.of_standards();
    let mut planted: BTreeMap<_, Vec<Block>> = planted
        .iter()
        .flat_map(|planted| rounds(planted, true))
        .collect();
    let standing = planted.len() as u64;
    let with_planted = rounds(&experiment, false).flat_map(|(round, mut blocks)| {
        blocks.extend(planted.remove(&round).unwrap_or_default());
        blocks
    });
    let blocks: Vec<Block> = with_planted.collect();
    let counted = |standard: bool| -> (u64, u64) {
        let blocks = blocks.iter().filter(|block| block.standard == standard);
        let windows = blocks.clone().map(|block| block.measurements.len() as u64);
        (blocks.count() as u64, windows.sum())
    };
    let ((own, measurements), (added, windows)) = (counted(false), counted(true));
    let totals = Totals {
        blocks: own,
        measurements,
        load_seconds: measurements * sample.window_s,
        warmup_seconds: own,
        wall_seconds: measurements * sample.window_s + own * 5,
        disk_bytes: measurements * 100_000,
        standards: (added > 0).then(|| Added {
            rounds: standing,
            blocks: added,
            measurements: windows,
            load_seconds: windows * sample.window_s,
            warmup_seconds: added,
            wall_seconds: windows * sample.window_s + added * 5,
            disk_bytes: windows * 100_000,
        }),
    };
    Plan {
        experiment: experiment.name,
        seed: sample.seed,
        blocks,
        totals,
    }
}

fn block(phase: &Phase, round: u32, candidate: crate::model::CandidateName) -> Block {
    let common = phase.load.common();
    let scenario = phase.load.scenarios()[0];
    let points = phase.load.points(scenario).into_iter().zip(0_u32..);
    let measurements = points.map(|(at, number)| Measurement {
        id: MeasurementId {
            scenario: scenario.clone(),
            at,
        },
        warmup: (number == 0).then_some(common.warmup),
        duration: common.duration,
        rate: match at {
            LoadPoint::Rate(rate) => Some(rate),
            LoadPoint::Connections(_) => None,
        },
        connections: match at {
            LoadPoint::Rate(_) => 16,
            LoadPoint::Connections(count) => count,
        },
    });
    let measurements = measurements.collect();
    Block {
        method_key: Some(Digest::of(
            format!("method of {candidate} in {}", phase.name).as_bytes(),
        )),
        environment_key: Some(Digest::of(format!("environment of {candidate}").as_bytes())),
        id: BlockId {
            phase: phase.name.clone(),
            round,
            candidate,
        },
        measurements,
        standard: false,
    }
}

/// Answers as a machine would that has nginx.
struct MadeUpMachine;

impl Resolver for MadeUpMachine {
    fn program(
        &mut self,
        name: &str,
        rule: Option<&VersionRule>,
    ) -> Result<ResolvedProgram, String> {
        Ok(ResolvedProgram {
            path: format!("/made-up/{name}").into(),
            version: rule.map(|_| "1.26.3".to_owned()),
            sha256: Digest::of(name.as_bytes()),
            platform: "linux/x86_64".to_owned(),
        })
    }

    fn generator(&self) -> String {
        GENERATOR.to_owned()
    }
}

fn lock(sample: &Sample) -> Lock {
    lock::pin(
        &experiment(sample),
        &mut MadeUpMachine,
        None,
        &Upgrade::None,
    )
    .expect("a made-up machine pins everything")
}

pub(super) fn origin() -> Origin {
    Origin {
        version: "0.1.0".to_owned(),
        program: Known::Value(Digest::of(b"loadlab")),
        source: Known::Value(SourceCommit {
            repository: Some("https://example.org/loadlab.git".to_owned()),
            commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            clean: true,
            manifest: None,
        }),
        caveats: Vec::new(),
    }
}

/// The first record of a run that is made in memory.
pub(super) fn opened(sample: &Sample) -> Opened {
    let inputs = inputs(sample);
    let origin = origin();
    Opened {
        format: RECORD_FORMAT,
        protocol: inputs.experiment.protocol,
        experiment: inputs.experiment.name.clone(),
        entry: sample.entry(),
        version: origin.version,
        program: origin.program,
        manifest: Digest::of(&inputs.manifest),
        lock: inputs.lock.as_deref().map(Digest::of),
        expanded: Digest::of_value(&inputs.experiment),
        plan: Digest::of_value(&inputs.plan),
        caveats: origin.caveats,
        source: origin.source,
    }
}

pub(super) fn inputs(sample: &Sample) -> Inputs {
    Inputs {
        manifest: b"version: v1\nname: sample\n# made up: see expanded.json\n".to_vec(),
        lock: Some(lock(sample).to_text().into_bytes()),
        profile: None,
        prose: Some(b"Nothing was measured.\n".to_vec()),
        templates: BTreeMap::new(),
        experiment: experiment(sample),
        plan: plan(sample),
        host: host(),
        engine: engine(),
    }
}
