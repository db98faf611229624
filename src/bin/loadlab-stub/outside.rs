//! Processes that the server starts on demand: children in its group, and one that leaves it.

use std::io::Read;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use loadlab::measure::cgroup::Controllers;
use rustix::thread::{sched_getaffinity, sched_setaffinity};
use tokio::process::{ChildStdin, Command};

use crate::{say, work};

const CHILD: &str = "__child";
const LEAVE: &str = "__leave";
const OUTSIDE: &str = "__outside";

/// What this process is to be when it was started by a server; absent: a server itself.
pub fn role(words: &[String]) -> Option<ExitCode> {
    let number = |place: usize| words.get(place).and_then(|word| word.parse().ok());
    match (words.get(1).map(String::as_str), number(2), number(3)) {
        (Some(CHILD), Some(time_ns), Some(millionths)) => live(time_ns, millionths),
        (Some(LEAVE), Some(millionths), _) => leave(millionths),
        (Some(OUTSIDE), Some(millionths), _) => burn_until_the_server_ends(millionths),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

/// Starts a child in the server's group.
pub fn start_child(time: Duration, millionths: u64) {
    let words = [time.as_nanos().to_string(), millionths.to_string()];
    let started = own_program().and_then(|program| {
        Command::new(program)
            .arg(CHILD)
            .args(words)
            .stdin(Stdio::null())
            .spawn()
    });
    match started {
        Ok(mut child) => {
            tokio::spawn(async move { child.wait().await });
        }
        Err(error) => say(&format!("loadlab-stub: cannot start a child: {error}")),
    }
}

/// Starts a process that leaves the group. It lives as long as what comes back is kept.
pub fn start_outside(millionths: u64) -> Option<ChildStdin> {
    let started = own_program().and_then(|program| {
        Command::new(program)
            .args([LEAVE.to_owned(), millionths.to_string()])
            .stdin(Stdio::piped())
            .spawn()
    });
    match started {
        Ok(mut child) => {
            let alive = child.stdin.take();
            tokio::spawn(async move { child.wait().await });
            alive
        }
        Err(error) => {
            say(&format!(
                "loadlab-stub: cannot start the process outside: {error}"
            ));
            None
        }
    }
}

fn own_program() -> std::io::Result<std::path::PathBuf> {
    std::env::current_exe()
}

fn live(time_ns: u64, millionths: u64) {
    let begun = Instant::now();
    let time = Duration::from_nanos(time_ns);
    if millionths == 0 {
        std::thread::sleep(time);
    }
    while begun.elapsed() < time {
        work::busy_period(millionths);
    }
}

/// Leaves the control groups, the session and the family, and keeps the CPUs.
///
/// Each is tried: without the right to leave a control group only session and family are left.
fn leave(millionths: u64) {
    let cpus = sched_getaffinity(None);
    let own = std::process::id().to_string();
    for hierarchy in Controllers::detect().unwrap_or_default().0.values() {
        let _ = std::fs::write(hierarchy.mount.join("cgroup.procs"), &own);
    }
    if let Ok(cpus) = cpus {
        let _ = sched_setaffinity(None, &cpus);
    }
    let _ = rustix::process::setsid();
    let started = own_program().and_then(|program| {
        std::process::Command::new(program)
            .args([OUTSIDE.to_owned(), millionths.to_string()])
            .stdin(Stdio::inherit())
            .spawn()
    });
    if let Err(error) = started {
        say(&format!(
            "loadlab-stub: cannot start the process outside: {error}"
        ));
    }
}

/// The server holds the other end of standard input, and lets go of it however it ends.
fn burn_until_the_server_ends(millionths: u64) {
    std::thread::spawn(|| {
        let mut rest = Vec::new();
        let _ = std::io::stdin().lock().read_to_end(&mut rest);
        std::process::exit(0);
    });
    loop {
        work::busy_period(millionths);
    }
}
