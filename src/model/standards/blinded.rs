//! The experiments made of standards, in which the truth is not named.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::{BODY, Standards};
use crate::model::Service;
use crate::model::candidate::Lifetime;
use crate::model::estimator::{Centre, EstimateRule};
use crate::model::experiment::Experiment;
use crate::model::metric::{Metric, Quantile};
use crate::model::name::{CandidateName, ScenarioName};
use crate::model::phase::{LoadShape, Phase};
use crate::model::scenario::{Expect, ExpectBody, Request, Scenario};
use crate::model::unit::Share;

/// The scenario that planted servers are measured with.
#[must_use]
pub fn scenario_name() -> ScenarioName {
    "standard".parse().expect("a plain name")
}

impl Experiment {
    /// The standards as an experiment of their own: the same machine, budgets, probe, guards and
    /// estimators, the planted servers as its candidates under their neutral names, one request.
    /// What was planted is not in it. Absent: no standards.
    ///
    /// Of the services only those are left that live as long as the run: they run beside every block.
    #[must_use]
    pub fn of_standards(&self) -> Option<Self> {
        let standards = self.standards.as_ref()?;
        let phase = self.phases.get(&standards.phase)?;
        let scenario = scenario();
        let lasting = |service: &&Service| service.lifetime == Lifetime::Run;
        let services = self.services.values().filter(lasting);
        Some(Self {
            services: services
                .map(|service| (service.name.clone(), service.clone()))
                .collect(),
            prewarm: Vec::new(),
            candidates: standards.weights.clone(),
            scenarios: IndexMap::from([(scenario.name.clone(), scenario)]),
            contract: Vec::new(),
            phases: IndexMap::from([(phase.name.clone(), narrowed(phase, standards))]),
            primary: None,
            derived: IndexMap::new(),
            standards: None,
            files: Vec::new(),
            ..self.clone()
        })
    }

    /// The standards alone, in so many rounds: the same machine, budgets, probe and guards, and nothing of
    /// the experiment's own. Its name says that it is no run of the experiment. Absent: no standards.
    #[must_use]
    pub fn pilot(&self, rounds: u32) -> Option<Self> {
        let standards = self.standards.clone()?;
        let phase = Phase {
            repetitions: rounds,
            candidates: Vec::new(),
            ..self.phases.get(&standards.phase)?.clone()
        };
        let name = format!("{}-pilot", self.name).parse();
        Some(Self {
            name: name.unwrap_or_else(|_| self.name.clone()),
            services: IndexMap::new(),
            prewarm: Vec::new(),
            candidates: IndexMap::new(),
            contract: Vec::new(),
            phases: IndexMap::from([(phase.name.clone(), phase)]),
            primary: None,
            derived: IndexMap::new(),
            standards: Some(Standards {
                share: Share::percent(100),
                ..standards
            }),
            files: Vec::new(),
            ..self.clone()
        })
    }

    /// Whether a name is one of a planted server.
    #[must_use]
    pub fn is_standard(&self, candidate: &CandidateName) -> bool {
        let standards = self.standards.as_ref();
        standards.is_some_and(|standards| standards.weights.contains_key(candidate))
    }
}

fn scenario() -> Scenario {
    Scenario {
        name: scenario_name(),
        title: "The same small answer from every planted server".to_owned(),
        request: Request {
            method: "GET".to_owned(),
            path: "/".parse().expect("a text without placeholders"),
            headers: BTreeMap::new(),
            body: None,
        },
        expect: Expect {
            status: 200,
            headers: BTreeMap::new(),
            body: Some(ExpectBody::Length { bytes: BODY.0 }),
        },
        changes_data: false,
    }
}

/// A phase with the planted servers instead of its candidates.
fn narrowed(phase: &Phase, standards: &Standards) -> Phase {
    let connections = match &phase.load {
        LoadShape::FixedRate { connections, .. } => *connections,
        LoadShape::Ceiling { connections, .. } => connections.first().copied().unwrap_or(1),
    };
    let held_at = match &phase.load {
        LoadShape::FixedRate { held_at, .. } => *held_at,
        LoadShape::Ceiling { .. } => Share::percent(99),
    };
    let median = EstimateRule {
        repetitions: Centre::Median,
        points: None,
    };
    let rule = |metric: Metric| {
        let declared = phase.estimate.get(&metric).copied();
        (metric, declared.unwrap_or(median))
    };
    let metrics = [
        Metric::Achieved,
        Metric::CpuPerRequest,
        Metric::Latency(Quantile::P50),
        Metric::MemoryPeak,
    ];
    Phase {
        load: LoadShape::FixedRate {
            rates: IndexMap::from([(scenario_name(), vec![standards.rate])]),
            connections,
            held_at,
            common: phase.load.common().clone(),
        },
        candidates: standards.weights.keys().cloned().collect(),
        estimate: metrics.into_iter().map(rule).collect(),
        ..phase.clone()
    }
}
