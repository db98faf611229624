//! What of a model means something to a number, and what is only said or belongs to the machine.
//!
//! Every field of the model is taken apart here by name, so that a new one does not compile until
//! somebody has decided where it belongs. Where the order of a map counts, it becomes a list.
//! Left out everywhere: titles, the page, departures (they tell of settings that stand in files
//! and values), core ids, sharing, scale, and the digests of files, which the lock holds apart.

mod definition;
mod load;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::named;
use crate::model::candidate::{PrewarmStep, VersionRule};
use crate::model::cores::Isolation;
use crate::model::derived::{Comparison, DerivedRule};
use crate::model::estimator::RatioInterval;
use crate::model::experiment::{Experiment, NamedFile, OrderRule};
use crate::model::probe::Probe;
use crate::model::scenario::ContractCheck;
use crate::model::thresholds::Thresholds;
use crate::model::{
    Budget, CandidateName, DerivedName, Digest, Program, Role, Scenario, ScenarioName, Share,
    Standards,
};
use definition::ServiceMeaning;
use load::PhaseMeaning;

pub use definition::DefinitionMeaning;
pub use load::{LoadMeaning, ScenarioMeaning};

/// Seeds stay below this, so that they are exact in JSON and YAML.
pub const SEED_LIMIT: u64 = 1 << 53;

/// The digest that a lock holds of the model: method and analysis.
#[must_use]
pub fn model(experiment: &Experiment) -> Digest {
    Digest::of_value(&Meaning::of(experiment))
}

/// The seed of the order: the manifest's, or derived from the method that all blocks share.
///
/// Candidates, scenarios, phases and repetitions do not enter: a change to one of them costs the
/// blocks that it touches, never the order of those that stay valid. The seed is a pure function,
/// so nobody can pick a convenient one by hand without it showing in the manifest.
#[must_use]
pub fn seed(experiment: &Experiment) -> u64 {
    let derived = || {
        let meaning = (
            &experiment.name,
            experiment.order.rule,
            Shared::of(experiment),
        );
        Digest::of_value(&meaning).seed() % SEED_LIMIT
    };
    experiment.order.seed.unwrap_or_else(derived)
}

#[derive(Serialize)]
struct Meaning<'a> {
    shared: Shared<'a>,
    candidates: Vec<(&'a CandidateName, DefinitionMeaning<'a>)>,
    scenarios: Vec<(&'a ScenarioName, ScenarioMeaning<'a>)>,
    phases: Vec<PhaseMeaning<'a>>,
    order: OrderRule,
    instrument: Instrument<'a>,
    analysis: Analysis<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standards: Option<&'a Standards>,
}

/// What judges and watches but does not change a block.
#[derive(Serialize)]
struct Instrument<'a> {
    isolation: Isolation,
    probe: &'a Probe,
    probe_budget: Option<&'a Budget>,
    attempts: u32,
    versions: BTreeSet<(&'a [String], &'a str)>,
    executables: BTreeSet<&'a str>,
}

#[derive(Serialize)]
struct Analysis<'a> {
    guards: &'a Thresholds,
    coverage: Share,
    ratio_interval: RatioInterval,
    spread_bound: Option<Share>,
    primary: Option<&'a Comparison>,
    derived: BTreeMap<&'a DerivedName, &'a DerivedRule>,
}

impl<'a> Meaning<'a> {
    fn of(experiment: &'a Experiment) -> Self {
        let Experiment {
            protocol: _, // a rule of the lock
            name: _,     // stands in the lock itself
            page: _,
            isolation,
            cores: _,
            sharing: _,
            budgets,
            probe,
            services: _, // shared
            prewarm: _,  // shared
            candidates,
            scenarios,
            contract: _, // shared
            phases,
            order,
            attempts,
            guards,
            coverage,
            ratio_interval,
            spread_bound,
            primary,
            derived,
            standards,
            scale: _,
            files,
        } = experiment;
        Self {
            shared: Shared::of(experiment),
            candidates: candidates
                .values()
                .map(|each| (&each.name, DefinitionMeaning::of(&each.definition)))
                .collect(),
            scenarios: scenarios.values().map(named_scenario).collect(),
            phases: phases.values().map(PhaseMeaning::of).collect(),
            order: order.rule,
            instrument: Instrument {
                isolation: *isolation,
                probe,
                probe_budget: budgets.get(&Role::Probe),
                attempts: *attempts,
                versions: version_rules(experiment),
                executables: executables(files),
            },
            analysis: Analysis {
                guards,
                coverage: *coverage,
                ratio_interval: *ratio_interval,
                spread_bound: *spread_bound,
                primary: primary.as_ref(),
                derived: derived
                    .values()
                    .map(|each| (&each.name, &each.rule))
                    .collect(),
            },
            standards: standards.as_ref(),
        }
    }
}

fn executables(files: &[NamedFile]) -> BTreeSet<&str> {
    let executable = files.iter().filter(|file| file.executable);
    executable.map(|file| file.path.as_str()).collect()
}

fn named_scenario(scenario: &Scenario) -> (&ScenarioName, ScenarioMeaning<'_>) {
    (&scenario.name, ScenarioMeaning::of(scenario))
}

fn version_rules(experiment: &Experiment) -> BTreeSet<(&[String], &str)> {
    let members = named::definitions(experiment).flat_map(|each| each.members.values());
    members
        .filter_map(|member| match &member.program {
            Program::Process(process) => process.version.as_ref(),
            Program::Stub(_) | Program::Weight(_) => None,
        })
        .map(|VersionRule { command, pattern }| (command.as_slice(), pattern.as_str()))
        .collect()
}

/// The method that every block of an experiment has in common.
#[derive(Serialize)]
pub struct Shared<'a> {
    budgets: BTreeMap<&'a Role, &'a Budget>,
    services: Vec<ServiceMeaning<'a>>,
    prewarm: &'a [PrewarmStep],
    contract: &'a [ContractCheck],
}

impl<'a> Shared<'a> {
    /// Budgets (but the probe's), services, prewarm steps and contract.
    #[must_use]
    pub fn of(experiment: &'a Experiment) -> Self {
        Self {
            budgets: experiment
                .budgets
                .iter()
                .filter(|(role, _)| **role != Role::Probe)
                .collect(),
            services: experiment
                .services
                .values()
                .map(ServiceMeaning::of)
                .collect(),
            prewarm: &experiment.prewarm,
            contract: &experiment.contract,
        }
    }
}
