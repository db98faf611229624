//! A candidate's ceiling, and whether the rate achieved at a target not held agrees with it.

use crate::model::metric::Unit;
use crate::model::{CandidateName, LoadShape, Metric, PhaseName, Role, ScenarioName, Share};

use super::centre::whole;
use super::derived::{Sources, absent, is_held};
use super::summary::{Decimal, DerivedRow, Estimate, PointsEstimate};

/// The ceiling of a candidate: over load points, or at the only one.
pub(super) enum Ceiling<'a> {
    Over(&'a PointsEstimate),
    At(&'a Estimate),
}

impl Ceiling<'_> {
    pub(super) fn value(&self) -> Option<f64> {
        let value = match self {
            Self::Over(it) => it.value.as_ref(),
            Self::At(it) => it.value.as_ref(),
        };
        value.map(Decimal::get)
    }

    pub(super) fn best_single(&self) -> Option<f64> {
        match self {
            Self::Over(it) => it.best_single.as_ref().map(|(_, value)| value.get()),
            Self::At(it) => it.max.as_ref().map(Decimal::get),
        }
    }

    pub(super) const fn is_at_least(&self) -> bool {
        match self {
            Self::Over(it) => it.at_least,
            Self::At(it) => it.at_least,
        }
    }

    pub(super) fn because(&self) -> String {
        let because = match self {
            Self::Over(it) => it.because.clone(),
            Self::At(it) => it.because.clone(),
        };
        because.unwrap_or_else(|| "the ceiling is 0".to_owned())
    }
}

pub(super) fn ceiling<'a>(
    sources: &Sources<'a>,
    phase: &PhaseName,
    scenario: &ScenarioName,
    candidate: &CandidateName,
) -> Result<Ceiling<'a>, String> {
    let of = (candidate, &Role::Candidate, Metric::Achieved);
    if let Some(over) = sources.lookup.over(phase, scenario, of) {
        return Ok(Ceiling::Over(over));
    }
    let shape = sources.experiment.phases.get(phase).map(|it| &it.load);
    match shape
        .map(|it| it.points(scenario))
        .unwrap_or_default()
        .as_slice()
    {
        [only] => {
            let at = sources.lookup.at(phase, scenario, *only, of);
            at.map(Ceiling::At)
                .ok_or_else(|| format!("{phase} has no estimate of {scenario}"))
        }
        _ => Err(format!(
            "{phase} has several load points and no estimator over them"
        )),
    }
}

/// Achieved at a target that was not held, over the ceiling.
pub(super) fn corroboration(
    target: &PhaseName,
    ceiling_phase: &PhaseName,
    within: Share,
    sources: &Sources<'_>,
) -> Vec<DerivedRow> {
    let Some(phase) = sources.experiment.phases.get(target) else {
        return Vec::new();
    };
    let LoadShape::FixedRate { rates, .. } = &phase.load else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for scenario in rates.keys() {
        for candidate in &phase.candidates {
            let row = agreement(
                target,
                ceiling_phase,
                (scenario, candidate),
                within,
                sources,
            );
            rows.push(DerivedRow {
                candidate: Some(candidate.clone()),
                scenario: Some(scenario.clone()),
                ..row
            });
        }
    }
    rows
}

fn agreement(
    target: &PhaseName,
    ceiling_phase: &PhaseName,
    (scenario, candidate): (&ScenarioName, &CandidateName),
    within: Share,
    sources: &Sources<'_>,
) -> DerivedRow {
    let of = (candidate, &Role::Candidate, Metric::Achieved);
    let shape = sources.experiment.phases.get(target).map(|it| &it.load);
    let points = shape.map(|it| it.points(scenario)).unwrap_or_default();
    let mut estimates = points
        .iter()
        .rev()
        .filter_map(|at| sources.lookup.at(target, scenario, *at, of));
    let Some(achieved) = estimates.find(|estimate| !is_held(sources, estimate)) else {
        return absent(
            Unit::One,
            "every target was held: nothing to compare with a ceiling",
        );
    };
    let ceiling = match ceiling(sources, ceiling_phase, scenario, candidate) {
        Ok(ceiling) if ceiling.is_at_least() => {
            return absent(Unit::One, "the generator ran out at the ceiling");
        }
        Ok(ceiling) => ceiling,
        Err(because) => return absent(Unit::One, because),
    };
    match (achieved.value.as_ref(), ceiling.value()) {
        (Some(value), Some(ceiling)) if ceiling > 0.0 => {
            let relative = value.get() / ceiling;
            let off = (relative - 1.0).abs();
            DerivedRow {
                value: Some(Decimal::from(relative)),
                agrees: Some(off <= whole(within.millionths()) / 1e6),
                note: None,
                ..absent(Unit::One, "")
            }
        }
        (None, _) => absent(Unit::One, achieved.because.clone().unwrap_or_default()),
        _ => absent(Unit::One, ceiling.because()),
    }
}
