//! Processes as `/proc` shows them: identity, CPU time, memory, run delay.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What `/proc/PID/stat` says of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// Its number.
    pub pid: i32,
    /// Its state: `R`, `S`, `Z` for one that ended and was not waited for, …
    pub state: char,
    /// Its parent.
    pub parent: i32,
    /// Its session: the number of the process that called `setsid`.
    pub session: i32,
    /// Its own user and system time, ticks.
    pub own_ticks: u64,
    /// User and system time of its children that ended and were waited for, ticks.
    pub children_ticks: u64,
    /// Its threads.
    pub threads: u64,
    /// When it started, ticks after boot. With the number it names a process beyond doubt.
    pub started_ticks: u64,
}

/// Parses `/proc/PID/stat`; absent when it has another shape. The name in parentheses may hold anything,
/// spaces and parentheses included, so fields are counted from the last parenthesis (proc(5)).
#[must_use]
pub fn parse_stat(text: &str) -> Option<ProcessStat> {
    let (before, after) = text.rsplit_once(')')?;
    let pid = before.split_ascii_whitespace().next()?.parse().ok()?;
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    // fields[0] is field 3 of proc(5).
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let signed = |field: usize| fields.get(field - 3)?.parse::<i32>().ok();
    Some(ProcessStat {
        pid,
        state: fields.first()?.chars().next()?,
        parent: signed(4)?,
        session: signed(6)?,
        own_ticks: number(14)? + number(15)?,
        children_ticks: number(16)? + number(17)?,
        threads: number(20)?,
        started_ticks: number(22)?,
    })
}

fn file(pid: i32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

/// The state of one process; absent when there is none with this number.
#[must_use]
pub fn stat(pid: i32) -> Option<ProcessStat> {
    parse_stat(&String::from_utf8_lossy(&fs::read(file(pid, "stat")).ok()?))
}

/// The name of one process, as the kernel cuts it to 15 bytes; absent when there is none with this number.
#[must_use]
pub fn name(pid: i32) -> Option<String> {
    let name = fs::read(file(pid, "comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

/// Every process of the machine that can be seen. Takes some ten microseconds per process.
#[must_use]
pub fn all() -> Vec<ProcessStat> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    folder
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(stat)
        .collect()
}

/// The processes among `all` that belong to a tree: the roots, members of the roots' sessions, and
/// whatever descends from one of these, whatever session it made for itself.
#[must_use]
pub fn tree(all: &[ProcessStat], belongs: impl Fn(&ProcessStat) -> bool) -> BTreeSet<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for process in all {
        children
            .entry(process.parent)
            .or_default()
            .push(process.pid);
    }
    let mut waiting: Vec<i32> = all.iter().filter(|p| belongs(p)).map(|p| p.pid).collect();
    let mut found = BTreeSet::new();
    while let Some(pid) = waiting.pop() {
        if found.insert(pid) {
            waiting.extend(children.get(&pid).into_iter().flatten());
        }
    }
    found
}

/// Time that a process's threads were runnable and waited for a CPU, nanoseconds: the second number of
/// `/proc/PID/task/TID/schedstat`, summed over the threads that live. Absent where the kernel has none.
#[must_use]
pub fn run_delay_ns(pid: i32) -> Option<u64> {
    Some(run_delays(pid)?.values().sum())
}

/// The same of each thread that lives, by its id. A thread that ends takes its delay with it.
#[must_use]
pub fn run_delays(pid: i32) -> Option<BTreeMap<i32, u64>> {
    let mut found = BTreeMap::new();
    for task in fs::read_dir(file(pid, "task")).ok()? {
        let task = task.ok()?;
        let id = task.file_name().to_str()?.parse().ok()?;
        // One that ends between the listing and the reading is no reason to know nothing.
        if let Ok(text) = fs::read_to_string(task.path().join("schedstat")) {
            found.insert(id, parse_run_delay(&text)?);
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Parses the second number of a `schedstat`.
#[must_use]
pub fn parse_run_delay(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Resident memory of one process, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resident {
    /// Anonymous.
    pub anonymous_bytes: u64,
    /// Shared memory mapped by it; shared with other processes, so a sum counts it more than once.
    pub shared_bytes: u64,
}

/// Parses `RssAnon` and `RssShmem` of `/proc/PID/status`.
#[must_use]
pub fn parse_resident(text: &str) -> Option<Resident> {
    Some(Resident {
        anonymous_bytes: super::keyed(text, "RssAnon")? * 1024,
        shared_bytes: super::keyed(text, "RssShmem")? * 1024,
    })
}

/// Resident memory of one process; absent for one that ended.
#[must_use]
pub fn resident(pid: i32) -> Option<Resident> {
    parse_resident(&fs::read_to_string(file(pid, "status")).ok()?)
}

/// Whether the process works in a folder or holds a file in it open, judged by its working folder, its
/// program and its open files. False for processes that may not be looked at.
#[must_use]
pub fn works_in(pid: i32, folder: &Path) -> bool {
    let inside = |link: PathBuf| fs::read_link(link).is_ok_and(|to| to.starts_with(folder));
    let open = || {
        let files = fs::read_dir(file(pid, "fd")).into_iter().flatten();
        files.flatten().any(|entry| inside(entry.path()))
    };
    inside(file(pid, "cwd")) || inside(file(pid, "exe")) || open()
}

/// Clock ticks per second of the numbers in `/proc`.
#[must_use]
pub fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

/// Ticks as nanoseconds.
#[must_use]
pub fn ticks_ns(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000_000 / ticks_per_second().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "4242 (a) b (c) S 17 4242 4200 0 -1 4194304 1 2 3 4 100 20 7 5 20 0 3 0 987654 1 2";

    #[test]
    fn a_name_with_parentheses_shifts_nothing() {
        let expected = ProcessStat {
            pid: 4242,
            state: 'S',
            parent: 17,
            session: 4200,
            own_ticks: 120,
            children_ticks: 12,
            threads: 3,
            started_ticks: 987_654,
        };
        assert_eq!(parse_stat(STAT), Some(expected));
        for bad in ["", "1 (x", "1 (x) S 1", "x (y) S 1 2 3"] {
            assert_eq!(parse_stat(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_tree_holds_what_left_its_session() {
        let process = |pid, parent, session| ProcessStat {
            pid,
            parent,
            session,
            ..parse_stat(STAT).unwrap()
        };
        let all = [
            process(1, 0, 1),
            process(10, 1, 10),
            process(11, 10, 10),
            process(12, 11, 12),
            process(13, 1, 10),
            process(14, 13, 14),
            process(20, 1, 20),
        ];
        let found = tree(&all, |process| process.session == 10);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [10, 11, 12, 13, 14]);
    }

    #[test]
    fn resident_memory_is_in_bytes() {
        let status = "Name:\tx\nRssAnon:\t     100 kB\nRssFile:\t 7 kB\nRssShmem:\t      2 kB\n";
        let expected = Resident {
            anonymous_bytes: 102_400,
            shared_bytes: 2048,
        };
        assert_eq!(parse_resident(status), Some(expected));
        assert_eq!(parse_resident("Name:\tzombie\n"), None);
        assert_eq!(parse_run_delay("5 144534 1\n"), Some(144_534));
        assert_eq!(parse_run_delay("5"), None);
    }

    #[test]
    fn this_process_is_found() {
        let own = i32::try_from(std::process::id()).unwrap();
        let found = stat(own).unwrap();
        assert_eq!(found.pid, own);
        assert!(all().iter().any(|process| process.pid == own));
    }
}
