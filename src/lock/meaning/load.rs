//! What is asked and how it is loaded: scenarios, phases, load shapes.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::phase::{Accept, LoadCommon};
use crate::model::scenario::{Expect, Request};
use crate::model::{
    CandidateName, EstimateRule, LoadPoint, LoadShape, Metric, Phase, PhaseName, Scenario,
    ScenarioName, Share,
};

/// A request and its expected answer, without its title.
#[derive(Serialize)]
pub struct ScenarioMeaning<'a> {
    request: &'a Request,
    expect: &'a Expect,
    changes_data: bool,
}

impl<'a> ScenarioMeaning<'a> {
    /// Of one scenario.
    #[must_use]
    pub fn of(scenario: &'a Scenario) -> Self {
        let Scenario {
            name: _, // stands beside it
            title: _,
            request,
            expect,
            changes_data,
        } = scenario;
        Self {
            request,
            expect,
            changes_data: *changes_data,
        }
    }
}

#[derive(Serialize)]
pub(super) struct PhaseMeaning<'a> {
    name: &'a PhaseName,
    load: LoadMeaning<'a>,
    repetitions: u32,
    candidates: &'a [CandidateName],
    estimate: BTreeMap<Metric, EstimateRule>,
    accept: Option<&'a Accept>,
    held_at: Option<Share>,
}

impl<'a> PhaseMeaning<'a> {
    pub(super) fn of(phase: &'a Phase) -> Self {
        let Phase {
            name,
            title: _,
            load,
            repetitions,
            candidates,
            estimate,
            accept,
        } = phase;
        Self {
            name,
            load: LoadMeaning::of(load),
            repetitions: *repetitions,
            candidates,
            estimate: estimate.iter().map(|(key, rule)| (*key, *rule)).collect(),
            accept: accept.as_ref(),
            held_at: match load {
                LoadShape::FixedRate { held_at, .. } => Some(*held_at),
                LoadShape::Ceiling { .. } => None,
            },
        }
    }
}

/// The load of a phase. What counts as held is left out: it judges, and changes no request.
#[derive(Serialize)]
pub struct LoadMeaning<'a> {
    kind: &'static str,
    points: Vec<(&'a ScenarioName, Vec<LoadPoint>)>,
    connections: Option<u32>,
    common: &'a LoadCommon,
}

impl<'a> LoadMeaning<'a> {
    /// Of a phase's load.
    #[must_use]
    pub fn of(load: &'a LoadShape) -> Self {
        let points = load
            .scenarios()
            .into_iter()
            .map(|scenario| (scenario, load.points(scenario)))
            .collect();
        let (kind, connections) = match load {
            LoadShape::FixedRate { connections, .. } => ("fixed-rate", Some(*connections)),
            LoadShape::Ceiling { .. } => ("ceiling", None),
        };
        Self {
            kind,
            points,
            connections,
            common: load.common(),
        }
    }
}
