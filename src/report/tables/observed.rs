//! What was read in load windows beside the metrics, as CSV.

use super::{Rows, decimal, text};
use crate::estimate::Summary;
use crate::estimate::summary::{Cell, Counted};

/// What names a cell: its first columns.
fn place(it: &Cell) -> Vec<String> {
    vec![
        it.phase.to_string(),
        it.scenario.to_string(),
        it.at.to_string(),
        it.candidate.to_string(),
    ]
}

/// What became of every request.
pub(super) fn requests(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
        "phase",
        "scenario",
        "at",
        "candidate",
        "windows",
        "planned",
        "sent",
        "sent_is",
        "answered",
        "answered_is",
        "by_status",
        "aborted",
        "aborted_is",
        "errors",
        "late",
        "late_is",
        "witness",
        "answered_beside_witness",
    ]);
    let how = |count: Counted| {
        if count.observed {
            "observed"
        } else {
            "derived"
        }
        .to_owned()
    };
    for cell in &summary.cells {
        let Some(it) = &cell.requests else { continue };
        let by_status = it
            .by_status
            .iter()
            .map(|(status, count)| format!("{status} {count}"));
        let errors = it
            .errors
            .iter()
            .map(|(message, count)| format!("{count} {message}"));
        let mut cells = place(cell);
        cells.extend([
            it.windows.to_string(),
            text(it.planned.as_ref()),
            it.sent.number.to_string(),
            how(it.sent),
            it.answered.number.to_string(),
            how(it.answered),
            by_status.collect::<Vec<_>>().join("; "),
            it.aborted.number.to_string(),
            how(it.aborted),
            errors.collect::<Vec<_>>().join("; "),
            it.late.to_string(),
            if it.late_is_exact { "exact" } else { "at most" }.to_owned(),
            text(it.witness.map(|it| it.0).as_ref()),
            text(it.witness.map(|it| it.1).as_ref()),
        ]);
        rows.push(&cells);
    }
    rows
}

/// Memory of every role.
pub(super) fn memory(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
        "phase",
        "scenario",
        "at",
        "candidate",
        "role",
        "sampled_peak_bytes",
        "sampled_mean_bytes",
        "kernel_and_socket_bytes",
        "kernel_own_peak_bytes",
    ]);
    for cell in &summary.cells {
        for (role, it) in &cell.memory {
            let mut cells = place(cell);
            cells.push(role.to_string());
            let values = [&it.peak, &it.mean, &it.kernel, &it.kernel_peak];
            cells.extend(values.map(|it| decimal(it.as_ref())));
            rows.push(&cells);
        }
    }
    rows
}

/// What the machine did in the windows.
pub(super) fn watched(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
        "phase",
        "scenario",
        "at",
        "candidate",
        "context_switches_per_second",
        "cpu_pressure_share",
        "generator_wait_share",
        "swapped_pages",
        "retransmitted_segments",
        "listen_overflows",
        "throttled_ns",
    ]);
    for cell in &summary.cells {
        let it = &cell.watched;
        let mut cells = place(cell);
        cells.extend([
            decimal(it.context_switches.as_ref()),
            decimal(it.cpu_pressure.as_ref()),
            decimal(it.generator_wait.as_ref()),
            text(it.swapped_pages.as_ref()),
            text(it.retransmitted.as_ref()),
            text(it.listen_overflows.as_ref()),
            text(it.throttled_ns.as_ref()),
        ]);
        rows.push(&cells);
    }
    rows
}

/// Limits as the kernel had them.
pub(super) fn limits(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
        "role",
        "cpus",
        "memory_bytes",
        "processes",
        "edges",
        "because",
    ]);
    for it in &summary.limits {
        rows.push(&[
            it.role.to_string(),
            text(it.cpus.as_ref()),
            text(it.memory_bytes.as_ref()),
            text(it.processes.as_ref()),
            it.edges.to_string(),
            it.because.join("; "),
        ]);
    }
    rows
}
