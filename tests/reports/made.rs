//! A whole summary of made-up numbers that fit an experiment: every part of the page has something to show.

use std::collections::BTreeMap;

use loadlab::estimate::Summary;
use loadlab::estimate::summary::{
    ANALYSIS, BlockCounts, CaveatNote, Cell, ComparisonResult, Decimal, DerivedResult, DerivedRow,
    Estimate, Exclusion, Interval, Mark, PointsEstimate, ProbeSummary, RanOut, Repetition,
    SUMMARY_FORMAT, TimeSpent, TimelineRow, Verdict,
};
use loadlab::lock::Lock;
use loadlab::model::derived::{Comparison, DerivedRule};
use loadlab::model::experiment::{NamedResult, ResultState};
use loadlab::model::{
    BlockId, Caveat, Centre, Digest, Experiment, GuardCode, HostFacts, LoadPoint, LoadShape,
    MeasurementId, Metric, Outcome, Phase, Role, Unit,
};
use loadlab::record::event::{Attempt, Opened, Session};
use loadlab::record::sample::{Sample, SampleCandidate};
use loadlab::report::{Context, WitnessFile};

use super::observed;

/// Everything that a report is made of.
pub struct Made {
    pub experiment: Experiment,
    pub opened: Opened,
    pub sessions: Vec<Session>,
    pub host: HostFacts,
    pub lock: Option<Lock>,
    pub prose: Option<String>,
    pub files: Vec<WitnessFile>,
    pub summary: Summary,
}

fn named<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().unwrap()
}

fn decimal(value: f64) -> Decimal {
    Decimal::from(value)
}

/// A deviation in parts of one, the same for the same place; at most 3 %.
fn deviation(of: &[&str]) -> f64 {
    let seed = Digest::of(of.join("/").as_bytes()).seed() % 2001;
    (f64::from(u32::try_from(seed).unwrap()) - 1000.0) / 1000.0 * 0.03
}

impl Made {
    /// Three candidates, a fixed-rate phase and a ceiling.
    pub fn new() -> Self {
        let candidate = |name, cpu_per_request_ns, body_bytes| SampleCandidate {
            name,
            cpu_per_request_ns,
            body_bytes,
            p50_ns: 200_000 + cpu_per_request_ns,
            memory_bytes: 6 << 20,
        };
        let sample = Sample {
            candidates: vec![
                candidate("plain", 64_000, 20_078),
                candidate("level-1", 158_000, 7_549),
                candidate("level-6", 362_000, 6_889),
            ],
            ..Sample::default()
        }
        .with_ceiling(&[4, 16, 64, 256]);
        let records = sample.records();
        let inputs = sample.inputs();
        let mut experiment = sample.experiment();
        for (name, title) in [
            ("plain", "gzip off"),
            ("level-1", "gzip level 1"),
            ("level-6", "gzip level 6"),
        ] {
            experiment
                .candidates
                .get_mut(&named::<loadlab::model::CandidateName>(name))
                .unwrap()
                .title = title.to_owned();
        }
        words(&mut experiment);
        let summary = summary(&experiment, &sample);
        let file = |path: &str, bytes| WitnessFile {
            path: path.to_owned(),
            bytes,
            digest: Digest::of(path.as_bytes()),
        };
        Self {
            opened: records.opened().unwrap().clone(),
            sessions: records.sessions().into_iter().cloned().collect(),
            host: inputs.host,
            lock: inputs
                .lock
                .map(|bytes| serde_json::from_slice(&bytes).unwrap()),
            prose: Some(PROSE.to_owned()),
            files: vec![
                file("experiment.yaml", 1_200),
                file("raw/a b.json", 4_000),
                file("records.jsonl", 90_000),
            ],
            experiment,
            summary,
        }
    }

    /// The files of the report.
    pub fn render(&self) -> Result<BTreeMap<String, Vec<u8>>, loadlab::report::RenderError> {
        self.render_with(&loadlab::report::Templates::default(), true)
    }

    /// The files of the report with other templates, as an entry or as a draft.
    pub fn render_with(
        &self,
        templates: &loadlab::report::Templates,
        published: bool,
    ) -> Result<BTreeMap<String, Vec<u8>>, loadlab::report::RenderError> {
        let sessions: Vec<&Session> = self.sessions.iter().collect();
        let context = Context {
            experiment: &self.experiment,
            opened: &self.opened,
            sessions: &sessions,
            host: &self.host,
            lock: self.lock.as_ref(),
            prose: self.prose.as_deref(),
            files: &self.files,
            published,
        };
        loadlab::report::render(&self.summary, &context, templates)
    }
}

const PROSE: &str = r#"## What the page costs

The same page was served by one nginx three times: without compression, at level 1 and at level 6.
At {{ planned("rate") }} a request costs {{ value(candidate="plain", phase="fixed-rate", metric="cpu_per_request") }} of CPU
without compression and {{ value(candidate="level-6", phase="fixed-rate", metric="cpu_per_request") }} at level 6: **{{ ratio(compare="level-6", against="level-1", metric="cpu_per_request") }} times** level 1
({{ ratio(compare="level-6", against="level-1", metric="cpu_per_request", show="interval") }}).

| Level | Bytes |
| --- | ---: |
| off | {{ value(candidate="plain", phase="fixed-rate", metric="bytes_per_answer") }} |
| 6 | {{ value(candidate="level-6", phase="fixed-rate", metric="bytes_per_answer") }} |

![Every repetition](charts/fixed-rate.cpu-per-request.svg)

A byte saved costs {{ derived("price_of_a_byte") }}; elsewhere {{ cited("61 µs", "an earlier run") }} was seen.
"#;

fn words(experiment: &mut Experiment) {
    let page = &mut experiment.page;
    page.title = "What gzip costs nginx".to_owned();
    page.question = "How much CPU does one 20 KB page need with gzip off, at level 1 and at level 6, and how many bytes does that save?".to_owned();
    page.programme = Some("Service and load".to_owned());
    page.technologies = vec!["nginx".to_owned(), "gzip".to_owned()];
    let finding = page.finding.as_mut().unwrap();
    finding.text = "Level 6 costs {{ ratio(compare=\"level-6\", against=\"level-1\", metric=\"cpu_per_request\") }} times the CPU of level 1 ({{ value(candidate=\"level-6\", phase=\"fixed-rate\", metric=\"cpu_per_request\") }} against {{ value(candidate=\"level-1\", phase=\"fixed-rate\", metric=\"cpu_per_request\") }}) and saves less than a tenth of the bytes.".to_owned();
    finding.because = "one machine with two cores, every repetition close to the others".to_owned();
    page.limits = vec![
        "One small virtual machine: the generator runs beside the candidate.".to_owned(),
        "One page of one size; nothing here says how *other* content compresses.".to_owned(),
    ];
    page.questions = vec!["Does a dictionary change the order?".to_owned()];
    page.results = vec![NamedResult {
        id: "level-six".to_owned(),
        title: "Level 6 saves little".to_owned(),
        setup: "nginx with one worker".to_owned(),
        measured: "{{ value(candidate=\"level-6\", phase=\"fixed-rate\", metric=\"bytes_per_answer\") }} against {{ value(candidate=\"level-1\", phase=\"fixed-rate\", metric=\"bytes_per_answer\") }}".to_owned(),
        fix: Some("Use level 1.".to_owned()),
        state: ResultState::Shown,
    }];
}

fn summary(experiment: &Experiment, sample: &Sample) -> Summary {
    let mut summary = Summary {
        format: SUMMARY_FORMAT,
        analysis: ANALYSIS,
        protocol: experiment.protocol,
        experiment: experiment.name.clone(),
        entry: sample.entry(),
        measured_on: ("2026-11-30".to_owned(), "2026-11-30".to_owned()),
        time: TimeSpent {
            wall_ms: 402_000,
            load_ms: 216_000,
            warmup_ms: 36_000,
            probe_ms: 60_000,
            own_cores: Some(decimal(0.004_2)),
        },
        complete: true,
        counts: Vec::new(),
        cells: Vec::new(),
        estimates: Vec::new(),
        over_points: Vec::new(),
        comparisons: Vec::new(),
        derived: vec![derived()],
        probe: probe(),
        standards: None,
        exclusions: vec![exclusion()],
        caveats: caveats(),
        timeline: Vec::new(),
        counters: BTreeMap::from([(
            Role::Candidate,
            "cgroup v2 cpu.stat, steps of 1 µs".to_owned(),
        )]),
        machine_counters: "use of each CPU exact; steal and softirq from /proc/stat in steps of 10000000 ns; read within 40000 ns".to_owned(),
        limits: observed::limits(),
        steal_was_seen: false,
        answered_in_all: 5_200_001,
    };
    for phase in experiment.phases.values() {
        for candidate in &sample.candidates {
            fill(&mut summary, phase, candidate);
        }
    }
    summary.comparisons = comparisons(experiment);
    summary.timeline.sort_by_key(|row| row.at_ms);
    summary
}

fn fill(summary: &mut Summary, phase: &Phase, candidate: &SampleCandidate) {
    let name: loadlab::model::CandidateName = named(candidate.name);
    summary.counts.push(BlockCounts {
        phase: phase.name.clone(),
        candidate: name.clone(),
        planned: u64::from(phase.repetitions),
        kept: u64::from(phase.repetitions),
        excluded: u64::from(candidate.name == "plain"),
        tried_again: u64::from(candidate.name == "plain"),
    });
    for scenario in phase.load.scenarios() {
        for at in phase.load.points(scenario) {
            summary.cells.push(cell(phase, &name, scenario, at));
            for metric in phase.estimate.keys() {
                summary
                    .estimates
                    .push(estimate(phase, candidate, scenario, at, *metric));
            }
            rows(summary, phase, candidate, scenario, at);
        }
        if matches!(phase.load, LoadShape::Ceiling { .. }) {
            summary
                .over_points
                .push(over_points(phase, candidate, scenario));
        }
    }
}

/// The true value of a metric.
fn truth(candidate: &SampleCandidate, at: LoadPoint, metric: Metric) -> f64 {
    let cpu = candidate.cpu_per_request_ns as f64;
    match (metric, at) {
        (Metric::Achieved, LoadPoint::Rate(rate)) => rate.get() as f64,
        (Metric::Achieved, LoadPoint::Connections(count)) => {
            1e9 / cpu * (1.0 - 1.0 / (f64::from(count) + 1.0))
        }
        (Metric::CpuPerRequest, LoadPoint::Connections(_)) => cpu * 0.8,
        (Metric::CpuPerRequest, LoadPoint::Rate(_)) => cpu,
        (Metric::CoresUsed, _) => cpu / 1e6,
        (Metric::BytesPerAnswer, _) => candidate.body_bytes as f64,
        (Metric::MemoryPeak | Metric::MemoryMean, _) => candidate.memory_bytes as f64,
        (Metric::Latency(quantile), _) => {
            candidate.p50_ns as f64 * f64::from(quantile.hundred_thousandths()) / 50_000.0
        }
    }
}

#[allow(clippy::too_many_lines, reason = "one literal of many fields")]
fn estimate(
    phase: &Phase,
    candidate: &SampleCandidate,
    scenario: &loadlab::model::ScenarioName,
    at: LoadPoint,
    metric: Metric,
) -> Estimate {
    let exact = metric == Metric::BytesPerAnswer;
    let at_rate = metric == Metric::Achieved && matches!(at, LoadPoint::Rate(_));
    let noise = if exact {
        0.0
    } else if at_rate {
        0.001
    } else {
        1.0
    };
    let value = |round: u32| {
        let off = deviation(&[
            candidate.name,
            phase.name.as_str(),
            &at.to_string(),
            &metric.to_string(),
            &round.to_string(),
        ]);
        truth(candidate, at, metric) * (1.0 + off * noise)
    };
    let values: Vec<f64> = (1..=phase.repetitions).map(value).collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    let median = f64::midpoint(sorted[sorted.len() / 2], sorted[(sorted.len() - 1) / 2]);
    let centre = phase.estimate[&metric].repetitions;
    let estimate = if centre == Centre::Best { max } else { median };
    let repetition = |(index, value): (usize, &f64)| Repetition {
        round: u32::try_from(index).unwrap() + 1,
        attempt: 1,
        value: Some(decimal(*value)),
        at_most: None,
        because: None,
        outcome: if matches!(at, LoadPoint::Rate(_)) {
            Outcome::Held
        } else {
            Outcome::Completed
        },
        accepted: true,
    };
    Estimate {
        phase: phase.name.clone(),
        scenario: scenario.clone(),
        at,
        candidate: named(candidate.name),
        role: Role::Candidate,
        metric,
        unit: metric.unit(),
        centre,
        n: values.len() as u64,
        values: values.iter().enumerate().map(repetition).collect(),
        value: Some(decimal(estimate)),
        at_most: None,
        at_least: at == LoadPoint::Connections(256)
            && candidate.name == "plain"
            && metric == Metric::Achieved,
        because: None,
        interval: (values.len() >= 6).then(|| Interval {
            low: decimal(min),
            high: decimal(max),
            coverage: decimal(0.968_75),
            kind: "order statistics of the median".to_owned(),
        }),
        min: Some(decimal(min)),
        max: Some(decimal(max)),
        median: Some(decimal(median)),
        achieved: (metric == Metric::CpuPerRequest)
            .then(|| decimal(truth(candidate, at, Metric::Achieved))),
        with_everything: Some(decimal(
            if candidate.name == "plain" && metric == Metric::CpuPerRequest {
                estimate * 1.012
            } else {
                estimate
            },
        )),
        rig_floor: candidate.name == "plain" && matches!(metric, Metric::Latency(_)),
        mark: Mark::Measured,
    }
}

fn cell(
    phase: &Phase,
    candidate: &loadlab::model::CandidateName,
    scenario: &loadlab::model::ScenarioName,
    at: LoadPoint,
) -> Cell {
    let n = u64::from(phase.repetitions);
    let rate = matches!(at, LoadPoint::Rate(_));
    let slow = rate && candidate.as_str() == "level-6";
    let outcomes = if slow {
        vec![(Outcome::Held, n - 1), (Outcome::NotHeld, 1)]
    } else if rate {
        vec![(Outcome::Held, n)]
    } else {
        vec![(Outcome::Completed, n)]
    };
    Cell {
        phase: phase.name.clone(),
        scenario: scenario.clone(),
        at,
        candidate: candidate.clone(),
        kept: n,
        accepted: n,
        attempted: n + u64::from(candidate.as_str() == "plain"),
        outcomes: outcomes.into_iter().collect(),
        ran_out: BTreeMap::from([(
            if rate {
                RanOut::Nobody
            } else {
                RanOut::Candidate
            },
            n,
        )]),
        candidate_busy: Some(decimal(if rate { 0.31 } else { 0.98 })),
        generator_busy: Some(decimal(0.42)),
        foreign_cores: Some(decimal(0.012)),
        foreign_at_most: (!rate).then(|| decimal(0.061)),
        steal: None,
        softirq_per_request: Some(decimal(6_300.0)),
        idle_cores: Some(decimal(0.001)),
        not_steady: u64::from(slow),
        burst: rate.then_some(2),
        connections: match at {
            LoadPoint::Rate(_) => 16,
            LoadPoint::Connections(count) => count,
        },
        requests: Some(observed::requests(n, rate.then_some(80_000 * n))),
        memory: observed::memory(),
        watched: observed::watched(),
    }
}

fn rows(
    summary: &mut Summary,
    phase: &Phase,
    candidate: &SampleCandidate,
    scenario: &loadlab::model::ScenarioName,
    at: LoadPoint,
) {
    let first = if matches!(at, LoadPoint::Rate(_)) {
        0
    } else {
        180_000
    };
    for round in 1..=phase.repetitions {
        let position = summary.timeline.len() as u64;
        let block = BlockId {
            phase: phase.name.clone(),
            round,
            candidate: named(candidate.name),
        };
        let off = deviation(&[candidate.name, &at.to_string(), &round.to_string()]);
        let lost = round == 2 && candidate.name == "plain" && first == 0;
        for attempt in 1..=(1 + u32::from(lost)) {
            let time = truth(candidate, at, Metric::CpuPerRequest) * (1.0 + off);
            summary.timeline.push(TimelineRow {
                attempt: Attempt {
                    block: block.clone(),
                    attempt,
                },
                id: MeasurementId {
                    scenario: scenario.clone(),
                    at,
                },
                at_ms: first
                    + u64::from(round) * 30_000
                    + position * 700
                    + u64::from(attempt) * 9_000,
                kept: !(lost && attempt == 1),
                ran_out: RanOut::Nobody,
                outcome: if first == 0 {
                    Outcome::Held
                } else {
                    Outcome::Completed
                },
                achieved: Some((
                    decimal(truth(candidate, at, Metric::Achieved)),
                    decimal(truth(candidate, at, Metric::Achieved)),
                )),
                cpu_per_request: Some(decimal(if attempt == 1 && lost {
                    time * 1.3
                } else {
                    time
                })),
                p50: Some(decimal(candidate.p50_ns as f64)),
                p99: (first == 0).then(|| decimal(candidate.p50_ns as f64 * 3.1)),
            });
        }
    }
}

fn over_points(
    phase: &Phase,
    candidate: &SampleCandidate,
    scenario: &loadlab::model::ScenarioName,
) -> PointsEstimate {
    let top = LoadPoint::Connections(256);
    let value = truth(candidate, top, Metric::Achieved);
    PointsEstimate {
        phase: phase.name.clone(),
        scenario: scenario.clone(),
        candidate: named(candidate.name),
        role: Role::Candidate,
        metric: Metric::Achieved,
        unit: Unit::PerSecond,
        repetitions: Centre::Best,
        points: Centre::Best,
        value: Some(decimal(value * 1.01)),
        at_least: candidate.name == "plain",
        at: Some(top),
        best_median: Some((LoadPoint::Connections(64), decimal(value))),
        best_single: Some((top, decimal(value * 1.01))),
        because: None,
    }
}

fn comparisons(experiment: &Experiment) -> Vec<ComparisonResult> {
    let comparison = |compare: &str, against: &str| Comparison {
        metric: Metric::CpuPerRequest,
        phase: named("fixed-rate"),
        scenario: Some(named("page")),
        at: Some(named("1000/s")),
        role: None,
        compare: named(compare),
        against: named(against),
        equivalent_within: None,
    };
    assert!(
        experiment
            .phases
            .contains_key(&named::<loadlab::model::PhaseName>("fixed-rate"))
    );
    let result = |comparison, primary, compare: f64, against: f64| ComparisonResult {
        comparison,
        primary,
        compare_value: Some(decimal(compare)),
        against_value: Some(decimal(against)),
        achieved: (Some(decimal(999.6)), Some(decimal(999.9))),
        n: (6, 6),
        ratio: Some(decimal(compare / against)),
        interval: Some(Interval {
            low: decimal(compare / against * 0.98),
            high: decimal(compare / against * 1.021),
            coverage: decimal(0.958_9),
            kind: "exact two-sample ranks".to_owned(),
        }),
        verdict: Some(Verdict::Higher),
        because: None,
        corrected_for: u64::from(!primary) + 1,
        p_value: (!primary).then(|| decimal(0.002_164)),
    };
    vec![
        result(comparison("level-6", "level-1"), true, 362_000.0, 158_000.0),
        result(comparison("level-1", "plain"), false, 158_000.0, 64_000.0),
        ComparisonResult {
            interval: None,
            verdict: None,
            because: Some("the achieved rates are unequal".to_owned()),
            ..result(comparison("level-6", "plain"), false, 362_000.0, 64_000.0)
        },
    ]
}

fn derived() -> DerivedResult {
    DerivedResult {
        name: named("price_of_a_byte"),
        title: "CPU for each byte that level 6 saves over level 1".to_owned(),
        rule: DerivedRule::Formula {
            formula: "(value(candidate=\"level-6\", metric=\"cpu_per_request\") - value(candidate=\"level-1\", metric=\"cpu_per_request\")) / …".to_owned(),
            unit: Unit::NanosecondsPerByte,
        },
        rows: vec![DerivedRow {
            candidate: None,
            scenario: None,
            value: Some(decimal(309.09)),
            with_best_single: None,
            relative: None,
            agrees: None,
            unit: Unit::NanosecondsPerByte,
            mark: Mark::Calculated,
            note: Some("assumes that both answers are the same page".to_owned()),
        }],
    }
}

fn probe() -> ProbeSummary {
    let three = |low, median, high| [decimal(low), decimal(median), decimal(high)];
    ProbeSummary {
        readings: 59,
        achieved: Some(three(3_998.0, 4_000.0, 4_000.0)),
        cpu_per_request: Some(three(28_100.0, 29_300.0, 31_900.0)),
        p99: Some(three(310_000.0, 355_000.0, 420_000.0)),
        fixed_work: BTreeMap::from([(0, three(0.99, 1.0, 1.04))]),
        ceiling: Some(decimal(61_200.0)),
        resolves: Some(decimal(1.062)),
        resolves_because: "59 readings of one nginx; with six repetitions a side, 95 % of made-up pairs differ by less.".to_owned(),
    }
}

fn exclusion() -> Exclusion {
    Exclusion {
        attempt: Attempt {
            block: BlockId {
                phase: named("fixed-rate"),
                round: 2,
                candidate: named("plain"),
            },
            attempt: 1,
        },
        measurement: None,
        code: GuardCode::ForeignLoad,
        evidence: "0.31 cores of other work on CPU 0, at most 0.05".to_owned(),
        by: None,
        on: None,
    }
}

fn caveats() -> Vec<CaveatNote> {
    let note = |code, detail: &str| CaveatNote {
        code,
        detail: detail.to_owned(),
    };
    vec![
        note(Caveat::SharedCores, "candidate and load share CPU 1"),
        note(Caveat::StealUnknown, "kvm, no steal in 402 s"),
        note(Caveat::BodyUnseen, "samples before and after each window"),
        note(Caveat::CeilingOfRig, "gzip off at 256 connections"),
        note(Caveat::CeilingOfRig, "gzip off at 64 connections"),
    ]
}
