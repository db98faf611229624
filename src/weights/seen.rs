//! What a run showed of the known weights: the measurements that count, and numbers of them.

use super::{Judgement, Row, Weighed};
use crate::model::reading::CpuReading;
use crate::model::{Account, Role};
use crate::record::event::Measured;

/// The coarsest step of a counter that is no reason to doubt, nanoseconds.
const FINE_NS: u64 = 1_000_000;

impl<'a> Weighed<'a> {
    /// The measurements of a candidate in a phase that count, in the order of time.
    pub(super) fn kept(&self, phase: &str, candidate: &str) -> Vec<&'a Measured> {
        let timeline = self.summary.timeline.iter();
        let wanted = timeline.filter(|row| {
            let block = &row.attempt.block;
            row.kept && block.phase.as_str() == phase && block.candidate.as_str() == candidate
        });
        let attempts = self.records.attempts();
        wanted
            .filter_map(|row| {
                let measured = attempts.get(&row.attempt)?.measured.iter();
                measured.copied().find(|measured| measured.id == row.id)
            })
            .collect()
    }

    /// Why nothing of a candidate counts.
    pub(super) fn nothing_because(&self, phase: &str, candidate: &str) -> String {
        let exclusions = self.summary.exclusions.iter();
        let mut of_it = exclusions.filter(|exclusion| {
            let block = &exclusion.attempt.block;
            block.phase.as_str() == phase && block.candidate.as_str() == candidate
        });
        of_it.next_back().map_or_else(
            || format!("nothing of `{candidate}` was measured"),
            |last| {
                format!(
                    "every try at `{candidate}` was invalid, at last: {} ({})",
                    last.code, last.evidence
                )
            },
        )
    }
}

/// The candidate's CPU counter at both edges.
pub(super) fn cpu(measured: &Measured) -> Option<(&CpuReading, &CpuReading)> {
    let before = measured.before.roles.get(&Role::Candidate)?.cpu.value()?;
    let after = measured.after.roles.get(&Role::Candidate)?.cpu.value()?;
    Some((before, after))
}

/// CPU time of the candidate's group in the counter window, nanoseconds.
pub(super) fn group_ns(measured: &Measured) -> Option<u64> {
    let (before, after) = cpu(measured)?;
    after.cpu_ns.checked_sub(before.cpu_ns)
}

/// Why a ratio of CPU times outside its bounds proves nothing; absent: it would.
pub(super) fn coarse(measured: &[&Measured]) -> Option<String> {
    let step = measured
        .iter()
        .filter_map(|it| cpu(it))
        .map(|(before, _)| before.granularity_ns);
    let step = step.max().filter(|step| *step > FINE_NS)?;
    Some(format!(
        "CPU time was read in steps of {} ms, from the process tree: run as a user that may make control groups",
        step / 1_000_000
    ))
}

/// What the generator counted.
pub(super) fn account(measured: &Measured) -> Option<&Account> {
    measured.account.value()
}

/// The quotient of two counts.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The middle one, or the mean of the two in the middle.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(sorted[middle - 1], upper))
}

impl Row {
    /// A row outside its bounds that proves nothing, where there is a reason.
    pub(super) fn unless(mut self, doubt: Option<String>) -> Self {
        if self.judgement == Judgement::NotOk && doubt.is_some() {
            self.judgement = Judgement::CannotTell;
            self.because = doubt;
        }
        self
    }
}
