//! What crashed runs left behind: found by state files, cgroups and sessions, never by environments.
//!
//! Without cgroups a process of a dead run is found by its recorded identity and what descends from it;
//! a session whose first process is gone counts only when its processes also work in the run's folder, so
//! that a number used again harms nobody. A daemon that left session and folder is not found there; but
//! then its gate ended it when loadlab died.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::process::Signal;

use super::state::{self, GroupState, Identity};
use super::work::WorkFolder;
use super::{kill, tree};
use crate::engine::Leftover;
use crate::measure::process;
use crate::model::plural::counted;

/// Everything that no living loadlab owns.
pub(super) fn find(folder: &Path) -> Vec<Leftover> {
    let ownerless = state::all(folder)
        .into_iter()
        .filter(|(_, state)| !state.owner_lives());
    ownerless
        .map(|(path, state)| Leftover {
            what: describe(&state),
            entry: state.entry,
            handle: path.to_string_lossy().into_owned(),
        })
        .collect()
}

fn describe(state: &GroupState) -> String {
    let cgroups = state
        .cgroups
        .iter()
        .filter(|folder| folder.exists())
        .count();
    let mut parts = Vec::new();
    for (count, one, many) in [
        (processes(state).len(), "process", "processes"),
        (cgroups, "cgroup", "cgroups"),
    ] {
        if count > 0 {
            parts.push(counted(count as u64, one, many));
        }
    }
    if state.work.exists() {
        parts.push(format!("work folder {}", state.work.display()));
    }
    parts.push("its record".to_owned());
    format!(
        "group `{}`: {}",
        state.group.escape_debug(),
        parts.join(", ")
    )
}

/// The living processes of a group whose loadlab is gone.
fn processes(state: &GroupState) -> BTreeSet<i32> {
    let mut found: BTreeSet<i32> = state
        .cgroups
        .iter()
        .flat_map(|folder| kill::processes(folder))
        .collect();
    if !state.same_boot() {
        return found;
    }
    let all = process::all();
    let members: Vec<&Identity> = state.members.values().flatten().collect();
    let tree = process::tree(&all, |process| {
        members.iter().any(|member| {
            let is_first = process.pid == member.pid;
            let first_lives = member.lives();
            let in_session = process.session == member.pid
                && process.started_ticks >= member.started_ticks
                && (first_lives || !is_first && process::works_in(process.pid, &state.work));
            in_session || is_first && first_lives
        })
    });
    let living = all
        .iter()
        .filter(|process| process.state != 'Z' && tree.contains(&process.pid));
    found.extend(living.map(|process| process.pid));
    found
}

/// Removes one leftover: processes, cgroups, work folder, and last its record.
///
/// # Errors
/// When it is no leftover (any more), or something of it cannot be removed.
pub(super) async fn remove(folder: &Path, handle: &Path) -> io::Result<()> {
    if handle.parent() != Some(folder) {
        return Err(io::Error::other("it is no record of this engine"));
    }
    let state = GroupState::read(handle)?;
    if state.owner_lives() {
        return Err(io::Error::other(format!(
            "loadlab {} owns it and runs",
            state.owner.pid
        )));
    }
    clear(&state).await?;
    fs::remove_file(handle)
}

/// Removes what a group has on the machine, its record left out.
async fn clear(state: &GroupState) -> io::Result<()> {
    let cgroups: BTreeSet<PathBuf> = state.cgroups.iter().cloned().collect();
    let foreign = cgroups.iter().find(|folder| !is_own(folder));
    if let Some(folder) = foreign {
        return Err(io::Error::other(format!(
            "{} is no cgroup of loadlab's",
            folder.display()
        )));
    }
    kill::kill(&cgroups).await?;
    for _ in 0..100 {
        let found = processes(state);
        if found.is_empty() {
            break;
        }
        for pid in &found {
            tree::signal(*pid, Signal::STOP);
        }
        for pid in found {
            tree::signal(pid, Signal::KILL);
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    kill::remove(&cgroups).await?;
    WorkFolder(state.work.clone()).remove()
}

/// Whether a folder is a group below loadlab's own.
fn is_own(folder: &Path) -> bool {
    let parts: Vec<Component<'_>> = folder.components().collect();
    let place = parts.iter().rposition(|part| part.as_os_str() == "loadlab");
    let plain = parts
        .iter()
        .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    plain && place.is_some_and(|place| parts.len() - place == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_of_loadlab_are_cgroups_to_remove() {
        for (folder, own) in [
            ("/sys/fs/cgroup/loadlab/e/p-candidate", true),
            ("/sys/fs/cgroup/loadlab/e", false),
            ("/sys/fs/cgroup/loadlab", false),
            ("/sys/fs/cgroup/system.slice/x/y", false),
            ("/sys/fs/cgroup/loadlab/../x", false),
        ] {
            assert_eq!(is_own(Path::new(folder)), own, "{folder}");
        }
    }
}
