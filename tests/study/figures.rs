//! The published medians as an experiment, a plan and records in which they were seen.

use loadlab::estimate::estimate;
use loadlab::estimate::summary::Summary;
use loadlab::model::candidate::{Lifetime, Service};
use loadlab::model::{
    Centre, EstimateRule, Experiment, Known, LoadPoint, LoadShape, MeasurementId, Metric, Outcome,
    Rate, Role, RoleReading,
};
use loadlab::plan::Plan;
use loadlab::record::event::{Event, Measured};
use loadlab::record::sample::{Sample, SampleCandidate};
use loadlab::record::{Line, Records};
use serde_json::Value;

use super::declared::derived;

const SCENARIOS: [&str; 3] = ["token-check", "read", "write"];
const CANDIDATES: [&str; 3] = ["go", "php-fpm", "frankenphp"];

pub fn figures() -> Value {
    serde_json::from_str(include_str!("../data/php-go-oauth2.figures.json")).unwrap()
}

pub fn name<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn target(figures: &Value, scenario: &str) -> Rate {
    Rate::per_second(
        figures["inputs"]["target_per_s"][scenario]
            .as_u64()
            .unwrap(),
    )
    .unwrap()
}

/// The study's experiment: three candidates, three scenarios, a database.
fn experiment(sample: &Sample, figures: &Value) -> Experiment {
    let mut experiment = sample.experiment();
    let page = experiment.scenarios.values().next().unwrap().clone();
    experiment.scenarios = SCENARIOS
        .iter()
        .map(|it| (name(it), page.clone()))
        .collect();
    let definition = experiment
        .candidates
        .values()
        .next()
        .unwrap()
        .definition
        .clone();
    let postgres = Service {
        name: name("postgres"),
        title: "PostgreSQL".to_owned(),
        lifetime: Lifetime::Block,
        definition,
    };
    experiment.services = [(name("postgres"), postgres)].into_iter().collect();
    experiment.budgets.entry(Role::Candidate).or_default().cores = Some(4);
    experiment.primary = None;
    experiment.derived = derived();
    for phase in experiment.phases.values_mut() {
        match &mut phase.load {
            LoadShape::FixedRate { rates, .. } => {
                *rates = SCENARIOS
                    .iter()
                    .map(|it| (name(it), vec![target(figures, it)]))
                    .collect();
            }
            LoadShape::Ceiling { scenarios, .. } => {
                *scenarios = SCENARIOS.iter().map(|it| name(it)).collect();
                let best = EstimateRule {
                    repetitions: Centre::Best,
                    points: Some(Centre::Best),
                };
                phase.estimate.insert(Metric::Achieved, best);
            }
        }
    }
    experiment
}

fn ids(phase: &str, figures: &Value) -> Vec<MeasurementId> {
    let at = |scenario: &str| match phase {
        "ceiling" => LoadPoint::Connections(256),
        _ => LoadPoint::Rate(target(figures, scenario)),
    };
    SCENARIOS
        .iter()
        .map(|it| MeasurementId {
            scenario: name(it),
            at: at(it),
        })
        .collect()
}

fn plan(sample: &Sample, figures: &Value) -> Plan {
    let mut plan = sample.plan();
    for block in &mut plan.blocks {
        let template = block.measurements[0].clone();
        let of = |id| loadlab::plan::Measurement {
            id,
            ..template.clone()
        };
        block.measurements = ids(block.id.phase.as_str(), figures)
            .into_iter()
            .map(of)
            .collect();
    }
    plan
}

fn cpu(reading: &mut RoleReading, cpu_ns: u64) {
    if let Known::Value(cpu) = &mut reading.cpu {
        cpu.cpu_ns = cpu_ns;
        cpu.per_cpu_ns = Known::Absent("not in the study".to_owned());
    }
}

/// A window in which the published medians were seen.
fn window(template: &Measured, id: MeasurementId, figures: &Value) -> Measured {
    const SECONDS: u64 = 60;
    let mut measured = template.clone();
    let inputs = &figures["inputs"];
    let candidate = measured.attempt.block.candidate.to_string();
    let scenario = id.scenario.to_string();
    let of = |table: &str| inputs[table][&candidate][&scenario].as_u64();
    let (rate, planned) = match id.at {
        LoadPoint::Rate(target) => (of("achieved_per_s"), Some(target.get() * SECONDS)),
        LoadPoint::Connections(_) => (of("ceiling_per_s"), None),
    };
    let answered = rate.unwrap() * SECONDS;
    measured.window_ns = SECONDS * 1_000_000_000;
    measured.after.host.monotonic_ns = measured.before.host.monotonic_ns + measured.window_ns;
    measured.after.host.boottime_ns = measured.after.host.monotonic_ns;
    measured.after.host.realtime_ns = measured.before.host.realtime_ns + measured.window_ns;
    measured.after.host.used_per_cpu_ns = Known::Absent("not in the study".to_owned());
    measured.witness = None;
    measured.answers.clear();
    measured.outcome = if planned.is_some() {
        Outcome::Held
    } else {
        Outcome::Completed
    };
    if let Known::Value(account) = &mut measured.account {
        account.planned = planned;
        account.sent = loadlab::model::Count::Observed(answered);
        account.answered = account.sent;
        account.by_status = [(200, answered)].into();
    }
    let postgres = Role::Service(name("postgres"));
    for edge in [&mut measured.before, &mut measured.after] {
        let reading = edge.roles[&Role::Candidate].clone();
        edge.roles.insert(postgres.clone(), reading);
    }
    let costs = [
        (Role::Candidate, of("candidate_cpu_us_per_request")),
        (postgres, of("postgres_cpu_us_per_request")),
    ];
    for (role, cost_us) in costs {
        cpu(measured.before.roles.get_mut(&role).unwrap(), 0);
        let used = answered * cost_us.unwrap_or(0) * 1_000;
        cpu(measured.after.roles.get_mut(&role).unwrap(), used);
    }
    measured.id = id;
    measured
}

fn records(sample: &Sample, figures: &Value) -> Records {
    let mut lines: Vec<Line> = Vec::new();
    for line in sample.records().lines() {
        let Event::Measured(template) = &line.event else {
            lines.push(line.clone());
            continue;
        };
        for id in ids(template.attempt.block.phase.as_str(), figures) {
            let measured = window(template, id, figures);
            lines.push(Line {
                event: Event::Measured(Box::new(measured)),
                ..line.clone()
            });
        }
    }
    Records::new(lines)
}

pub fn study() -> Summary {
    let figures = figures();
    let candidates = CANDIDATES.map(|name| SampleCandidate {
        name,
        cpu_per_request_ns: 60_000,
        body_bytes: 100,
        p50_ns: 1_000_000,
        memory_bytes: 27 << 20,
    });
    let sample = Sample {
        candidates: candidates.into(),
        rounds: 5,
        ..Sample::default()
    }
    .with_ceiling(&[256]);
    let experiment = experiment(&sample, &figures);
    estimate(
        &records(&sample, &figures),
        &experiment,
        &plan(&sample, &figures),
        &[],
    )
}
