//! Finding an estimate by its name.

use std::collections::BTreeMap;

use crate::model::derived::ValueName;
use crate::model::{CandidateName, LoadPoint, Metric, PhaseName, Role, ScenarioName};

use super::summary::{Estimate, PointsEstimate};

type Name<'a> = (
    (&'a PhaseName, &'a ScenarioName, LoadPoint),
    (&'a CandidateName, &'a Role, Metric),
);

/// All estimates, found by name.
#[derive(Debug)]
pub(super) struct Lookup<'a> {
    estimates: &'a [Estimate],
    over_points: &'a [PointsEstimate],
    by_name: BTreeMap<Name<'a>, usize>,
}

/// A number that was found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found<'a> {
    /// At one load point.
    At(&'a Estimate),
    /// Over load points.
    Over(&'a PointsEstimate),
}

impl<'a> Lookup<'a> {
    pub(super) fn new(estimates: &'a [Estimate], over_points: &'a [PointsEstimate]) -> Self {
        let name = |(position, it): (usize, &'a Estimate)| {
            let cell = (&it.phase, &it.scenario, it.at);
            ((cell, (&it.candidate, &it.role, it.metric)), position)
        };
        Self {
            estimates,
            over_points,
            by_name: estimates.iter().enumerate().map(name).collect(),
        }
    }

    /// The estimate at one load point.
    pub(super) fn at(
        &self,
        phase: &PhaseName,
        scenario: &ScenarioName,
        at: LoadPoint,
        of: (&CandidateName, &Role, Metric),
    ) -> Option<&'a Estimate> {
        let position = self.by_name.get(&((phase, scenario, at), of))?;
        self.estimates.get(*position)
    }

    /// The estimate over load points.
    pub(super) fn over(
        &self,
        phase: &PhaseName,
        scenario: &ScenarioName,
        (candidate, role, metric): (&CandidateName, &Role, Metric),
    ) -> Option<&'a PointsEstimate> {
        self.over_points.iter().find(|it| {
            (&it.phase, &it.scenario, &it.candidate, &it.role, it.metric)
                == (phase, scenario, candidate, role, metric)
        })
    }

    /// The only number that a name fits; parts that it leaves out take the only one there is, and
    /// of several load points the estimate over them.
    ///
    /// # Errors
    /// When none fits, or several.
    pub(super) fn find(&self, name: &ValueName) -> Result<Found<'a>, String> {
        let role = name.role.as_ref().unwrap_or(&Role::Candidate);
        let fits = |phase: &PhaseName, scenario: &ScenarioName, candidate: &CandidateName| {
            name.phase.as_ref().is_none_or(|it| it == phase)
                && name.scenario.as_ref().is_none_or(|it| it == scenario)
                && name.candidate.as_ref().is_none_or(|it| it == candidate)
        };
        let over: Vec<&PointsEstimate> = self
            .over_points
            .iter()
            .filter(|it| name.at.is_none() && it.metric == name.metric && it.role == *role)
            .filter(|it| fits(&it.phase, &it.scenario, &it.candidate))
            .collect();
        let at: Vec<&Estimate> = self
            .estimates
            .iter()
            .filter(|it| it.metric == name.metric && it.role == *role)
            .filter(|it| name.at.is_none_or(|at| at == it.at))
            .filter(|it| fits(&it.phase, &it.scenario, &it.candidate))
            .collect();
        match (at.as_slice(), over.as_slice()) {
            ([only], _) => Ok(Found::At(only)),
            (several, [only]) if covers(only, several) => Ok(Found::Over(only)),
            ([], _) => Err(format!("no estimate fits {}", shown(name))),
            (several, _) => Err(format!("{} estimates fit {}", several.len(), shown(name))),
        }
    }
}

/// Whether all estimates are of the one scenario and candidate that the other goes over.
fn covers(over: &PointsEstimate, estimates: &[&Estimate]) -> bool {
    estimates.iter().all(|it| {
        (&it.phase, &it.scenario, &it.candidate) == (&over.phase, &over.scenario, &over.candidate)
    })
}

/// A name as one writes it.
fn shown(name: &ValueName) -> String {
    let mut parts = Vec::new();
    let mut part = |word: &str, text: Option<String>| {
        parts.extend(text.map(|text| format!("{word}=\"{text}\"")));
    };
    part(
        "candidate",
        name.candidate.as_ref().map(ToString::to_string),
    );
    part("scenario", name.scenario.as_ref().map(ToString::to_string));
    part("phase", name.phase.as_ref().map(ToString::to_string));
    part("at", name.at.map(|at| at.to_string()));
    part("role", name.role.as_ref().map(ToString::to_string));
    part("metric", Some(name.metric.to_string()));
    format!("value({})", parts.join(", "))
}
