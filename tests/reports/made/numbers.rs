//! Made-up numbers of each cell: close to a true value, the same for the same place.

use std::collections::BTreeMap;

use loadlab::estimate::Summary;
use loadlab::estimate::summary::{
    Cell, Decimal, Estimate, Interval, Mark, PointsEstimate, RanOut, Repetition, TimelineRow,
};
use loadlab::model::{
    BlockId, Centre, Digest, LoadPoint, MeasurementId, Metric, Outcome, Phase, Role, Unit,
};
use loadlab::record::event::Attempt;
use loadlab::record::sample::SampleCandidate;

use super::named;
use crate::observed;

pub(super) fn decimal(value: f64) -> Decimal {
    Decimal::from(value)
}

/// A deviation in parts of one, the same for the same place; at most 3 %.
fn deviation(of: &[&str]) -> f64 {
    let seed = Digest::of(of.join("/").as_bytes()).seed() % 2001;
    (f64::from(u32::try_from(seed).unwrap()) - 1000.0) / 1000.0 * 0.03
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

/// The value of each repetition, near the true one.
fn values(phase: &Phase, candidate: &SampleCandidate, at: LoadPoint, metric: Metric) -> Vec<f64> {
    let noise = match (metric, at) {
        (Metric::BytesPerAnswer, _) => 0.0,
        (Metric::Achieved, LoadPoint::Rate(_)) => 0.001,
        _ => 1.0,
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
    (1..=phase.repetitions).map(value).collect()
}

fn repetitions(values: &[f64], at: LoadPoint) -> Vec<Repetition> {
    let repetition = |(value, round): (&f64, u32)| Repetition {
        round,
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
    values.iter().zip(1..).map(repetition).collect()
}

pub(super) fn estimate(
    phase: &Phase,
    candidate: &SampleCandidate,
    scenario: &loadlab::model::ScenarioName,
    at: LoadPoint,
    metric: Metric,
) -> Estimate {
    let values = values(phase, candidate, at, metric);
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    let median = f64::midpoint(sorted[sorted.len() / 2], sorted[(sorted.len() - 1) / 2]);
    let centre = phase.estimate[&metric].repetitions;
    let estimate = if centre == Centre::Best { max } else { median };
    let plain = candidate.name == "plain";
    let with_everything = if plain && metric == Metric::CpuPerRequest {
        estimate * 1.012
    } else {
        estimate
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
        values: repetitions(&values, at),
        value: Some(decimal(estimate)),
        at_most: None,
        at_least: plain && at == LoadPoint::Connections(256) && metric == Metric::Achieved,
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
        with_everything: Some(decimal(with_everything)),
        rig_floor: plain && matches!(metric, Metric::Latency(_)),
        mark: Mark::Measured,
    }
}

pub(super) fn cell(
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

pub(super) fn rows(
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

pub(super) fn over_points(
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
