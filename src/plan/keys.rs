//! Two keys per block: digests of exactly the parts that influence it.
//!
//! The method key has what the author wrote: the load, the phase's scenarios, contract, budgets,
//! services, prewarm, the candidate's own definition, and the digests of the files that they name,
//! placeholders unbound. It has no names of phase and candidate (they stand beside it), no guards,
//! estimators, titles, repetitions, order, core ids, or other candidates. The probe and its budget
//! are left out too: they belong to the instrument, which judges a block but does not change it.
//!
//! The environment key has what names resolved to: versions (bytes where there is no version) of the
//! programs of the candidate, the services, the prewarm steps and the probe; the load generator; the
//! protocol; core ids and sharing. It is the same for all blocks of a candidate.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::lock::meaning::{DefinitionMeaning, LoadMeaning, ScenarioMeaning, Shared};
use crate::lock::named::{files_of_definition, files_of_request, is_within};
use crate::lock::{Lock, Pin, programs};
use crate::model::cores::Sharing;
use crate::model::{
    Candidate, CandidateName, CpuSet, Digest, Experiment, Phase, PhaseName, Role, ScenarioName,
};

/// The keys of every block: a round changes neither.
#[derive(Debug)]
pub(super) struct Keys {
    method: BTreeMap<(PhaseName, CandidateName), Digest>,
    environment: BTreeMap<CandidateName, Digest>,
}

impl Keys {
    /// The keys of a locked experiment's blocks.
    pub(super) fn of(experiment: &Experiment, lock: &Lock) -> Self {
        let shared = shared(experiment);
        let definitions: BTreeMap<&CandidateName, Digest> = experiment
            .candidates
            .values()
            .map(|candidate| (&candidate.name, definition(experiment, candidate)))
            .collect();
        let mut method = BTreeMap::new();
        for phase in experiment.phases.values() {
            let load = load(experiment, phase);
            for candidate in &phase.candidates {
                let key = Digest::of_value(&Method {
                    shared,
                    load,
                    candidate: definitions.get(candidate).copied(),
                });
                method.insert((phase.name.clone(), candidate.clone()), key);
            }
        }
        let environment = experiment
            .candidates
            .values()
            .map(|each| (each.name.clone(), environment(experiment, lock, each)))
            .collect();
        Self {
            method,
            environment,
        }
    }

    pub(super) fn method(&self, phase: &PhaseName, candidate: &CandidateName) -> Option<Digest> {
        self.method
            .get(&(phase.clone(), candidate.clone()))
            .copied()
    }

    pub(super) fn environment(&self, candidate: &CandidateName) -> Option<Digest> {
        self.environment.get(candidate).copied()
    }
}

#[derive(Serialize)]
struct Method {
    shared: Digest,
    load: Digest,
    candidate: Option<Digest>,
}

/// A part of the method with the files that it names: path to digest and whether it is executable.
#[derive(Serialize)]
struct Part<'a, T> {
    says: T,
    files: BTreeMap<&'a str, (Digest, bool)>,
}

impl<'a, T: Serialize> Part<'a, T> {
    fn digest(
        experiment: &'a Experiment,
        says: T,
        sources: impl Iterator<Item = &'a str>,
    ) -> Digest {
        let mut files = BTreeMap::new();
        for source in sources {
            let named = experiment.files.iter();
            files.extend(
                named
                    .filter(|file| is_within(&file.path, source))
                    .map(|file| (file.path.as_str(), (file.digest, file.executable))),
            );
        }
        Digest::of_value(&Part { says, files })
    }
}

fn shared(experiment: &Experiment) -> Digest {
    let services = experiment.services.values();
    let files = services
        .flat_map(|service| files_of_definition(&service.definition))
        .chain(
            experiment
                .contract
                .iter()
                .flat_map(|check| files_of_request(&check.request, &check.expect)),
        );
    Part::digest(experiment, Shared::of(experiment), files)
}

fn definition(experiment: &Experiment, candidate: &Candidate) -> Digest {
    Part::digest(
        experiment,
        DefinitionMeaning::of(&candidate.definition),
        files_of_definition(&candidate.definition),
    )
}

fn load(experiment: &Experiment, phase: &Phase) -> Digest {
    let named = phase.load.scenarios();
    let scenarios: Vec<_> = named
        .into_iter()
        .filter_map(|name| experiment.scenarios.get(name))
        .collect();
    let says: Vec<(&ScenarioName, ScenarioMeaning<'_>)> = scenarios
        .iter()
        .map(|scenario| (&scenario.name, ScenarioMeaning::of(scenario)))
        .collect();
    let files = scenarios
        .iter()
        .flat_map(|scenario| files_of_request(&scenario.request, &scenario.expect));
    Part::digest(experiment, (LoadMeaning::of(&phase.load), says), files)
}

#[derive(Serialize)]
struct Environment<'a> {
    protocol: u32,
    generator: &'a str,
    programs: BTreeMap<&'a str, Identity<'a>>,
    cores: &'a BTreeMap<Role, CpuSet>,
    sharing: Sharing,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Identity<'a> {
    Version(&'a str),
    Bytes(&'a BTreeMap<String, Digest>),
}

impl<'a> From<&'a Pin> for Identity<'a> {
    fn from(pin: &'a Pin) -> Self {
        let version = pin.version.as_deref();
        version.map_or(Self::Bytes(&pin.sha256), Self::Version)
    }
}

fn environment(experiment: &Experiment, lock: &Lock, candidate: &Candidate) -> Digest {
    let services = experiment.services.values().map(|each| &each.definition);
    let names = services
        .chain([&candidate.definition])
        .flat_map(programs::of_definition)
        .filter_map(|program| program.ok().map(|(name, _)| name))
        .chain(programs::of_prewarm(&experiment.prewarm).filter_map(Result::ok))
        .chain([programs::PROBE.to_owned()]);
    let programs = names
        .filter_map(|name| lock.programs.get_key_value(&name))
        .map(|(name, pin)| (name.as_str(), pin.into()))
        .collect();
    Digest::of_value(&Environment {
        protocol: lock.rules.protocol,
        generator: &lock.rules.generator,
        programs,
        cores: &experiment.cores,
        sharing: experiment.sharing,
    })
}
