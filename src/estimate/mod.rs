//! From records to numbers. Pure: the same records and rules give the same bytes on every machine.
//!
//! Values are computed with + - x / and square roots in a fixed order, nothing else, so that every
//! machine gives the same bytes. Nothing is rounded here. Formulas are described, with their
//! sources, in METHODOLOGY.md.

mod centre;
mod counts;
mod kept;
mod probe;
pub mod summary;
mod time;

use crate::model::Experiment;
use crate::plan::Plan;
use crate::record::{LedgerLine, Records};

use kept::Selection;
pub use summary::Summary;

/// All numbers of an entry, from its records by the experiment's rules.
///
/// `ledger` is what people decided since; decisions on attempts that do not exist change nothing.
///
/// # Panics
/// When the records do not begin with their opening: whoever read them has checked it.
#[must_use]
pub fn estimate(
    records: &Records,
    experiment: &Experiment,
    plan: &Plan,
    ledger: &[LedgerLine],
) -> Summary {
    let selection = Selection::of(records, experiment, plan, ledger);
    let opened = records.opened().expect("records begin with their opening");
    Summary {
        format: summary::SUMMARY_FORMAT,
        analysis: summary::ANALYSIS,
        protocol: experiment.protocol,
        experiment: experiment.name.clone(),
        entry: opened.entry.clone(),
        measured_on: time::days(records),
        time: time::spent(records, experiment),
        complete: counts::is_complete(&selection, plan),
        counts: counts::counts(&selection, plan),
        cells: Vec::new(),
        estimates: Vec::new(),
        over_points: Vec::new(),
        comparisons: Vec::new(),
        derived: Vec::new(),
        probe: probe::summary(records, experiment),
        exclusions: selection.exclusions(),
        caveats: Vec::new(),
        timeline: Vec::new(),
        counters: std::collections::BTreeMap::new(),
    }
}
