//! The results of a phase: its load in words, its tables, who ran out.

mod lead;
mod metrics;
mod over_points;

use std::collections::BTreeSet;

use serde::Serialize;

use super::index::{Index, Place};
use super::table::Table;
use super::{shown, wording};
use crate::estimate::Summary;
use crate::estimate::summary::Estimate;
use crate::model::{Experiment, Metric, Phase, Role};
use crate::report::format::Scale;

pub(crate) use lead::lead;
pub(crate) use over_points::over;

/// Rows that a table on the page has at most; all of them are in the CSV tables.
pub(crate) const MOST_ROWS: usize = 150;

/// The results of one phase.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PhaseResults {
    /// The anchor.
    pub(crate) id: String,
    /// The heading.
    pub(crate) title: String,
    /// How the phase was loaded and estimated, in a sentence.
    pub(crate) lead: String,
    /// The charts, by file name without its ending.
    pub(crate) charts: Vec<super::ChartPlace>,
    /// The metrics of the candidates, and of each other role that has any.
    pub(crate) tables: Vec<Table>,
    /// Over load points, where the manifest asks for it.
    pub(crate) over_points: Option<Table>,
    /// What few look at, each folded: how each number was made, and more of what was read.
    pub(crate) details: Vec<Table>,
    /// Who ran out, and what else each measurement showed.
    pub(crate) limits: Option<Table>,
}

/// What the tables of a phase are made from.
pub(crate) struct Source<'a> {
    /// The experiment.
    pub(crate) experiment: &'a Experiment,
    /// The numbers.
    pub(crate) summary: &'a Summary,
    /// The same by name.
    pub(crate) index: Index<'a>,
    /// Whether the machine tells of stolen time.
    pub(crate) steal: bool,
}

impl<'a> Source<'a> {
    /// A scenario at a load point, in words.
    pub(crate) fn group(&self, place: Place<'_>) -> String {
        format!(
            "{}, {}",
            wording::scenario(self.experiment, place.scenario),
            wording::point(place.at)
        )
    }

    /// The candidate of a place, in words.
    pub(crate) fn candidate(&self, place: Place<'_>) -> String {
        wording::candidate(self.experiment, place.candidate)
    }

    /// One scale for a metric of a role in a phase.
    pub(crate) fn scale(&self, phase: &Phase, role: &Role, metric: Metric) -> Scale {
        let of = |it: &&Estimate| it.phase == phase.name && it.role == *role && it.metric == metric;
        shown::common_scale(metric.unit(), self.summary.estimates.iter().filter(of))
    }
}

/// Everything about a phase but its charts.
pub(crate) fn phase<'a>(
    source: &Source<'a>,
    phase: &'a Phase,
    roles: &'a BTreeSet<Role>,
) -> PhaseResults {
    let tables = roles
        .iter()
        .filter_map(|role| metrics::metrics(source, phase, role));
    PhaseResults {
        id: format!("phase-{}", phase.name),
        title: phase.title.clone(),
        lead: lead(source.experiment, phase),
        charts: Vec::new(),
        tables: tables.collect(),
        over_points: over_points::points(source, phase),
        details: super::made::made(source, phase)
            .into_iter()
            .chain(super::observed::details(source, phase))
            .collect(),
        limits: super::limits::limits(source, phase),
    }
}
