//! From records to numbers. Pure: the same records and rules give the same bytes on every machine.
//!
//! Values are computed with + - x / and square roots in a fixed order, nothing else, so that every
//! machine gives the same bytes. Nothing is rounded here. Formulas are described, with their
//! sources, in METHODOLOGY.md.

mod caveats;
mod ceiling;
mod cell;
pub mod centre;
mod comparison;
pub mod conclusion;
mod counters;
mod counts;
mod decimal;
mod derived;
mod estimates;
mod family;
mod formula;
pub mod interval;
mod kept;
mod lookup;
mod observe;
pub mod observed;
mod pairwise;
pub mod pilot;
mod points;
mod probe;
pub mod rank;
mod ranked;
pub mod ratio;
pub mod readings;
pub mod recovered;
mod resolves;
pub mod shift;
mod shown;
mod sizing;
mod slot;
mod standards;
pub mod summary;
mod time;
mod timeline;
mod value;

use crate::model::Experiment;
use crate::plan::Plan;
use crate::record::{LedgerLine, Records};

use derived::Sources;
use kept::Selection;
use lookup::Lookup;
pub use readings::{Reading, Readings};
use summary::Decimal;
pub use summary::Summary;

/// All numbers of an entry, from its records by the experiment's rules. The lines of one try at a
/// block stand together, as every run writes them.
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
    let readings = Readings::of(records, experiment, plan);
    summarise(&readings, experiment, plan, ledger)
}

/// As [`estimate`], from what was kept of the records by the same experiment and plan.
///
/// # Panics
/// As [`estimate`].
#[must_use]
pub fn summarise(
    readings: &Readings,
    experiment: &Experiment,
    plan: &Plan,
    ledger: &[LedgerLine],
) -> Summary {
    let selection = Selection::of(readings, ledger);
    let recovered = standards::recovered(&selection, experiment, plan);
    let whole = plan;
    let plan = &plan.only_standards(false);
    let (repetitions, timeline) = beside(
        || cell::cells(&selection, experiment, plan),
        || timeline::timeline(experiment, &selection),
    );
    let of_cell = |it| estimates::of_cell(it, experiment);
    let summary = |it: &cell::Repetitions<'_>| it.summary(experiment);
    let (mut estimates, cells): (Vec<_>, Vec<_>) = beside(
        || repetitions.iter().flat_map(of_cell).collect(),
        || repetitions.iter().map(summary).collect(),
    );
    drop(repetitions);
    let of_rig = caveats::rig_floor(readings, experiment, &mut estimates);
    let over_points = points::over_points(&estimates, experiment);
    let lookup = Lookup::new(&estimates, &over_points);
    let resolves = recovered.as_ref().and_then(|it| it.resolves.as_ref());
    let resolves = resolves.map(Decimal::get);
    let (comparisons, mut weakening) = comparison::compare(&lookup, experiment, resolves);
    weakening.extend(recovered.iter().flat_map(standards::caveats));
    let derived = derived::derived(&Sources {
        lookup: &lookup,
        cells: &cells,
        experiment,
    });
    let counts = counts::counts(&selection, plan);
    let caveats = caveats::caveats(readings, experiment, &selection, &counts, of_rig, weakening);
    let opened = readings.opened.as_ref();
    let opened = opened.expect("records begin with their opening");
    Summary {
        format: summary::SUMMARY_FORMAT,
        analysis: summary::ANALYSIS,
        protocol: experiment.protocol,
        experiment: experiment.name.clone(),
        entry: opened.entry.clone(),
        measured_on: readings.spent.days(),
        time: readings.spent.summary(),
        complete: counts::is_complete(&selection, whole),
        counts,
        cells,
        comparisons,
        derived,
        probe: readings.probes.summary(experiment),
        standards: recovered,
        exclusions: selection.exclusions(),
        caveats,
        timeline,
        counters: readings.counters.of_roles(),
        machine_counters: readings.counters.of_machine(),
        limits: readings.counters.limits(),
        steal_was_seen: readings.counters.steal_was_seen,
        answered_in_all: readings.counters.answered,
        estimates,
        over_points,
    }
}

/// Two pieces of work, one beside the other.
fn beside<A, B: Send>(first: impl FnOnce() -> A, second: impl FnOnce() -> B + Send) -> (A, B) {
    std::thread::scope(|scope| {
        let second = scope.spawn(second);
        let first = first();
        let second = second.join();
        (
            first,
            second.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        )
    })
}
