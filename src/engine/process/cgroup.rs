//! Making cgroups: `loadlab/<entry>/<part>-<role>/<member>` in every hierarchy where it is permitted.
//!
//! loadlab's folder is made at the root of a hierarchy, as container engines do it, else below the cgroup
//! that loadlab itself is in. It stays behind empty; everything below it goes with its group.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::measure::cgroup::{Controllers, Hierarchy, Version};
use crate::model::name::MemberName;

/// The controllers that are used. Each has a folder of its own under version 1.
const WANTED: [&str; 6] = ["cpu", "cpuacct", "cpuset", "memory", "pids", "freezer"];

/// The name of loadlab's own folder.
const OWN: &str = "loadlab";

/// Where groups are made: loadlab's folder for each controller, or why there is none.
#[derive(Debug, Default)]
pub(super) struct Places {
    v1: BTreeMap<&'static str, PathBuf>,
    v2: Option<Unified>,
    refused: BTreeMap<&'static str, String>,
}

/// loadlab's folder in the unified hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unified {
    folder: PathBuf,
    controllers: BTreeSet<String>,
}

/// One group's folders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct GroupFolders {
    v1: BTreeMap<&'static str, PathBuf>,
    v2: Option<Unified>,
}

impl Places {
    /// No cgroups at all, for a reason.
    pub(super) fn none(reason: &str) -> Self {
        let refused = WANTED.map(|controller| (controller, reason.to_owned()));
        Self {
            refused: refused.into(),
            ..Self::default()
        }
    }

    /// Finds and makes loadlab's folder in every hierarchy.
    pub(super) fn make(controllers: &Controllers) -> Self {
        let mut places = Self::default();
        for controller in WANTED {
            let Some(hierarchy) = controllers.get(controller) else {
                continue;
            };
            if hierarchy.version == Version::V1 {
                match v1_place(controller, hierarchy) {
                    Ok(folder) => drop(places.v1.insert(controller, folder)),
                    Err(reason) => drop(places.refused.insert(controller, reason)),
                }
            }
        }
        // Under version 2 CPU time and freezing need no controller, so any one leads to the hierarchy.
        let unified: Vec<(&str, &Hierarchy)> = WANTED
            .into_iter()
            .filter_map(|name| Some((name, controllers.get(name)?)))
            .filter(|(_, hierarchy)| hierarchy.version == Version::V2)
            .collect();
        if let Some((_, hierarchy)) = unified.first() {
            match v2_place(hierarchy) {
                Ok(place) => places.v2 = Some(place),
                Err(reason) => {
                    let refused = unified.iter().map(|(name, _)| (*name, reason.clone()));
                    places.refused.extend(refused);
                }
            }
        }
        places
    }

    /// Why a controller cannot be used; absent when it can.
    pub(super) fn refusal(&self, controller: &str) -> Option<String> {
        let unified = self.v2.as_ref();
        let has = self.v1.contains_key(controller)
            || unified.is_some_and(|unified| unified.controllers.contains(controller));
        let reason = || {
            self.refused.get(controller).cloned().unwrap_or_else(|| {
                format!("this machine offers no `{controller}` cgroup controller to loadlab")
            })
        };
        (!has).then(reason)
    }

    /// The folders that a group will have; nothing is made.
    pub(super) fn folders(&self, entry: &str, group: &str) -> GroupFolders {
        let of = |place: &PathBuf| place.join(entry).join(group);
        GroupFolders {
            v1: self
                .v1
                .iter()
                .map(|(name, place)| (*name, of(place)))
                .collect(),
            v2: self.v2.as_ref().map(|unified| Unified {
                folder: of(&unified.folder),
                controllers: unified.controllers.clone(),
            }),
        }
    }
}

fn writable(folder: &Path, error: &io::Error) -> String {
    format!("cannot make {}: {error}", folder.display())
}

/// Makes loadlab's folder at the root of a hierarchy, else below the own cgroup.
fn v1_place(controller: &str, hierarchy: &Hierarchy) -> Result<PathBuf, String> {
    let mut reason = String::new();
    for parent in [&hierarchy.mount, &hierarchy.own] {
        let folder = parent.join(OWN);
        match make_v1(&folder, controller) {
            Ok(()) => return Ok(folder),
            Err(error) => reason = writable(&folder, &error),
        }
    }
    Err(reason)
}

/// Makes one folder of version 1, usable by processes.
fn make_v1(folder: &Path, controller: &str) -> io::Result<()> {
    make(folder)?;
    let parent = folder.parent().unwrap_or(folder);
    match controller {
        // A cpuset without CPUs and memory nodes accepts no process.
        "cpuset" => {
            for file in ["cpuset.cpus", "cpuset.mems"] {
                if fs::read_to_string(folder.join(file))?.trim().is_empty() {
                    fs::write(folder.join(file), fs::read_to_string(parent.join(file))?)?;
                }
            }
        }
        // Old kernels limit a group without its children unless told so; refused where it is so already.
        "memory" => drop(fs::write(folder.join("memory.use_hierarchy"), "1")),
        _ => {}
    }
    Ok(())
}

/// Makes loadlab's folder in the unified hierarchy and hands controllers down to it. Where none can be
/// handed down, CPU time is still counted there and whole groups are still killed.
fn v2_place(hierarchy: &Hierarchy) -> Result<Unified, String> {
    let mut reason = String::new();
    let mut bare = None;
    for parent in [&hierarchy.mount, &hierarchy.own] {
        let folder = parent.join(OWN);
        if let Err(error) = make(&folder) {
            reason = writable(&folder, &error);
            continue;
        }
        if hand_down(parent).is_err_and(|error| error.raw_os_error() == Some(BUSY)) {
            // Only a group without processes of its own may hand controllers down.
            drop(step_aside(parent));
        }
        drop(hand_down(parent));
        drop(hand_down(&folder));
        let place = Unified {
            controllers: handed_down(&folder),
            folder,
        };
        if !place.controllers.is_empty() {
            return Ok(place);
        }
        bare = bare.or(Some(place));
    }
    bare.ok_or(reason)
}

const BUSY: i32 = rustix::io::Errno::BUSY.raw_os_error();

/// Enables the wanted controllers for the children of a group; the last failure, where there was one.
fn hand_down(folder: &Path) -> io::Result<()> {
    let offered = fs::read_to_string(folder.join("cgroup.controllers"))?;
    let mut result = Ok(());
    for controller in offered
        .split_ascii_whitespace()
        .filter(|name| WANTED.contains(name))
    {
        let written = fs::write(
            folder.join("cgroup.subtree_control"),
            format!("+{controller}"),
        );
        result = result.and(written);
    }
    result
}

fn handed_down(folder: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Moves this process out of its group into a child, when it is alone there.
fn step_aside(folder: &Path) -> io::Result<()> {
    let own = std::process::id().to_string();
    if fs::read_to_string(folder.join("cgroup.procs"))?.trim() != own {
        return Err(io::Error::from_raw_os_error(BUSY));
    }
    let aside = folder.join("loadlab-itself");
    make(&aside)?;
    fs::write(aside.join("cgroup.procs"), own)
}

/// Makes a folder that may be there already, when groups can be made in it.
fn make(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Another user's is there too, and is of no use.
            Ok(accessat(CWD, folder, Access::WRITE_OK, AtFlags::EACCESS)?)
        }
        made => made,
    }
}

impl GroupFolders {
    /// A controller's folder and version; absent where the controller cannot be used.
    pub(super) fn of(&self, controller: &str) -> Option<(Version, &Path)> {
        let v1 = self
            .v1
            .get(controller)
            .map(|folder| (Version::V1, folder.as_path()));
        v1.or_else(|| {
            let unified = self
                .v2
                .as_ref()
                .filter(|unified| unified.controllers.contains(controller));
            unified.map(|unified| (Version::V2, unified.folder.as_path()))
        })
    }

    /// Where CPU time is counted: version 2 counts it without a controller.
    pub(super) fn cpu_time(&self) -> Option<(Version, &Path)> {
        let unified = || {
            self.v2
                .as_ref()
                .map(|unified| (Version::V2, unified.folder.as_path()))
        };
        self.of("cpuacct").or_else(unified)
    }

    /// The folder that all processes of the group are listed in; absent without cgroups.
    pub(super) fn listing(&self) -> Option<&Path> {
        let unified = self.v2.as_ref().map(|unified| &unified.folder);
        let v1 = ["freezer", "pids", "cpuacct", "memory", "cpuset", "cpu"];
        let v1 = v1.iter().find_map(|controller| self.v1.get(controller));
        unified.or(v1).map(PathBuf::as_path)
    }

    /// Every folder of the group, each once.
    pub(super) fn all(&self) -> BTreeSet<PathBuf> {
        let unified = self.v2.iter().map(|unified| unified.folder.clone());
        self.v1.values().cloned().chain(unified).collect()
    }

    /// The folder of a member's own memory counters. Kills for want of memory are counted in the very
    /// group under version 1, so each member has one.
    pub(super) fn member(&self, name: &MemberName) -> Option<(Version, PathBuf)> {
        self.of("memory")
            .map(|(version, folder)| (version, folder.join(name.as_str())))
    }

    /// Makes the group's folders and those of its members.
    pub(super) fn make(&self, members: &[MemberName]) -> io::Result<()> {
        let failed = |folder: &Path| {
            let folder = folder.display().to_string();
            move |error: io::Error| {
                io::Error::new(error.kind(), format!("cannot make {folder}: {error}"))
            }
        };
        for (controller, folder) in &self.v1 {
            for folder in folder.parent().into_iter().chain([folder.as_path()]) {
                make_v1(folder, controller).map_err(failed(folder))?;
            }
        }
        if let Some(unified) = &self.v2 {
            for folder in unified
                .folder
                .parent()
                .into_iter()
                .chain([unified.folder.as_path()])
            {
                make(folder).map_err(failed(folder))?;
                hand_down(folder).map_err(failed(folder))?;
            }
        }
        for name in members {
            for folder in self.leaves(Some(name)) {
                make(&folder).map_err(failed(&folder))?;
            }
        }
        Ok(())
    }

    /// The folders that a process of a member, or of nobody in particular, is put into.
    fn leaves(&self, member: Option<&MemberName>) -> BTreeSet<PathBuf> {
        let name = member.map_or("loadlab-command", MemberName::as_str);
        let v1 = self
            .v1
            .iter()
            .map(|(controller, folder)| match (*controller, member) {
                ("memory", Some(_)) => folder.join(name),
                _ => folder.clone(),
            });
        let unified = self.v2.iter().map(|unified| unified.folder.join(name));
        v1.chain(unified).collect()
    }

    /// Puts a process into the group, as one of a member's or of nobody's in particular.
    pub(super) fn join(&self, pid: i32, member: Option<&MemberName>) -> io::Result<()> {
        for folder in self.leaves(member) {
            make(&folder)?;
            let file = folder.join("cgroup.procs");
            fs::write(&file, pid.to_string()).map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("cannot write {}: {error}", file.display()),
                )
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
