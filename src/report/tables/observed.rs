//! What was read in load windows beside the metrics, as CSV.

use std::io::{self, Write};

use super::PLACE;
use super::rows::{Beginning, Rows};
use crate::estimate::Summary;
use crate::estimate::summary::{Cell, Counted};

/// What names a cell: its first columns.
fn place(it: &Cell) -> Beginning {
    Beginning::of(&[&it.phase, &it.scenario, &it.at, &it.candidate])
}

const fn how(count: Counted) -> &'static str {
    if count.observed {
        "observed"
    } else {
        "derived"
    }
}

/// What became of every request.
pub(super) fn requests(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let own = [
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
    ];
    let mut rows = Rows::new(to, &[&PLACE, &own]);
    for cell in &summary.cells {
        let Some(it) = &cell.requests else { continue };
        let by_status = it.by_status.iter();
        let by_status = by_status.map(|(status, count)| format!("{status} {count}"));
        let errors = it.errors.iter();
        let errors = errors.map(|(message, count)| format!("{count} {message}"));
        rows.push_after(
            &place(cell),
            &[
                &it.windows,
                &it.planned,
                &it.sent.number,
                &how(it.sent),
                &it.answered.number,
                &how(it.answered),
                &by_status.collect::<Vec<_>>().join("; "),
                &it.aborted.number,
                &how(it.aborted),
                &errors.collect::<Vec<_>>().join("; "),
                &it.late,
                &if it.late_is_exact { "exact" } else { "at most" },
                &it.witness.map(|it| it.0),
                &it.witness.map(|it| it.1),
            ],
        )?;
    }
    rows.finish()
}

/// Memory of every role.
pub(super) fn memory(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let own = [
        "role",
        "sampled_peak_bytes",
        "sampled_mean_bytes",
        "kernel_and_socket_bytes",
        "kernel_own_peak_bytes",
    ];
    let mut rows = Rows::new(to, &[&PLACE, &own]);
    for cell in &summary.cells {
        let place = place(cell);
        for (role, it) in &cell.memory {
            rows.push_after(
                &place,
                &[&role, &it.peak, &it.mean, &it.kernel, &it.kernel_peak],
            )?;
        }
    }
    rows.finish()
}

/// What the machine did in the windows.
pub(super) fn watched(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let own = [
        "context_switches_per_second",
        "cpu_pressure_share",
        "generator_wait_share",
        "swapped_pages",
        "retransmitted_segments",
        "listen_overflows",
        "throttled_ns",
    ];
    let mut rows = Rows::new(to, &[&PLACE, &own]);
    for cell in &summary.cells {
        let it = &cell.watched;
        rows.push_after(
            &place(cell),
            &[
                &it.context_switches,
                &it.cpu_pressure,
                &it.generator_wait,
                &it.swapped_pages,
                &it.retransmitted,
                &it.listen_overflows,
                &it.throttled_ns,
            ],
        )?;
    }
    rows.finish()
}

/// Limits as the kernel had them.
pub(super) fn limits(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    let heading = [
        "role",
        "cpus",
        "memory_bytes",
        "processes",
        "edges",
        "because",
    ];
    let mut rows = Rows::new(to, &[&heading]);
    for it in &summary.limits {
        rows.push(&[
            &it.role,
            &it.cpus,
            &it.memory_bytes,
            &it.processes,
            &it.edges,
            &it.because.join("; "),
        ])?;
    }
    rows.finish()
}
