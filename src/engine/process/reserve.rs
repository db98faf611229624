//! Reserving a group: record, folders, cgroups, limits, in the order in which a crash can be cleaned up.

use std::io;
use std::path::Path;

use super::group::Running;
use super::state::{self, GroupState};
use super::work::WorkFolder;
use super::{ProcessEngine, kill, leftovers, limits};
use crate::engine::{RoleSpec, Tag};
use crate::model::name::MemberName;

/// The name of a group in its entry.
pub(super) fn group_name(role: &RoleSpec, tag: &Tag) -> String {
    format!("{}-{}", tag.part, role.role)
}

/// Whether a part of a tag can be a folder's name.
pub(super) fn plain(text: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && !text.starts_with('.') && text.len() <= 100 && text.bytes().all(fine)
}

impl ProcessEngine {
    /// Everything of a group but its ports, made in the order in which a crash can be cleaned up.
    pub(super) async fn make(&self, role: &RoleSpec, tag: &Tag) -> io::Result<Running> {
        let name = group_name(role, tag);
        let folders = self.places.folders(&tag.entry, &name);
        let work = WorkFolder(self.settings.work.join(&tag.entry).join(&name));
        let members: Vec<MemberName> = role.members.iter().map(|(name, _)| name.clone()).collect();
        let path = self
            .settings
            .state
            .join(format!("{}.{name}.json", tag.entry));
        self.clear_way(&path).await?;
        std::fs::create_dir_all(&self.settings.work)?;
        state::check_own(&self.settings.work).map_err(|error| {
            io::Error::other(format!("{}: {error}", self.settings.work.display()))
        })?;
        if work.0.exists() {
            return Err(io::Error::other(format!(
                "{} is there already",
                work.0.display()
            )));
        }
        let record = GroupState {
            version: 1,
            entry: tag.entry.clone(),
            group: name,
            boot: self.boot.clone(),
            owner: self.owner,
            cgroups: folders.all().into_iter().collect(),
            work: work.0.clone(),
            members: members.iter().map(|name| (name.clone(), None)).collect(),
        };
        record.write(&path)?;
        let made = async {
            // Counters of a group begin at nothing: an old, empty folder is made anew.
            if let Some(pid) = folders
                .all()
                .iter()
                .find_map(|folder| kill::processes(folder).first().copied())
            {
                return Err(io::Error::other(format!(
                    "process {pid} is in its cgroup already"
                )));
            }
            kill::remove(&folders.all()).await?;
            work.make(&members)?;
            folders.make(&members)?;
            limits::set(&folders, role.cpus.as_ref(), &role.budget)
        };
        if let Err(error) = made.await {
            drop(kill::remove(&folders.all()).await);
            drop(work.remove());
            drop(std::fs::remove_file(&path));
            return Err(error);
        }
        Ok(Running::new(role.clone(), folders, work, (path, record)))
    }

    /// Removes what an earlier run left under the same name; refuses where that run lives.
    async fn clear_way(&self, path: &Path) -> io::Result<()> {
        match GroupState::read(path) {
            Ok(state) if state.owner_lives() => Err(io::Error::other(format!(
                "process {} has a group of this name",
                state.owner.pid
            ))),
            Ok(_) => leftovers::remove(&self.settings.state, path).await,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(io::Error::other(format!("{}: {error}", path.display()))),
        }
    }
}
