//! Processes of a group's members that left its cgroups: their CPU time is the role's all the same.
//!
//! They are recognised by the session or the family of a member, and an orphan by working in the
//! group's own folder. What gave up all three is foreign, and shows as such.

use std::collections::BTreeSet;

use super::group::Running;
use super::kill;
use crate::measure::process::{self, ProcessStat};

/// Every living process of the group's members that is in none of its cgroups. Empty without cgroups:
/// there whatever descends from a gate is in the group.
pub(super) fn processes(group: &Running) -> Vec<ProcessStat> {
    let Some(listing) = group.folders.listing() else {
        return Vec::new();
    };
    let members: BTreeSet<i32> = group
        .members()
        .values()
        .map(|member| member.identity.pid)
        .collect();
    let began_ticks = group
        .members()
        .values()
        .map(|member| member.identity.started_ticks)
        .min();
    let Some(began_ticks) = began_ticks else {
        return Vec::new();
    };
    let work = &group.work.0;
    let all = process::all();
    let own = process::tree(&all, |process| {
        let younger = process.started_ticks >= began_ticks;
        let orphan = || process.parent == 1 && process::works_in(process.pid, work);
        younger && (members.contains(&process.session) || orphan())
    });
    let inside = kill::processes(listing);
    all.into_iter()
        .filter(|process| process.state != 'Z')
        .filter(|process| own.contains(&process.pid) && !inside.contains(&process.pid))
        .collect()
}

/// Their CPU time so far, nanoseconds.
pub(super) fn cpu_ns(group: &Running) -> u64 {
    let ticks = processes(group)
        .iter()
        .map(|process| process.own_ticks + process.children_ticks)
        .sum();
    process::ticks_ns(ticks)
}
