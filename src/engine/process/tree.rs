//! Ending process trees where there are no cgroups.

use std::collections::BTreeSet;

use rustix::process::{Pid, Signal, kill_process};

use crate::measure::process::{self, ProcessStat};

/// How often a tree that grows while it is stopped is looked at again.
const PASSES: u32 = 50;

/// Sends a signal to a process; a process that is gone already is fine.
pub(super) fn signal(pid: i32, signal: Signal) {
    // Numbers below 2 would mean init or a whole group.
    if let Some(pid) = (pid > 1).then(|| Pid::from_raw(pid)).flatten() {
        let _ = kill_process(pid, signal);
    }
}

/// Every living process below one, itself left out.
pub(super) fn below(root: i32) -> BTreeSet<i32> {
    living(|all| process::tree(all, |process| process.parent == root))
}

fn living(choose: impl Fn(&[ProcessStat]) -> BTreeSet<i32>) -> BTreeSet<i32> {
    let all = process::all();
    let chosen = choose(&all);
    let lives = all
        .iter()
        .filter(|process| process.state != 'Z')
        .map(|process| process.pid);
    lives.filter(|pid| chosen.contains(pid)).collect()
}

/// Kills every process below one. They are stopped first, until no new one appears, so that none forks
/// while the others are killed.
pub(super) fn kill_below(root: i32) {
    let mut stopped = BTreeSet::new();
    for _ in 0..PASSES {
        let fresh: Vec<i32> = below(root).difference(&stopped).copied().collect();
        if fresh.is_empty() {
            break;
        }
        for pid in fresh {
            signal(pid, Signal::STOP);
            stopped.insert(pid);
        }
    }
    for pid in below(root) {
        signal(pid, Signal::KILL);
    }
}
