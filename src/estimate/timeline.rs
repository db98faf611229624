//! Every measurement in the order of time.

use crate::model::Experiment;

use super::kept::{Judged, Selection};
use super::ratio::Between;
use super::shown::Shown;
use super::summary::{Decimal, TimelineRow};

const NS_PER_MS: u64 = 1_000_000;

/// Every measurement of a candidate, kept or not, in the order of time.
pub(super) fn timeline(experiment: &Experiment, selection: &Selection<'_>) -> Vec<TimelineRow> {
    let attempts = selection.attempts.iter();
    let mut shown: Vec<(&Judged<'_>, &Shown)> = attempts
        .filter(|judged| !experiment.is_standard(&judged.tried.attempt.block.candidate))
        .flat_map(|judged| judged.tried.shown.iter().map(move |it| (judged, it)))
        .collect();
    shown.sort_by_key(|(judged, it)| (it.realtime_ns, &judged.tried.attempt, &it.id));
    let begun = shown.first().map_or(0, |(_, it)| it.realtime_ns);
    let rows = shown.into_iter();
    rows.map(|(judged, it)| row(judged, it, begun, selection))
        .collect()
}

fn row(judged: &Judged<'_>, shown: &Shown, begun: u64, selection: &Selection<'_>) -> TimelineRow {
    let attempt = &judged.tried.attempt;
    let kept = selection.kept.get(&attempt.block);
    let counts = kept.is_some_and(|at| selection.attempts[*at].tried.attempt == *attempt);
    let number = |at: usize| shown.values[at].as_ref().ok();
    let low = |between: &Between| Decimal::from(between.low);
    TimelineRow {
        attempt: attempt.clone(),
        id: shown.id.clone(),
        at_ms: shown.realtime_ns.saturating_sub(begun) / NS_PER_MS,
        kept: counts && !judged.is_without(&shown.id),
        outcome: shown.outcome,
        ran_out: shown.ran_out,
        achieved: number(0).map(|it| (Decimal::from(it.low), Decimal::from(it.high))),
        cpu_per_request: number(1).map(low),
        p50: number(2).map(low),
        p99: number(3).map(low),
    }
}
