//! The cases that faults are done to.

use crate::bench::{Case, stub};
use crate::experiment::{common, rate};
use loadlab::guard::was_late;
use loadlab::model::account::LatencyValue;
use loadlab::model::candidate::Lifetime;
use loadlab::model::reading::HostReading;
use loadlab::model::scenario::{ContractCheck, Expect, ExpectBody};
use loadlab::model::thresholds::Thresholds;
use loadlab::model::{Bytes, Experiment, LoadShape, Nanoseconds, Quantile, Service};
use loadlab::record::event::Measured;

pub fn plain() -> Case {
    Case::of(&["--body", "64B"])
}

/// Twenty blocks by the thresholds of every manifest.
pub fn clean() -> Case {
    Case::of(&["--work", "200us"]).with(|experiment| {
        experiment.guards = Thresholds::default();
        experiment.attempts = 1;
        experiment.probe.rate = rate("4000/s");
        experiment.probe.connections = 16;
        experiment.probe.at_least = rate("3960/s");
        experiment.probe.duration = Nanoseconds::seconds(1);
        experiment.probe.calibration = 8;
        experiment.phases[0].repetitions = 20;
        common(experiment).warmup = Nanoseconds::milliseconds(500);
        common(experiment).duration = Nanoseconds::seconds(3);
    })
}

pub fn machine(change: fn(&mut HostReading, u64)) -> Case {
    Case {
        machine: Some(change),
        ..plain()
    }
}

pub fn output(change: fn(&mut Vec<u8>)) -> Case {
    Case {
        output: Some(change),
        ..plain()
    }
}

/// The body is known by its text.
pub fn exact(words: &[&str]) -> Case {
    Case::of(words).with(|experiment| {
        experiment.scenarios[0].expect.body = Some(ExpectBody::Text {
            text: "s".repeat(64),
        });
    })
}

pub fn budget(experiment: &mut Experiment, memory: Bytes, processes: u32) {
    let budget = experiment.budgets.values_mut().next().unwrap();
    budget.memory = Some(memory);
    budget.processes = Some(processes);
}

pub fn with_service() -> Case {
    plain().with(|experiment| {
        let mut definition = experiment.candidates[0].definition.clone();
        definition.witness = None;
        stub(&mut definition, &[]);
        let service = Service {
            name: "store".parse().unwrap(),
            title: "Store".to_owned(),
            lifetime: Lifetime::Block,
            definition,
        };
        experiment.services.insert(service.name.clone(), service);
    })
}

pub fn ceiling() -> Case {
    plain().with(|experiment| {
        let common = common(experiment).clone();
        experiment.phases[0].load = LoadShape::Ceiling {
            scenarios: vec!["page".parse().unwrap()],
            connections: vec![2],
            common,
        };
    })
}

pub fn fails_contract() -> Case {
    plain().with(|experiment| {
        experiment.contract.push(ContractCheck {
            request: experiment.scenarios[0].request.clone(),
            expect: Expect {
                status: 201,
                headers: std::collections::BTreeMap::new(),
                body: None,
            },
            same_for_all_candidates: false,
        });
    })
}

/// Half of what oha counted with status 200 is gone.
pub fn fewer(bytes: &mut Vec<u8>) {
    let mut json: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    let counted = json.pointer_mut("/statusCodeDistribution/200").unwrap();
    *counted = (counted.as_u64().unwrap() / 2).into();
    *bytes = serde_json::to_vec(&json).unwrap();
}

/// A pause of half a second shows in the latency.
pub fn pause_shows(measured: &[Measured]) -> bool {
    let p99: Quantile = "p99".parse().unwrap();
    measured.iter().all(|measured| {
        let account = measured.account.value();
        let latency = account.and_then(|account| account.latency.get(&p99));
        match latency {
            Some(LatencyValue::Exactly(value) | LatencyValue::Between(_, value)) => {
                *value > 300_000_000 || measured.outcome.code() == "not_held"
            }
            _ => true,
        }
    })
}

/// A generator that stands still times late what it releases late: its own watch says so, by the usual
/// threshold.
pub fn watch_shows(measured: &[Measured]) -> bool {
    let allowed = Thresholds::default().generator_late;
    measured.iter().all(|measured| {
        let account = measured.account.value();
        let pause = account.and_then(|account| account.longest_pause_ns.value());
        pause.is_some_and(|pause| *pause > 400_000_000) && was_late(measured, allowed)
    })
}
