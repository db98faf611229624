//! cgroups: where each controller is mounted, and reading a group's counters.

pub mod v1;
pub mod v2;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The version of a controller's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// One hierarchy a controller.
    V1,
    /// The unified hierarchy.
    V2,
}

/// Where a controller's hierarchy is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// Its version.
    pub version: Version,
    /// Where it is mounted.
    pub mount: PathBuf,
    /// The folder of the cgroup that this process is in.
    pub own: PathBuf,
}

/// Every controller that this process can see, by the kernel's name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Controllers(pub BTreeMap<String, Hierarchy>);

impl Controllers {
    /// Reads which controllers there are and where.
    ///
    /// # Errors
    /// When `/proc/self/mountinfo` or `/proc/self/cgroup` cannot be read.
    pub fn detect() -> Result<Self, super::Unreadable> {
        Self::detect_below(Path::new("/"))
    }

    /// The same, from the kernel's files below another root; mounts are named as the kernel names them.
    ///
    /// # Errors
    /// When `/proc/self/mountinfo` or `/proc/self/cgroup` cannot be read.
    pub fn detect_below(root: &Path) -> Result<Self, super::Unreadable> {
        let mounts = super::text(&root.join("proc/self/mountinfo"))?;
        let own = super::text(&root.join("proc/self/cgroup"))?;
        Ok(Self::of(&mounts, &own, |mount| {
            let mount = root.join(mount.strip_prefix("/").unwrap_or(mount));
            super::text(&mount.join("cgroup.controllers")).unwrap_or_default()
        }))
    }

    /// The same from the texts; `offered` reads `cgroup.controllers` of the unified hierarchy.
    #[must_use]
    pub fn of(mountinfo: &str, own: &str, offered: impl Fn(&Path) -> String) -> Self {
        let memberships = memberships(own);
        let mut controllers = BTreeMap::new();
        for mount in mountinfo.lines().filter_map(Mount::parse) {
            let (version, names) = match mount.kind {
                "cgroup" => (
                    Version::V1,
                    mount.options.split(',').map(str::to_owned).collect(),
                ),
                "cgroup2" => (Version::V2, words(&offered(&mount.point))),
                _ => continue,
            };
            for name in names.into_iter().filter(|name| !name.contains('=')) {
                let key = if version == Version::V2 { "" } else { &name };
                let Some(path) = memberships.get(key) else {
                    continue;
                };
                let inside = path.strip_prefix(mount.root).unwrap_or(path);
                let hierarchy = Hierarchy {
                    version,
                    own: mount.point.join(inside.trim_start_matches('/')),
                    mount: mount.point.clone(),
                };
                controllers.entry(name).or_insert(hierarchy);
            }
        }
        Self(controllers)
    }

    /// A controller's hierarchy.
    #[must_use]
    pub fn get(&self, controller: &str) -> Option<&Hierarchy> {
        self.0.get(controller)
    }

    /// `v1`, `v2` or `hybrid`, and the controllers, for a person.
    #[must_use]
    pub fn describe(&self) -> Option<String> {
        let of = |version| {
            self.0
                .values()
                .any(|hierarchy| hierarchy.version == version)
        };
        let version = match (of(Version::V1), of(Version::V2)) {
            (true, true) => "hybrid",
            (true, false) => "v1",
            (false, true) => "v2",
            (false, false) => return None,
        };
        let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        Some(format!("{version}: {}", names.join(" ")))
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// The path of this process's cgroup by controller; the unified one under the empty name.
fn memberships(own: &str) -> BTreeMap<&str, &str> {
    let lines = own.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, names, path) = (parts.next()?, parts.next()?, parts.next()?);
        Some((names, path))
    });
    lines
        .flat_map(|(names, path)| names.split(',').map(move |name| (name, path)))
        .collect()
}

struct Mount<'a> {
    root: &'a str,
    point: PathBuf,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    /// A line of mountinfo (proc(5)): optional fields end with a lone hyphen.
    fn parse(line: &'a str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let left: Vec<&str> = left.split(' ').collect();
        let mut right = right.split(' ');
        let kind = right.next()?;
        let options = right.nth(1)?;
        Some(Self {
            root: left.get(3)?,
            point: PathBuf::from(left.get(4)?.replace("\\040", " ")),
            kind,
            options,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime master:4 - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const V1_OWN: &str = "4:memory:/docker/abc/inner\n3:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n";

    fn hierarchy(version: Version, mount: &str, own: &str) -> Hierarchy {
        Hierarchy {
            version,
            mount: mount.into(),
            own: own.into(),
        }
    }

    #[test]
    fn each_controller_is_found_where_it_is_mounted() {
        let found = Controllers::of(V1, V1_OWN, |_| String::new());
        let joint = hierarchy(
            Version::V1,
            "/sys/fs/cgroup/cpu,cpuacct",
            "/sys/fs/cgroup/cpu,cpuacct/",
        );
        let memory = hierarchy(
            Version::V1,
            "/sys/fs/cgroup/memory",
            "/sys/fs/cgroup/memory/inner",
        );
        let expected = [
            ("cpu", joint.clone()),
            ("cpuacct", joint),
            ("memory", memory),
        ];
        let expected = expected.map(|(name, hierarchy)| (name.to_owned(), hierarchy));
        assert_eq!(found, Controllers(BTreeMap::from(expected)));
        assert_eq!(found.describe().unwrap(), "v1: cpu cpuacct memory");
    }

    #[test]
    fn the_unified_hierarchy_offers_what_it_says() {
        let mounts =
            "26 23 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let own = "0::/user.slice/user-1000.slice/session-2.scope\n";
        let found = Controllers::of(mounts, own, |_| "cpuset cpu memory pids\n".to_owned());
        assert_eq!(found.describe().unwrap(), "v2: cpu cpuset memory pids");
        assert_eq!(
            found.get("memory"),
            Some(&hierarchy(
                Version::V2,
                "/sys/fs/cgroup",
                "/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope"
            ))
        );
        assert_eq!(Controllers::of("", own, |_| String::new()).describe(), None);
    }
}
