//! Ending every process of a cgroup, whatever it forks meanwhile, and removing the folders.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::tree::signal;
use crate::measure::text;
use crate::model::plural::counted;

/// How long a killed process may take to be gone: the kernel frees its memory first.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two looks.
const STEP: Duration = Duration::from_millis(2);

/// The processes in a group and in the groups below it, nobody's threads.
pub(super) fn processes(folder: &Path) -> BTreeSet<i32> {
    let mut found = BTreeSet::new();
    for group in below(folder) {
        let listed = text(&group.join("cgroup.procs")).unwrap_or_default();
        found.extend(listed.lines().filter_map(|line| line.parse::<i32>().ok()));
    }
    found
}

/// A group and all groups below it, parents first.
pub(super) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut groups = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(group) = groups.get(next) {
        let children = fs::read_dir(group).into_iter().flatten().flatten();
        let children: Vec<PathBuf> = children
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect();
        groups.extend(children);
        next += 1;
    }
    groups
}

/// Kills everything in a group's folders until nothing is left.
///
/// # Errors
/// When something still lives after ten seconds.
pub(super) async fn kill(folders: &BTreeSet<PathBuf>) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found: BTreeSet<i32> = folders
            .iter()
            .flat_map(|folder| processes(folder))
            .collect();
        if found.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(io::Error::other(format!(
                "{} still alive after {} s, the first of them {}",
                counted(found.len() as u64, "process is", "processes are"),
                PATIENCE.as_secs(),
                found.first().map_or(0, |pid| *pid)
            )));
        }
        kill_once(folders).await;
        tokio::time::sleep(STEP).await;
    }
}

/// One pass: with `cgroup.kill` where the kernel has it, else frozen first so that nothing forks between
/// the look and the signal.
async fn kill_once(folders: &BTreeSet<PathBuf>) {
    let at_once = folders
        .iter()
        .any(|folder| fs::write(folder.join("cgroup.kill"), "1").is_ok());
    if at_once {
        return;
    }
    let frozen: Vec<&PathBuf> = folders
        .iter()
        .filter(|folder| freeze(folder, true))
        .collect();
    for folder in &frozen {
        wait_frozen(folder).await;
    }
    for pid in folders.iter().flat_map(|folder| processes(folder)) {
        signal(pid, Signal::KILL);
    }
    for folder in frozen {
        freeze(folder, false);
    }
}

/// Freezes or thaws a group; false where this hierarchy cannot.
fn freeze(folder: &Path, frozen: bool) -> bool {
    let v1 = if frozen { "FROZEN" } else { "THAWED" };
    let v2 = if frozen { "1" } else { "0" };
    let write = |file: &str, value: &str| {
        // Creating the file where the kernel has none must not be tried.
        folder.join(file).exists() && fs::write(folder.join(file), value).is_ok()
    };
    write("freezer.state", v1) || write("cgroup.freeze", v2)
}

/// Waits until a group is frozen, not for long: a process in the kernel may take its time, and the next
/// pass finds what it forked.
async fn wait_frozen(folder: &Path) {
    for _ in 0..100 {
        let v1 = text(&folder.join("freezer.state")).is_ok_and(|state| state.trim() == "FROZEN");
        let v2 = text(&folder.join("cgroup.events"))
            .is_ok_and(|events| crate::measure::keyed(&events, "frozen") == Some(1));
        if v1 || v2 {
            return;
        }
        tokio::time::sleep(STEP).await;
    }
}

/// Removes empty groups, children before parents, and their parent (the entry's) where it is empty too.
///
/// # Errors
/// When a group cannot be removed after ten seconds; one that is not there is fine.
pub(super) async fn remove(folders: &BTreeSet<PathBuf>) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    for folder in folders {
        for group in below(folder).into_iter().rev() {
            remove_one(&group, deadline).await?;
        }
        if let Some(entry) = folder.parent() {
            // Other groups of the entry may still be there.
            drop(fs::remove_dir(entry));
        }
    }
    Ok(())
}

async fn remove_one(group: &Path, deadline: Instant) -> io::Result<()> {
    loop {
        match fs::remove_dir(group) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // A killed process holds its group until it was waited for.
            Err(error)
                if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline =>
            {
                tokio::time::sleep(STEP).await;
            }
            Err(error) => {
                let text = format!("cannot remove {}: {error}", group.display());
                return Err(io::Error::new(error.kind(), text));
            }
        }
    }
}
