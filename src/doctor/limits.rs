//! What the machine does not have or does not allow.

use super::{Case, Seen};
use crate::model::code::Symptom;
use crate::model::plural::counted;
use crate::model::{Bytes, CpuSet, Known};

/// Files that a program has open beside its connections.
const OTHER_FILES: u64 = 64;

/// How long a port waits after its connection ended, seconds (Linux's `TCP_TIMEWAIT_LEN`).
const PORT_WAITS: u64 = 60;

pub(super) fn symptoms(case: &Case<'_>) -> Vec<Seen> {
    let mut seen = cores(case);
    let missing = case.missing.iter();
    seen.extend(missing.map(|missing| (Symptom::ProgramMissing, missing.clone())));
    seen.extend(memory(case));
    seen.extend(disk(case));
    seen.extend(files(case));
    seen.extend(ports(case));
    seen.extend(siblings(case));
    if case.wanted.shared {
        seen.push((Symptom::RolesShare, "roles share CPUs".to_owned()));
    }
    if let Err(because) = &case.signs.groups {
        seen.push((Symptom::GroupsDenied, because.clone()));
    }
    seen
}

fn unseen(because: &str) -> Seen {
    (Symptom::Unseen, because.to_owned())
}

fn cores(case: &Case<'_>) -> Vec<Seen> {
    let online = &case.signs.facts.online;
    let allowed = match &case.signs.allowed {
        Known::Value(allowed) => allowed,
        Known::Absent(_) => online,
    };
    let mut seen = Vec::new();
    for (role, cpus) in &case.wanted.cores {
        let denied = CpuSet::of(
            cpus.iter()
                .filter(|cpu| online.contains(*cpu) && !allowed.contains(*cpu)),
        );
        let offline = cpus.offline(role, online);
        seen.extend(offline.map(|text| (Symptom::CoresMissing, text)));
        if let Some(denied) = denied {
            let text = format!(
                "{role} is to have CPUs {cpus}; this process may not use {denied}, only {allowed}"
            );
            seen.push((Symptom::CoresMissing, text));
        }
    }
    if case.wanted.cores.is_empty()
        && online.iter().filter(|cpu| allowed.contains(*cpu)).count() < 2
    {
        let text = format!(
            "a run needs two CPUs, one for the candidate and one for the load; there is {allowed}"
        );
        seen.push((Symptom::CoresMissing, text));
    }
    seen
}

fn memory(case: &Case<'_>) -> Option<Seen> {
    let wanted = case.wanted.memory_bytes;
    match &case.signs.available_bytes {
        Known::Absent(because) => Some(unseen(because)),
        Known::Value(available) => (*available < wanted).then(|| {
            let (available, wanted) = (whole(*available), whole(wanted));
            let text =
                format!("{available} of memory can be had, the budgets together are {wanted}");
            (Symptom::MemoryTooSmall, text)
        }),
    }
}

fn disk(case: &Case<'_>) -> Option<Seen> {
    let wanted = case.wanted.disk_bytes;
    match case.disk_bytes {
        Known::Absent(because) => Some(unseen(because)),
        Known::Value(free) => (*free < wanted).then(|| {
            let text = format!(
                "{} are free where drafts go, the plan needs about {}",
                whole(*free),
                whole(wanted)
            );
            (Symptom::DiskTooSmall, text)
        }),
    }
}

/// Rounded down to whole mebibytes where there are some.
fn whole(bytes: u64) -> Bytes {
    const MEBIBYTE: u64 = 1 << 20;
    if bytes < MEBIBYTE {
        return Bytes(bytes);
    }
    Bytes(bytes / MEBIBYTE * MEBIBYTE)
}

fn files(case: &Case<'_>) -> Option<Seen> {
    let wanted = case.wanted.connections + OTHER_FILES;
    let (soft, hard) = match &case.signs.open_files {
        Known::Value(limits) => *limits,
        Known::Absent(because) => return Some(unseen(because)),
    };
    let text = |limit: u64, kind: &str| {
        let connections = case.wanted.connections;
        let planned = counted(connections, "connection is", "connections are");
        format!("{planned} planned, the {kind} limit of open files is {limit}")
    };
    if hard < wanted {
        return Some((Symptom::FilesTooFew, text(hard, "hard")));
    }
    (soft < wanted).then(|| (Symptom::FilesTight, text(soft, "soft")))
}

fn ports(case: &Case<'_>) -> Option<Seen> {
    let all = match &case.signs.ports {
        Known::Value(all) => *all,
        Known::Absent(because) => return Some(unseen(because)),
    };
    let waiting = case.signs.ports_waiting.value().copied().unwrap_or(0);
    let free = all.saturating_sub(waiting);
    let wanted = case.wanted.connections;
    if free < wanted {
        let planned = counted(wanted, "connection is", "connections are");
        let text = format!("{planned} planned, {free} of {all} local ports are free");
        return Some((Symptom::PortsTooFew, text));
    }
    let lasts = free.checked_div(case.wanted.rate)?;
    (lasts < PORT_WAITS).then(|| {
        let rate = case.wanted.rate;
        let text = format!(
            "{} free: {lasts} s at {rate}/s if each answer ends its connection, and a port waits {PORT_WAITS} s",
            counted(free, "local port is", "local ports are")
        );
        (Symptom::PortsTight, text)
    })
}

fn siblings(case: &Case<'_>) -> Option<Seen> {
    let code = if case.wanted.strict {
        Symptom::StrictIsolation
    } else {
        Symptom::SharedSiblings
    };
    let text = match case.signs.facts.shared_cores(&case.wanted.cores) {
        Known::Absent(because) => format!("siblings are not known: {because}"),
        Known::Value(shared) => shared.first()?.to_string(),
    };
    Some((code, text))
}
