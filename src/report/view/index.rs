//! Where an estimate or a cell is found by its names.

use std::collections::BTreeMap;

use crate::estimate::Summary;
use crate::estimate::summary::{Cell, Estimate, PointsEstimate};
use crate::model::{CandidateName, LoadPoint, Metric, PhaseName, Role, ScenarioName};

type EstimateKey<'a> = (
    &'a PhaseName,
    &'a ScenarioName,
    LoadPoint,
    &'a CandidateName,
    &'a Role,
    Metric,
);

/// The summary's estimates by their names.
pub(crate) struct Index<'a> {
    estimates: BTreeMap<EstimateKey<'a>, &'a Estimate>,
    cells: BTreeMap<
        (
            &'a PhaseName,
            &'a ScenarioName,
            LoadPoint,
            &'a CandidateName,
        ),
        &'a Cell,
    >,
}

/// One scenario at one load point of a phase for one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place<'a> {
    /// The phase.
    pub(crate) phase: &'a PhaseName,
    /// The scenario.
    pub(crate) scenario: &'a ScenarioName,
    /// The load point.
    pub(crate) at: LoadPoint,
    /// The candidate.
    pub(crate) candidate: &'a CandidateName,
}

impl<'a> Index<'a> {
    /// The index of a summary.
    pub(crate) fn of(summary: &'a Summary) -> Self {
        let estimates = summary.estimates.iter().map(|it| {
            (
                (
                    &it.phase,
                    &it.scenario,
                    it.at,
                    &it.candidate,
                    &it.role,
                    it.metric,
                ),
                it,
            )
        });
        let cells = summary
            .cells
            .iter()
            .map(|it| ((&it.phase, &it.scenario, it.at, &it.candidate), it));
        Self {
            estimates: estimates.collect(),
            cells: cells.collect(),
        }
    }

    /// One estimate.
    pub(crate) fn estimate(
        &self,
        place: Place<'a>,
        role: &'a Role,
        metric: Metric,
    ) -> Option<&'a Estimate> {
        let key = (
            place.phase,
            place.scenario,
            place.at,
            place.candidate,
            role,
            metric,
        );
        self.estimates.get(&key).copied()
    }

    /// One cell.
    pub(crate) fn cell(&self, place: Place<'a>) -> Option<&'a Cell> {
        self.cells
            .get(&(place.phase, place.scenario, place.at, place.candidate))
            .copied()
    }
}

/// Every estimate over load points of a phase.
pub(crate) fn over_points<'a>(
    summary: &'a Summary,
    phase: &'a PhaseName,
) -> impl Iterator<Item = &'a PointsEstimate> {
    summary
        .over_points
        .iter()
        .filter(move |it| it.phase == *phase)
}
