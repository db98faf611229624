//! What else happens on the machine, and what makes its speed change.

use super::{Case, Seen};
use crate::measure::host::Signs;
use crate::model::code::Symptom;
use crate::model::plural::counted;
use crate::model::reading::CpuTimes;
use crate::model::{CpuSet, Known, Role};

/// A CPU that is busier than this, with nothing measured, disturbs: thousandths.
const BUSY_FROM: u64 = 50;
/// More stolen time than this disturbs: thousandths.
const STOLEN_FROM: u64 = 10;
/// More interrupts a second than this on a candidate's CPU disturb; an idle one has its timer's, some hundred.
const INTERRUPTS_FROM: u64 = 2_000;
/// More movement of the wall clock than this is a step, nanoseconds.
const CLOCK_FROM_NS: u64 = 1_000_000;
/// Sources of time that are read without leaving the program.
const FAST_CLOCKS: [&str; 4] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
];

pub(super) fn symptoms(case: &Case<'_>) -> Vec<Seen> {
    let Case { signs, wanted, .. } = case;
    let all = wanted.all(signs);
    let candidate = wanted.of_role(&Role::Candidate, signs);
    let mut seen: Vec<Seen> = other_load(signs, &all).into_iter().collect();
    seen.extend(stolen(signs, &all));
    seen.extend(swap(signs));
    seen.extend(clock(signs));
    seen.extend(interrupts(signs, &candidate));
    seen.extend(speed(signs, &all));
    seen
}

/// A part of a whole in thousandths; 0 of nothing.
fn thousandths(part: u64, whole: u64) -> u64 {
    let share = u128::from(part) * 1_000 / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

fn percent(thousandths: u64) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

fn whole(times: &CpuTimes) -> u64 {
    times.busy_ns + times.idle_ns + times.steal_ns
}

/// The CPUs whose share is above a limit, each with its share.
fn above(signs: &Signs, cpus: &CpuSet, limit: u64, part: impl Fn(&CpuTimes) -> u64) -> Vec<String> {
    let times = signs.cpus.iter().filter(|(cpu, _)| cpus.contains(**cpu));
    let shares = times.map(|(cpu, times)| (cpu, thousandths(part(times), whole(times))));
    shares
        .filter(|(_, share)| *share > limit)
        .map(|(cpu, share)| format!("CPU {cpu} {}", percent(share)))
        .collect()
}

fn seconds(signs: &Signs) -> String {
    let tenths = signs.over_ns / 100_000_000;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

fn other_load(signs: &Signs, cpus: &CpuSet) -> Option<Seen> {
    let busy = above(signs, cpus, BUSY_FROM, |times| times.busy_ns);
    if busy.is_empty() {
        return None;
    }
    let culprits = signs.busiest.iter().map(|busy| {
        let share = percent(thousandths(busy.cpu_ns, signs.over_ns));
        format!("{} ({}, {share})", busy.name, busy.pid)
    });
    let culprits: Vec<String> = culprits.collect();
    let mut text = format!("busy over {}: {}", seconds(signs), busy.join(", "));
    if !culprits.is_empty() {
        text = format!("{text}; the busiest processes: {}", culprits.join(", "));
    }
    Some((Symptom::OtherLoad, text))
}

fn stolen(signs: &Signs, cpus: &CpuSet) -> Option<Seen> {
    let stolen = above(signs, cpus, STOLEN_FROM, |times| times.steal_ns);
    if !stolen.is_empty() {
        let text = format!("stolen over {}: {}", seconds(signs), stolen.join(", "));
        return Some((Symptom::StolenTime, text));
    }
    match &signs.facts.virtualisation {
        Known::Value(kind) if kind != "none" && !signs.steal_ever => Some((
            Symptom::StealHidden,
            format!("a virtual machine ({kind}) without any steal since its start"),
        )),
        _ => None,
    }
}

fn swap(signs: &Signs) -> Option<Seen> {
    match &signs.swapped_pages {
        Known::Absent(because) => Some((Symptom::Unseen, because.clone())),
        Known::Value(0) if signs.facts.swap_bytes == 0 => None,
        Known::Value(0) => {
            let size = crate::model::Bytes(signs.facts.swap_bytes);
            Some((Symptom::SwapOn, format!("{size} of swap")))
        }
        Known::Value(pages) => {
            let text = format!(
                "{} over {}",
                counted(*pages, "page", "pages"),
                seconds(signs)
            );
            Some((Symptom::Swapping, text))
        }
    }
}

fn clock(signs: &Signs) -> Vec<Seen> {
    let mut seen = Vec::new();
    if signs.clock_moved_ns > CLOCK_FROM_NS {
        let text = format!(
            "the wall clock moved by {} us over {}",
            signs.clock_moved_ns / 1_000,
            seconds(signs)
        );
        seen.push((Symptom::ClockSet, text));
    }
    if let Known::Value(source) = &signs.facts.clock_source
        && !FAST_CLOCKS.contains(&source.as_str())
    {
        seen.push((
            Symptom::ClockSource,
            format!("the clock source is {source}"),
        ));
    }
    seen
}

fn interrupts(signs: &Signs, candidate: &CpuSet) -> Option<Seen> {
    let counts = match &signs.interrupts {
        Known::Value(counts) => counts,
        Known::Absent(because) => return Some((Symptom::Unseen, because.clone())),
    };
    let milliseconds = (signs.over_ns / 1_000_000).max(1);
    let rates = counts.iter().filter(|(cpu, _)| candidate.contains(**cpu));
    let rates = rates.map(|(cpu, count)| (cpu, count.saturating_mul(1_000) / milliseconds));
    let many: Vec<String> = rates
        .filter(|(_, rate)| *rate > INTERRUPTS_FROM)
        .map(|(cpu, rate)| format!("CPU {cpu} {rate}/s"))
        .collect();
    (!many.is_empty()).then(|| (Symptom::Interrupts, many.join(", ")))
}

fn speed(signs: &Signs, cpus: &CpuSet) -> Vec<Seen> {
    let mut seen = Vec::new();
    if let Known::Value(power) = &signs.facts.power
        && power == "battery"
    {
        seen.push((Symptom::OnBattery, "no mains supply is online".to_owned()));
    }
    if let Known::Value(governors) = &signs.facts.governors {
        let slow = governors
            .iter()
            .filter(|(cpu, governor)| cpus.contains(**cpu) && governor.as_str() != "performance");
        let slow: Vec<String> = slow
            .map(|(cpu, governor)| format!("CPU {cpu} {governor}"))
            .collect();
        if !slow.is_empty() {
            seen.push((Symptom::Governor, slow.join(", ")));
        }
    }
    if signs.facts.turbo == Known::Value(true) {
        seen.push((Symptom::Turbo, "turbo is on".to_owned()));
    }
    seen
}
