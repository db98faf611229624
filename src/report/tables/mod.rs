//! Every number of a report as CSV: unrounded, in the summary's one unit, which the heading names.

mod estimates;
mod observed;

use std::collections::BTreeMap;

use super::error::RenderError;
use super::escape::csv as cell;
use super::view::wording;
use crate::estimate::Summary;
use crate::estimate::summary::Decimal;
use estimates::{estimates, over_points, repetitions};

/// Every table by its file name.
pub(super) fn render(summary: &Summary) -> Result<BTreeMap<String, Vec<u8>>, RenderError> {
    let tables = [
        ("estimates.csv", estimates(summary)),
        ("repetitions.csv", repetitions(summary)),
        ("over-points.csv", over_points(summary)),
        ("cells.csv", cells(summary)),
        ("requests.csv", observed::requests(summary)),
        ("memory.csv", observed::memory(summary)),
        ("watched.csv", observed::watched(summary)),
        ("limits.csv", observed::limits(summary)),
        ("comparisons.csv", comparisons(summary)),
        ("derived.csv", derived(summary)),
        ("counts.csv", counts(summary)),
        ("exclusions.csv", exclusions(summary)),
        ("timeline.csv", timeline(summary)),
        ("probe.csv", probe(summary)),
        ("caveats.csv", caveats(summary)),
    ];
    let written = tables.into_iter().map(|(name, rows)| {
        let bytes = rows
            .finish()
            .map_err(|error| RenderError::Table(name.to_owned(), error.to_string()))?;
        Ok((name.to_owned(), bytes))
    });
    written.collect()
}

/// A table as it is written. The first fault ends it.
struct Rows {
    writer: csv::Writer<Vec<u8>>,
    fault: Option<csv::Error>,
}

impl Rows {
    fn new(heading: &[&str]) -> Self {
        let writer = csv::WriterBuilder::new()
            .terminator(csv::Terminator::Any(b'\n'))
            .from_writer(Vec::new());
        let mut rows = Self {
            writer,
            fault: None,
        };
        rows.push(heading);
        rows
    }

    fn push<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        if self.fault.is_none() {
            self.fault = self.write(cells).err();
        }
    }

    fn write<T: AsRef<str>>(
        &mut self,
        cells: impl IntoIterator<Item = T>,
    ) -> Result<(), csv::Error> {
        for it in cells {
            let text = cell(it.as_ref());
            self.writer.write_field(text.as_bytes())?;
        }
        self.writer.write_record(None::<&[u8]>)
    }

    fn finish(self) -> Result<Vec<u8>, csv::Error> {
        match self.fault {
            Some(fault) => Err(fault),
            None => self
                .writer
                .into_inner()
                .map_err(|error| csv::Error::from(error.into_error())),
        }
    }
}

fn text<T: ToString>(value: Option<&T>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}

fn decimal(value: Option<&Decimal>) -> String {
    text(value)
}

fn unit(unit: crate::model::Unit) -> String {
    serde_json::to_value(unit)
        .ok()
        .and_then(|it| it.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn cells(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
        "phase",
        "scenario",
        "at",
        "candidate",
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
    ]);
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
            it.phase.to_string(),
            it.scenario.to_string(),
            it.at.to_string(),
            it.candidate.to_string(),
            it.kept.to_string(),
            it.accepted.to_string(),
            it.attempted.to_string(),
            outcomes.collect::<Vec<_>>().join("; "),
            ran_out.collect::<Vec<_>>().join("; "),
            decimal(it.candidate_busy.as_ref()),
            decimal(it.generator_busy.as_ref()),
            decimal(it.foreign_cores.as_ref()),
            decimal(it.foreign_at_most.as_ref()),
            decimal(it.steal.as_ref()),
            decimal(it.softirq_per_request.as_ref()),
            decimal(it.idle_cores.as_ref()),
            it.not_steady.to_string(),
            text(it.burst.as_ref()),
            it.connections.to_string(),
        ]);
    }
    rows
}

fn comparisons(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
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
        "interval_low",
        "interval_high",
        "true_coverage",
        "interval_kind",
        "verdict",
        "corrected_for",
        "p_value",
        "because",
    ]);
    for it in &summary.comparisons {
        let (named, interval) = (&it.comparison, it.interval.as_ref());
        rows.push(&[
            named.metric.to_string(),
            named.phase.to_string(),
            text(named.scenario.as_ref()),
            text(named.at.as_ref()),
            text(named.role.as_ref()),
            named.compare.to_string(),
            named.against.to_string(),
            it.primary.to_string(),
            decimal(it.compare_value.as_ref()),
            decimal(it.against_value.as_ref()),
            decimal(it.achieved.0.as_ref()),
            decimal(it.achieved.1.as_ref()),
            it.n.0.to_string(),
            it.n.1.to_string(),
            decimal(it.ratio.as_ref()),
            decimal(interval.map(|it| &it.low)),
            decimal(interval.map(|it| &it.high)),
            decimal(interval.map(|it| &it.coverage)),
            text(interval.map(|it| &it.kind)),
            it.verdict
                .map(wording::verdict)
                .unwrap_or_default()
                .to_owned(),
            it.corrected_for.to_string(),
            decimal(it.p_value.as_ref()),
            text(it.because.as_ref()),
        ]);
    }
    rows
}

fn derived(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
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
    ]);
    for result in &summary.derived {
        for it in &result.rows {
            rows.push(&[
                result.name.to_string(),
                result.title.clone(),
                text(it.candidate.as_ref()),
                text(it.scenario.as_ref()),
                decimal(it.value.as_ref()),
                unit(it.unit),
                decimal(it.with_best_single.as_ref()),
                decimal(it.relative.as_ref()),
                text(it.agrees.as_ref()),
                wording::mark(it.mark).to_owned(),
                text(it.note.as_ref()),
            ]);
        }
    }
    rows
}

fn counts(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
        "phase",
        "candidate",
        "blocks_planned",
        "blocks_kept",
        "attempts_excluded",
        "blocks_tried_again",
    ]);
    for it in &summary.counts {
        let numbers = [it.planned, it.kept, it.excluded, it.tried_again].map(|it| it.to_string());
        let mut cells = vec![it.phase.to_string(), it.candidate.to_string()];
        cells.extend(numbers);
        rows.push(&cells);
    }
    rows
}

fn exclusions(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&["attempt", "measurement", "code", "evidence", "by", "on"]);
    for it in &summary.exclusions {
        rows.push(&[
            it.attempt.to_string(),
            text(it.measurement.as_ref()),
            it.code.to_string(),
            it.evidence.clone(),
            text(it.by.as_ref()),
            text(it.on.as_ref()),
        ]);
    }
    rows
}

fn timeline(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&[
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
    ]);
    for it in &summary.timeline {
        let block = &it.attempt.block;
        rows.push(&[
            it.at_ms.to_string(),
            block.phase.to_string(),
            block.round.to_string(),
            block.candidate.to_string(),
            it.attempt.attempt.to_string(),
            it.id.scenario.to_string(),
            it.id.at.to_string(),
            it.kept.to_string(),
            it.outcome.to_string(),
            wording::ran_out(it.ran_out).to_owned(),
            decimal(it.achieved.as_ref().map(|it| &it.0)),
            decimal(it.achieved.as_ref().map(|it| &it.1)),
            decimal(it.cpu_per_request.as_ref()),
            decimal(it.p50.as_ref()),
            decimal(it.p99.as_ref()),
        ]);
    }
    rows
}

fn probe(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&["reading", "unit", "lowest", "median", "highest"]);
    let mut push = |name: &str, unit: &str, values: Option<&[Decimal; 3]>| {
        let mut cells = vec![name.to_owned(), unit.to_owned()];
        cells.extend((0..3).map(|index| decimal(values.map(|it| &it[index]))));
        rows.push(&cells);
    };
    push("achieved", "per_second", summary.probe.achieved.as_ref());
    push(
        "cpu_per_request",
        "nanoseconds",
        summary.probe.cpu_per_request.as_ref(),
    );
    push("p99", "nanoseconds", summary.probe.p99.as_ref());
    for (cpu, range) in &summary.probe.fixed_work {
        push(
            &format!("fixed_work_cpu_{cpu}"),
            "of_calibration",
            Some(range),
        );
    }
    rows
}

fn caveats(summary: &Summary) -> Rows {
    let mut rows = Rows::new(&["code", "detail"]);
    for it in &summary.caveats {
        rows.push([it.code.code(), &it.detail]);
    }
    rows
}
