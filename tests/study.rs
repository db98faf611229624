//! The tables of a published study come out of its published medians.
//!
//! `data/php-go-oauth2.figures.json` holds the medians and derived tables that were published at
//! <https://www.muhammetsafak.com.tr/en/research/php-vs-go-oauth2-postgres-load-test/>, rounded as
//! there. A cell agrees when the ranges that the rounding of its inputs and of itself allow overlap.

#![allow(clippy::unwrap_used)]

use indexmap::IndexMap;
use loadlab::estimate::estimate;
use loadlab::estimate::summary::{DerivedResult, DerivedRow, Mark, Summary};
use loadlab::model::candidate::{Lifetime, Service};
use loadlab::model::derived::{Derived, DerivedRule};
use loadlab::model::{
    Centre, EstimateRule, Experiment, Known, LoadPoint, LoadShape, MeasurementId, Metric, Outcome,
    Rate, Role, RoleReading, ScenarioName, Share,
};
use loadlab::plan::Plan;
use loadlab::record::event::{Event, Measured};
use loadlab::record::sample::{Sample, SampleCandidate};
use loadlab::record::{Line, Records};
use serde_json::Value;

const SCENARIOS: [&str; 3] = ["token-check", "read", "write"];
const CANDIDATES: [&str; 3] = ["go", "php-fpm", "frankenphp"];

fn figures() -> Value {
    serde_json::from_str(include_str!("data/php-go-oauth2.figures.json")).unwrap()
}

fn name<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
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

fn derived() -> IndexMap<loadlab::model::DerivedName, Derived> {
    let target = Rate::per_second(50_000).unwrap();
    let (scenario, go): (ScenarioName, _) = (name("read"), Some(name("go")));
    let rules = [
        (
            "by-cpu-time",
            DerivedRule::CoresByCpuTime {
                target,
                scenario: scenario.clone(),
                phase: name("fixed-rate"),
                against: go.clone(),
            },
        ),
        (
            "by-instance",
            DerivedRule::CoresByInstance {
                target,
                scenario,
                phase: name("ceiling"),
                against: go,
            },
        ),
        (
            "token-share",
            DerivedRule::Share {
                of: name("token-check"),
                within: name("read"),
                metric: Metric::CpuPerRequest,
                phase: name("fixed-rate"),
            },
        ),
        (
            "phases-agree",
            DerivedRule::Corroboration {
                target: name("fixed-rate"),
                ceiling: name("ceiling"),
                within: Share::percent(10),
            },
        ),
    ];
    for_each_database_ratio(rules.map(|(key, rule)| (key.to_owned(), rule)).into())
}

fn for_each_database_ratio(
    mut rules: Vec<(String, DerivedRule)>,
) -> IndexMap<loadlab::model::DerivedName, Derived> {
    for scenario in ["read", "write"] {
        let value = |candidate: &str| {
            format!(
                "value(candidate=\"{candidate}\", scenario=\"{scenario}\", phase=\"fixed-rate\", role=\"postgres\", metric=\"cpu_per_request\")"
            )
        };
        let formula = format!("{} / {} - 1", value("php-fpm"), value("go"));
        let rule = DerivedRule::Formula {
            formula,
            unit: loadlab::model::Unit::One,
        };
        rules.push((format!("database-{scenario}"), rule));
    }
    let derived = rules.into_iter().map(|(key, rule)| {
        let key: loadlab::model::DerivedName = name(&key);
        (
            key.clone(),
            Derived {
                title: key.to_string(),
                name: key,
                rule,
            },
        )
    });
    derived.collect()
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

fn study() -> Summary {
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

fn rows<'a>(summary: &'a Summary, key: &str) -> &'a [DerivedRow] {
    let ours = |it: &&DerivedResult| it.name.as_str() == key;
    &summary.derived.iter().find(ours).unwrap().rows
}

/// Ours from rounded inputs against what was published, half a unit of its last digit either way.
#[track_caller]
fn agrees(ours: f64, input_error: f64, published: f64, half_unit: f64) {
    let off = (ours - published).abs();
    assert!(
        off <= half_unit + ours.abs() * input_error + 1e-9,
        "{ours} for {published}"
    );
}

fn number(row: &DerivedRow) -> f64 {
    row.value
        .as_ref()
        .unwrap_or_else(|| panic!("{row:?}"))
        .get()
}

#[test]
fn every_derived_cell_of_the_study_comes_out() {
    let (summary, figures) = (study(), figures());
    assert!(summary.complete, "{:?}", summary.exclusions);
    let expected = &figures["expected"];
    for (key, table, versus, error) in [
        (
            "by-cpu-time",
            "cores_by_cpu_time_read_50000",
            "cores_by_cpu_time_vs_go",
            0.5 / 64.0,
        ),
        (
            "by-instance",
            "cores_by_instance_read_50000",
            "cores_by_instance_vs_go",
            0.0,
        ),
    ] {
        for row in rows(&summary, key) {
            let candidate = row.candidate.as_ref().unwrap().as_str();
            agrees(
                number(row),
                error,
                expected[table][candidate].as_f64().unwrap(),
                0.05,
            );
            let relative = row.relative.as_ref().unwrap().get();
            agrees(
                relative,
                2.0 * error,
                expected[versus][candidate].as_f64().unwrap(),
                0.05,
            );
        }
    }
    for row in rows(&summary, "token-share") {
        let candidate = row.candidate.as_ref().unwrap().as_str();
        let published = expected["token_share_of_read_percent"][candidate]
            .as_f64()
            .unwrap();
        agrees(100.0 * number(row), 0.5 / 47.0 + 0.5 / 64.0, published, 0.5);
    }
    for scenario in ["read", "write"] {
        let row = &rows(&summary, &format!("database-{scenario}"))[0];
        let published = expected["postgres_php_fpm_over_go_percent"][scenario]
            .as_f64()
            .unwrap();
        let over = 100.0 * (1.0 + number(row));
        agrees(over, 0.5 / 34.0 + 0.5 / 53.0, 100.0 + published, 0.5);
    }
}

#[test]
fn what_was_held_marks_the_cells() {
    let (summary, figures) = (study(), figures());
    for cell in summary
        .cells
        .iter()
        .filter(|cell| cell.phase.as_str() == "fixed-rate")
    {
        let held = figures["expected"]["held"][cell.candidate.as_str()]
            .as_array()
            .unwrap();
        let published = held.contains(&Value::from(cell.scenario.as_str()));
        let ours = cell.outcomes.get(&Outcome::Held) == Some(&5);
        assert_eq!(ours, published, "{} {}", cell.candidate, cell.scenario);
    }
    let marks: Vec<_> = rows(&summary, "by-cpu-time")
        .iter()
        .map(|row| (row.candidate.as_ref().unwrap().to_string(), row.mark))
        .collect();
    let expected = [
        ("go".to_owned(), Mark::Measured),
        ("php-fpm".to_owned(), Mark::Extrapolated),
        ("frankenphp".to_owned(), Mark::Extrapolated),
    ];
    assert_eq!(marks, expected);
}

#[test]
fn both_phases_agree_where_a_target_was_not_held() {
    let summary = study();
    let agreeing: Vec<_> = rows(&summary, "phases-agree")
        .iter()
        .filter_map(|row| {
            let cell = (
                row.scenario.as_ref()?.to_string(),
                row.candidate.as_ref()?.to_string(),
            );
            Some((cell, row.agrees?))
        })
        .collect();
    let cell =
        |scenario: &str, candidate: &str| ((scenario.to_owned(), candidate.to_owned()), true);
    let expected = [
        cell("token-check", "php-fpm"),
        cell("token-check", "frankenphp"),
        cell("read", "php-fpm"),
        cell("read", "frankenphp"),
    ];
    assert_eq!(agreeing, expected);
}
