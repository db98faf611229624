//! A whole summary of made-up numbers that fit an experiment: every part of the page has something to show.

mod numbers;
mod verdicts;

use std::collections::BTreeMap;

use loadlab::estimate::Summary;
use loadlab::estimate::summary::{ANALYSIS, BlockCounts, SUMMARY_FORMAT, TimeSpent};
use loadlab::lock::Lock;
use loadlab::model::experiment::{NamedResult, ResultState};
use loadlab::model::{Digest, Experiment, HostFacts, LoadShape, Phase, Role};
use loadlab::record::event::{Opened, Session};
use loadlab::record::sample::{Sample, SampleCandidate};
use loadlab::report::{Context, WitnessFile};

use crate::observed;
use numbers::{cell, decimal, estimate, over_points, rows};
use verdicts::{caveats, comparisons, derived, exclusion, probe};

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
        let summary = std::sync::Arc::new(self.summary.clone());
        loadlab::report::render(&summary, &context, templates).map(|files| whole(&files))
    }
}

/// Every file in memory.
pub fn whole(files: &loadlab::report::Files) -> BTreeMap<String, Vec<u8>> {
    let whole = files.each(|_, content| {
        let mut bytes = Vec::new();
        content.write_to(&mut bytes).map(|()| bytes)
    });
    whole.unwrap()
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
