//! Reading a group: CPU time, memory, processes, run delay, members.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::group::{Progress, Running};
use super::kill;
use super::limits;
use crate::measure::cgroup::{Version, v1, v2};
use crate::measure::process::{self, ProcessStat};
use crate::measure::{clock, keyed, known, single};
use crate::model::name::MemberName;
use crate::model::reading::{CpuReading, EffectiveLimits, MemberReading, MemoryReading};
use crate::model::{CpuSet, Known, RoleReading, Source};

/// The processes of a group that has no cgroups, gates left out, and what the gates waited for.
struct Tree {
    processes: Vec<ProcessStat>,
    waited_ticks: u64,
}

/// Reads everything of a group; the CPU counter first.
pub(super) fn read(group: &Running) -> RoleReading {
    let monotonic_ns = clock::monotonic_ns();
    let counted = group
        .folders
        .cpu_time()
        .map(|(version, folder)| match version {
            Version::V1 => v1::cpu(folder, group.folders.of("cpu").map(|(_, folder)| folder)),
            Version::V2 => v2::cpu(folder),
        });
    let tree = group.stay.then(|| tree(group));
    let cpu = match (counted, &tree) {
        (Some(counted), _) => Known::from(counted),
        (None, Some(tree)) => Known::Value(tree_cpu(group, tree)),
        (None, None) => Known::Absent("nothing counts the group's CPU time".to_owned()),
    };
    let uncertainty_ns = clock::monotonic_ns() - monotonic_ns;
    let pids = pids(group, tree.as_ref());
    RoleReading {
        role: group.spec.role.clone(),
        monotonic_ns,
        uncertainty_ns,
        cpu,
        memory: memory(group, &pids),
        processes: processes(group, tree.as_ref()),
        refused_processes: refused(group),
        run_delay_ns: run_delay(&pids),
        members: members(group),
    }
}

fn tree(group: &Running) -> Tree {
    let all = process::all();
    let gates: BTreeMap<i32, u64> = group
        .members()
        .values()
        .map(|member| (member.identity.pid, member.identity.started_ticks))
        .collect();
    let is_gate = |process: &ProcessStat| gates.get(&process.pid) == Some(&process.started_ticks);
    let below = process::tree(&all, is_gate);
    // A gate's children's time is that of every process of its tree that ended.
    let waited_ticks = all
        .iter()
        .filter(|process| is_gate(process))
        .map(|gate| gate.children_ticks)
        .sum();
    let processes = all
        .into_iter()
        .filter(|process| below.contains(&process.pid) && !gates.contains_key(&process.pid))
        .collect();
    Tree {
        processes,
        waited_ticks,
    }
}

fn tree_cpu(group: &Running, tree: &Tree) -> CpuReading {
    let living: u64 = tree
        .processes
        .iter()
        .map(|process| process.own_ticks + process.children_ticks)
        .sum();
    let ticks = living + tree.waited_ticks + group.retired_ticks.load(Ordering::Relaxed);
    CpuReading {
        cpu_ns: process::ticks_ns(ticks),
        per_cpu_ns: Known::Absent("a process tree does not count each CPU apart".to_owned()),
        throttled_ns: Known::Absent("without cgroups nothing throttles".to_owned()),
        source: Source::ProcessTree,
        // Each process is rounded down to a whole tick.
        granularity_ns: process::ticks_ns(1),
    }
}

fn pids(group: &Running, tree: Option<&Tree>) -> BTreeSet<i32> {
    match (tree, group.folders.listing()) {
        (Some(tree), _) => tree.processes.iter().map(|process| process.pid).collect(),
        (None, Some(folder)) => kill::processes(folder),
        (None, None) => BTreeSet::new(),
    }
}

fn memory(group: &Running, pids: &BTreeSet<i32>) -> Known<MemoryReading> {
    match group.folders.of("memory") {
        Some((Version::V1, folder)) => Known::from(v1::memory(folder)),
        Some((Version::V2, folder)) => Known::from(v2::memory(folder)),
        None => Known::Value(tree_memory(pids)),
    }
}

fn tree_memory(pids: &BTreeSet<i32>) -> MemoryReading {
    let resident: Vec<process::Resident> = pids
        .iter()
        .filter_map(|pid| process::resident(*pid))
        .collect();
    let absent = || Known::Absent("without a `memory` cgroup it is not counted".to_owned());
    let shared = resident.iter().map(|resident| resident.shared_bytes).max();
    MemoryReading {
        anonymous_bytes: resident
            .iter()
            .map(|resident| resident.anonymous_bytes)
            .sum(),
        // Processes of one role mostly map the same memory: a sum would count it once for each.
        shared_bytes: Known::Value(shared.unwrap_or(0)),
        kernel_bytes: absent(),
        kernel_peak_bytes: absent(),
        source: Source::ProcessTree,
    }
}

fn processes(group: &Running, tree: Option<&Tree>) -> Known<u64> {
    match (group.folders.of("pids"), tree) {
        (Some((_, folder)), _) => known(&folder.join("pids.current"), "a number", single),
        (None, Some(tree)) => {
            Known::Value(tree.processes.iter().map(|process| process.threads).sum())
        }
        (None, None) => Known::Absent("no `pids` cgroup holds the group".to_owned()),
    }
}

/// How often the limit of processes refused one. Version 1 counts in the group that asked, version 2
/// in the one that has the limit.
fn refused(group: &Running) -> Known<u64> {
    let Some((version, folder)) = group.folders.of("pids") else {
        return Known::Absent("no `pids` cgroup holds the group".to_owned());
    };
    let folders = match version {
        Version::V1 => kill::below(folder),
        Version::V2 => vec![folder.to_owned()],
    };
    let count = |folder: &PathBuf| {
        let events = folder.join("pids.events");
        known(&events, "a line `max`", |text| keyed(text, "max"))
    };
    let counts = folders.iter().map(count);
    counts.fold(Known::Value(0), |sum, count| match (sum, count) {
        (Known::Value(sum), Known::Value(count)) => Known::Value(sum + count),
        (Known::Absent(because), _) | (_, Known::Absent(because)) => Known::Absent(because),
    })
}

/// The sum over threads that live; one that ended takes its delay with it.
fn run_delay(pids: &BTreeSet<i32>) -> Known<u64> {
    let delays: Vec<u64> = pids
        .iter()
        .filter_map(|pid| process::run_delay_ns(*pid))
        .collect();
    match (pids.is_empty(), delays.is_empty()) {
        (true, _) => Known::Absent("none of its processes lives any more".to_owned()),
        (false, true) => Known::Absent("the kernel shows no schedstat of these threads".to_owned()),
        (false, false) => Known::Value(delays.iter().sum()),
    }
}

fn members(group: &Running) -> Vec<MemberReading> {
    let of = |name: &MemberName| {
        let progress = group
            .members()
            .get(name)
            .map(|member| *member.progress.borrow());
        let ended = match progress {
            Some(Progress::Ended(exit) | Progress::Gone(exit)) => Some(exit.to_string()),
            Some(Progress::Running) | None => None,
        };
        MemberReading {
            name: name.clone(),
            alive: progress == Some(Progress::Running),
            ended,
            oom_kills: group.oom_kills(name),
        }
    };
    group
        .spec
        .members
        .iter()
        .map(|(name, _)| of(name))
        .collect()
}

/// Reads the group's limits back. Without a cpuset the CPUs are those that every member's program may
/// run on, by its affinity.
pub(super) fn limits(group: &Running) -> EffectiveLimits {
    let mut limits = limits::read(&group.folders);
    if limits.cpus.value().is_none() {
        limits.cpus = affinity(group);
    }
    limits
}

fn affinity(group: &Running) -> Known<CpuSet> {
    let members = group.members();
    let running = members
        .values()
        .filter(|member| *member.progress.borrow() == Progress::Running);
    let sets: Vec<CpuSet> = running
        .filter_map(|member| affinity_of(member.program))
        .collect();
    match sets.split_first() {
        None => Known::Absent("no member runs whose affinity could be read".to_owned()),
        Some((first, others)) if others.iter().all(|set| set == first) => {
            Known::Value(first.clone())
        }
        Some(_) => Known::Absent("the members' affinities differ".to_owned()),
    }
}

fn affinity_of(pid: i32) -> Option<CpuSet> {
    let set = rustix::thread::sched_getaffinity(rustix::process::Pid::from_raw(pid)).ok()?;
    let places = 0..rustix::thread::CpuSet::MAX_CPU;
    let cpus = places
        .filter(|place| set.is_set(*place))
        .filter_map(|place| u32::try_from(place).ok());
    CpuSet::of(cpus)
}
