//! Every number of a report as CSV: unrounded, in the summary's one unit, which the heading names.

mod estimates;
mod observed;
mod rows;

use std::io::{self, Write};

use super::view::wording;
use crate::estimate::Summary;
use crate::estimate::summary::Decimal;
use rows::{Beginning, Cell, ENDS, Ends, Rows};

/// Every table by its file name; the longest come first.
pub(super) const ALL: [(&str, super::Making); 15] = [
    ("repetitions.csv", estimates::repetitions),
    ("timeline.csv", timeline),
    ("estimates.csv", estimates::estimates),
    ("over-points.csv", estimates::over_points),
    ("cells.csv", cells),
    ("requests.csv", observed::requests),
    ("memory.csv", observed::memory),
    ("watched.csv", observed::watched),
    ("limits.csv", observed::limits),
    ("comparisons.csv", comparisons),
    ("derived.csv", derived),
    ("counts.csv", counts),
    ("exclusions.csv", exclusions),
    ("probe.csv", probe),
    ("caveats.csv", caveats),
];

/// The columns that name a cell.
const PLACE: [&str; 4] = ["phase", "scenario", "at", "candidate"];

fn cells(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let own = [
        "kept",
        "accepted",
        "attempted",
        "outcomes",
        "ran_out",
        "candidate_busy_share",
        "generator_busy_share",
        "foreign_cores",
        "foreign_at_most_cores",
        "steal_share",
        "softirq_ns_per_request",
        "idle_cores",
        "not_steady",
        "burst",
        "connections",
    ];
    let mut rows = Rows::new(to, &[&PLACE, &own]);
    for it in &summary.cells {
        let outcomes = it
            .outcomes
            .iter()
            .map(|(outcome, count)| format!("{outcome} {count}"));
        let ran_out = it
            .ran_out
            .iter()
            .map(|(who, count)| format!("{} {count}", wording::ran_out(*who)));
        rows.push(&[
            &it.phase,
            &it.scenario,
            &it.at,
            &it.candidate,
            &it.kept,
            &it.accepted,
            &it.attempted,
            &outcomes.collect::<Vec<_>>().join("; "),
            &ran_out.collect::<Vec<_>>().join("; "),
            &it.candidate_busy,
            &it.generator_busy,
            &it.foreign_cores,
            &it.foreign_at_most,
            &it.steal,
            &it.softirq_per_request,
            &it.idle_cores,
            &it.not_steady,
            &it.burst,
            &it.connections,
        ])?;
    }
    rows.finish()
}

fn comparisons(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let named = [
        "metric",
        "phase",
        "scenario",
        "at",
        "role",
        "compare",
        "against",
        "primary",
        "compare_value",
        "against_value",
        "compare_achieved_per_second",
        "against_achieved_per_second",
        "compare_n",
        "against_n",
        "ratio",
    ];
    let concluded = ["verdict", "corrected_for", "p_value", "because"];
    let mut rows = Rows::new(to, &[&named, &ENDS, &concluded]);
    for it in &summary.comparisons {
        let named = &it.comparison;
        rows.push(&[
            &named.metric,
            &named.phase,
            &named.scenario,
            &named.at,
            &named.role,
            &named.compare,
            &named.against,
            &it.primary,
            &it.compare_value,
            &it.against_value,
            &it.achieved.0,
            &it.achieved.1,
            &it.n.0,
            &it.n.1,
            &it.ratio,
            &Ends(&it.interval),
            &it.verdict.map(wording::verdict),
            &it.corrected_for,
            &it.p_value,
            &it.because,
        ])?;
    }
    rows.finish()
}

fn derived(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let heading = [
        "name",
        "title",
        "candidate",
        "scenario",
        "value",
        "unit",
        "with_best_single",
        "relative",
        "agrees",
        "mark",
        "note",
    ];
    let mut rows = Rows::new(to, &[&heading]);
    for result in &summary.derived {
        let beginning = Beginning::of(&[&result.name, &result.title]);
        for it in &result.rows {
            let cells: [&dyn Cell; 9] = [
                &it.candidate,
                &it.scenario,
                &it.value,
                &it.unit,
                &it.with_best_single,
                &it.relative,
                &it.agrees,
                &wording::mark(it.mark),
                &it.note,
            ];
            rows.push_after(&beginning, &cells)?;
        }
    }
    rows.finish()
}

fn counts(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let heading = [
        "phase",
        "candidate",
        "blocks_planned",
        "blocks_kept",
        "attempts_excluded",
        "blocks_tried_again",
    ];
    let mut rows = Rows::new(to, &[&heading]);
    for it in &summary.counts {
        let numbers: [&dyn Cell; 4] = [&it.planned, &it.kept, &it.excluded, &it.tried_again];
        rows.push_after(&Beginning::of(&[&it.phase, &it.candidate]), &numbers)?;
    }
    rows.finish()
}

fn exclusions(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let heading = ["attempt", "measurement", "code", "evidence", "by", "on"];
    let mut rows = Rows::new(to, &[&heading]);
    for it in &summary.exclusions {
        rows.push(&[
            &it.attempt,
            &it.measurement,
            &it.code,
            &it.evidence,
            &it.by,
            &it.on,
        ])?;
    }
    rows.finish()
}

fn timeline(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let heading = [
        "at_ms",
        "phase",
        "round",
        "candidate",
        "attempt",
        "scenario",
        "at",
        "kept",
        "outcome",
        "ran_out",
        "achieved_low_per_second",
        "achieved_high_per_second",
        "cpu_ns_per_request",
        "p50_ns",
        "p99_ns",
    ];
    let mut rows = Rows::new(to, &[&heading]);
    for it in &summary.timeline {
        let block = &it.attempt.block;
        rows.push(&[
            &it.at_ms,
            &block.phase,
            &block.round,
            &block.candidate,
            &it.attempt.attempt,
            &it.id.scenario,
            &it.id.at,
            &it.kept,
            &it.outcome,
            &wording::ran_out(it.ran_out),
            &it.achieved.map(|it| it.0),
            &it.achieved.map(|it| it.1),
            &it.cpu_per_request,
            &it.p50,
            &it.p99,
        ])?;
    }
    rows.finish()
}

fn probe(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let heading = ["reading", "unit", "lowest", "median", "highest"];
    let mut rows = Rows::new(to, &[&heading]);
    let mut push = |name: &str, unit: &str, values: Option<&[Decimal; 3]>| {
        let [lowest, median, highest] = values.map_or([None; 3], |it| it.map(Some));
        rows.push(&[&name, &unit, &lowest, &median, &highest])
    };
    let probe = &summary.probe;
    push("achieved", "per_second", probe.achieved.as_ref())?;
    let cost = probe.cpu_per_request.as_ref();
    push("cpu_per_request", "nanoseconds", cost)?;
    push("p99", "nanoseconds", probe.p99.as_ref())?;
    for (cpu, range) in &probe.fixed_work {
        let name = format!("fixed_work_cpu_{cpu}");
        push(&name, "of_calibration", Some(range))?;
    }
    rows.finish()
}

fn caveats(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(to, &[&["code", "detail"]]);
    for it in &summary.caveats {
        rows.push(&[&it.code.code(), &it.detail])?;
    }
    rows.finish()
}
