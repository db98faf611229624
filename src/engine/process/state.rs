//! State files: what a run has made on this machine, on disk before it is made, so that `gc` finds it
//! after a crash. One file a group.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::measure::{process, text};
use crate::model::name::MemberName;

/// A process beyond doubt: its number and when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Identity {
    /// Its number; also of its session, for members.
    pub(super) pid: i32,
    /// When it started, ticks after boot.
    pub(super) started_ticks: u64,
}

impl Identity {
    /// The process that has this number now.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let stat = process::stat(pid)?;
        Some(Self {
            pid,
            started_ticks: stat.started_ticks,
        })
    }

    /// This very process.
    pub(super) fn own() -> io::Result<Self> {
        i32::try_from(std::process::id())
            .ok()
            .and_then(Self::of)
            .ok_or_else(|| io::Error::other("/proc does not show this process"))
    }

    /// Whether it still runs.
    pub(super) fn lives(&self) -> bool {
        process::stat(self.pid)
            .is_some_and(|stat| stat.started_ticks == self.started_ticks && stat.state != 'Z')
    }
}

/// What a group has on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupState {
    /// The version of this file's form.
    pub(super) version: u32,
    /// The entry that it belongs to.
    pub(super) entry: String,
    /// Which group of the entry: `<part>-<role>`.
    pub(super) group: String,
    /// The boot in which the numbers of processes mean anything.
    pub(super) boot: String,
    /// The loadlab that made it.
    pub(super) owner: Identity,
    /// Folders of its cgroups, parents before children.
    pub(super) cgroups: Vec<PathBuf>,
    /// Its folder of work folders and logs.
    pub(super) work: PathBuf,
    /// Its members; one without an identity was about to be started.
    pub(super) members: BTreeMap<MemberName, Option<Identity>>,
}

impl GroupState {
    /// Whether the loadlab that made it still runs.
    pub(super) fn owner_lives(&self) -> bool {
        self.same_boot() && self.owner.lives()
    }

    /// Whether numbers of processes in it are of this boot.
    pub(super) fn same_boot(&self) -> bool {
        self.boot == boot_id()
    }

    /// Writes it so that it is on disk, whole or not at all.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let partial = path.with_extension("partial");
        let mut file = File::create(&partial)?;
        file.write_all(serde_json::to_string_pretty(self)?.as_bytes())?;
        file.sync_data()?;
        fs::rename(&partial, path)
    }

    /// Reads one back.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }
}

/// The identity of this boot; empty where the kernel does not say.
pub(super) fn boot_id() -> String {
    text(Path::new("/proc/sys/kernel/random/boot_id"))
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

/// Where state files are by default: `/run/loadlab` for root, `$XDG_RUNTIME_DIR/loadlab` for others,
/// and a folder of the user's own in the temporary folder where there is neither.
#[must_use]
pub fn default_state_folder() -> PathBuf {
    let user = rustix::process::geteuid();
    if user.is_root() {
        return PathBuf::from("/run/loadlab");
    }
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let usable = |folder: &PathBuf| {
        fs::metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == user.as_raw())
    };
    runtime.filter(usable).map_or_else(
        || std::env::temp_dir().join(format!("loadlab-{}", user.as_raw())),
        |folder| folder.join("loadlab"),
    )
}

/// Makes the folder, for its owner alone; refuses one that another user made there first.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    check_own(folder)
}

/// Refuses a folder that is a link or another user's: whoever owns it could put links into it.
pub(super) fn check_own(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    if found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "it belongs to another user",
    ))
}

/// Every state file of a folder, in order of their names. A file that cannot be read as one is left out:
/// it is not known what it stands for.
pub(super) fn all(folder: &Path) -> Vec<(PathBuf, GroupState)> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .into_iter()
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .filter_map(|path| GroupState::read(&path).ok().map(|state| (path, state)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_survives_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.p-candidate.json");
        let own = Identity::own().unwrap();
        let state = GroupState {
            version: 1,
            entry: "e".to_owned(),
            group: "p-candidate".to_owned(),
            boot: boot_id(),
            owner: own,
            cgroups: vec!["/sys/fs/cgroup/loadlab/e/p-candidate".into()],
            work: "/tmp/w".into(),
            members: BTreeMap::from([("main".parse().unwrap(), Some(own))]),
        };
        state.write(&path).unwrap();
        fs::write(folder.path().join("torn.json"), "{\"version\":").unwrap();
        assert_eq!(all(folder.path()), [(path, state.clone())]);
        assert!(state.owner_lives());
    }

    #[test]
    fn a_folder_of_another_user_or_a_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_own(folder.path()).is_ok());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert!(check_own(&link).is_err());
        if rustix::process::geteuid().is_root() {
            let theirs = folder.path().join("theirs");
            fs::create_dir(&theirs).unwrap();
            std::os::unix::fs::chown(&theirs, Some(65534), None).unwrap();
            let error = check_own(&theirs).unwrap_err();
            assert_eq!(error.to_string(), "it belongs to another user");
        }
    }

    #[test]
    fn a_number_used_again_is_another_process() {
        let own = Identity::own().unwrap();
        assert!(own.lives());
        let before = Identity {
            started_ticks: own.started_ticks - 1,
            ..own
        };
        assert!(!before.lives());
    }
}
