//! Every measurement in the order of time, and where counters came from.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Experiment, Known, Metric, Quantile, Role, Source};
use crate::record::Records;
use crate::record::event::{Event, Measured};

use super::kept::Selection;
use super::ratio::Between;
use super::slot::{Slot, outcome};
use super::summary::{Decimal, TimelineRow};
use super::value::value;

const NS_PER_MS: u64 = 1_000_000;

/// Every measurement of a candidate, kept or not, in the order of time.
pub(super) fn timeline(
    records: &Records,
    experiment: &Experiment,
    selection: &Selection<'_>,
) -> Vec<TimelineRow> {
    let mut measured: Vec<&Measured> = records
        .events()
        .filter_map(|event| match event {
            Event::Measured(measured) => Some(measured.as_ref()),
            _ => None,
        })
        .filter(|it| !experiment.is_standard(&it.attempt.block.candidate))
        .collect();
    measured.sort_by_key(|it| (it.before.host.realtime_ns, &it.attempt, &it.id));
    let begun = measured.first().map_or(0, |it| it.before.host.realtime_ns);
    measured
        .into_iter()
        .map(|it| row(it, begun, experiment, selection))
        .collect()
}

fn row(
    measured: &Measured,
    begun: u64,
    experiment: &Experiment,
    selection: &Selection<'_>,
) -> TimelineRow {
    let slot = Slot {
        attempt: &measured.attempt,
        measured: Some(measured),
        outcome: outcome(measured, experiment),
        detail: None,
        accepted: true,
    };
    let number = |metric| value(&slot, metric, &Role::Candidate, experiment).ok();
    let low = |between: Between| Decimal::from(between.low);
    let since = measured.before.host.realtime_ns.saturating_sub(begun);
    TimelineRow {
        attempt: measured.attempt.clone(),
        id: measured.id.clone(),
        at_ms: since / NS_PER_MS,
        kept: is_kept(measured, selection),
        outcome: slot.outcome,
        ran_out: super::cell::ran_out(&slot, experiment),
        achieved: number(Metric::Achieved)
            .map(|it| (Decimal::from(it.low), Decimal::from(it.high))),
        cpu_per_request: number(Metric::CpuPerRequest).map(low),
        p50: number(Metric::Latency(Quantile::P50)).map(low),
        p99: number(Metric::Latency(crate::probe::verdict::PROBE_QUANTILE)).map(low),
    }
}

fn is_kept(measured: &Measured, selection: &Selection<'_>) -> bool {
    let position = selection.kept.get(&measured.attempt.block);
    let judged = position.map(|position| &selection.attempts[*position]);
    judged.is_some_and(|judged| {
        *judged.attempt == measured.attempt && !judged.is_without(&measured.id)
    })
}

/// Answers of all load windows, kept or not.
pub(super) fn answered(records: &Records) -> u64 {
    let of = |event: &Event| match event {
        Event::Measured(measured) => Some(measured.account.value()?.answered.get()),
        _ => None,
    };
    records.events().filter_map(of).sum()
}

/// Where each role's counters came from, in words.
pub(super) fn counters(records: &Records) -> BTreeMap<Role, String> {
    let mut sources: BTreeMap<&Role, BTreeSet<(Source, u64)>> = BTreeMap::new();
    let mut unsure: BTreeMap<&Role, u64> = BTreeMap::new();
    for event in records.events() {
        let Event::Measured(measured) = event else {
            continue;
        };
        for (role, reading) in measured.before.roles.iter().chain(&measured.after.roles) {
            let most = unsure.entry(role).or_default();
            *most = reading.uncertainty_ns.max(*most);
            if let Known::Value(cpu) = &reading.cpu {
                sources
                    .entry(role)
                    .or_default()
                    .insert((cpu.source, cpu.granularity_ns));
            }
        }
    }
    let words = |(role, sources): (&Role, BTreeSet<(Source, u64)>)| {
        let sources: Vec<String> = sources.into_iter().map(shown).collect();
        let unsure = unsure.get(role).copied().unwrap_or(0);
        let words = format!("{}; read within {unsure} ns", sources.join("; "));
        (role.clone(), words)
    };
    sources.into_iter().map(words).collect()
}

fn shown((source, granularity_ns): (Source, u64)) -> String {
    let source = match source {
        Source::CgroupV1 => "cgroup v1",
        Source::CgroupV2 => "cgroup v2",
        Source::ProcessTree => "the process tree",
        Source::ProcStat => "/proc/stat",
        Source::EngineApi => "the engine's API",
        Source::Schedstat => "schedstat",
        Source::Fake => "a fake",
    };
    format!("{source}, in steps of {granularity_ns} ns")
}
