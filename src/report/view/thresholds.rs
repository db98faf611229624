//! The thresholds of guards and caveats, fixed before any data.

use super::table::{Cell, Table};
use super::wording;
use crate::model::Experiment;
use crate::model::thresholds::Thresholds;
use crate::report::format::NONE;

/// The table of all thresholds.
pub(crate) fn guards(experiment: &Experiment) -> Table {
    let mut table = Table::new(
        "Thresholds, fixed before any data",
        &["What", "#Caveat from", "#Invalid from"],
    );
    let guards = &experiment.guards;
    for (what, caveat, invalid) in instrument(guards).into_iter().chain(machine(guards)) {
        let number = |text: Option<String>| Cell::number(text.unwrap_or_else(|| NONE.to_owned()));
        table.push(vec![Cell::head(what), number(caveat), number(invalid)]);
    }
    table
}

type Threshold = (&'static str, Option<String>, Option<String>);

fn instrument(guards: &Thresholds) -> [Threshold; 6] {
    let text = |share: crate::model::Share| Some(share.to_string());
    let above = |share: crate::model::Share| Some(format!("more than {share}"));
    [
        (
            "Probe: change of its CPU per request or p99",
            None,
            text(guards.probe_drift_at_least),
        ),
        (
            "Fixed work: change on a candidate's core",
            text(guards.fixed_work_caveat),
            text(guards.fixed_work_invalid),
        ),
        (
            "Generator's cores busy (invalid: at a rate not held)",
            text(guards.generator_busy_caveat),
            text(guards.generator_busy_invalid),
        ),
        (
            "Generator's wait for a CPU, of the window",
            text(guards.generator_late),
            None,
        ),
        (
            "Difference between witness and answers",
            None,
            above(guards.accounting),
        ),
        (
            "Width of the achieved rate",
            text(guards.late_unknown),
            None,
        ),
    ]
}

fn machine(guards: &Thresholds) -> [Threshold; 6] {
    let text = |share: crate::model::Share| Some(share.to_string());
    [
        (
            "Foreign CPU on a candidate's core",
            None,
            text(guards.foreign_load),
        ),
        (
            "Steal on a role's cores",
            text(guards.steal_caveat),
            text(guards.steal_invalid),
        ),
        (
            "Step of the wall clock",
            None,
            Some(wording::time(guards.clock_step)),
        ),
        ("Time asleep", None, Some(wording::time(guards.suspended))),
        (
            "Swapped pages in a window",
            None,
            Some(format!("more than {}", guards.swap_pages)),
        ),
        (
            "Last third of a window against the first",
            text(guards.not_steady),
            None,
        ),
    ]
}
