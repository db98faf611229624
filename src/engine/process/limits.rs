//! Limits of a group: set, and read back from the kernel.

use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr as _;

use super::cgroup::GroupFolders;
use crate::measure::cgroup::{Version, v1, v2};
use crate::measure::{single, text};
use crate::model::reading::EffectiveLimits;
use crate::model::{Budget, Bytes, CpuSet, Known};

fn write(folder: &Path, file: &str, value: &str) -> io::Result<()> {
    let path = folder.join(file);
    fs::write(&path, value).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("cannot write `{value}` to {}: {error}", path.display()),
        )
    })
}

/// Sets what can be set and reads it back. A limit whose controller cannot be used is left out: the
/// engine's facts say so.
///
/// # Errors
/// When the kernel refuses a limit, or shows another one than was set.
pub(super) fn set(
    folders: &GroupFolders,
    cpus: Option<&CpuSet>,
    budget: &Budget,
) -> io::Result<()> {
    if let (Some((_, folder)), Some(cpus)) = (folders.of("cpuset"), cpus) {
        write(folder, "cpuset.cpus", &cpus.to_string())?;
    }
    if let (Some((version, folder)), Some(Bytes(bytes))) = (folders.of("memory"), budget.memory) {
        set_memory(version, folder, bytes)?;
    }
    if let (Some((_, folder)), Some(processes)) = (folders.of("pids"), budget.processes) {
        write(folder, "pids.max", &processes.to_string())?;
    }
    check(folders, cpus, budget)
}

fn set_memory(version: Version, folder: &Path, bytes: u64) -> io::Result<()> {
    let limit = bytes.to_string();
    // Swapping would let a member live on beyond its budget, at the price of its speed.
    let swap = match version {
        Version::V1 => {
            write(folder, "memory.limit_in_bytes", &limit)?;
            ("memory.memsw.limit_in_bytes", limit.as_str())
        }
        Version::V2 => {
            write(folder, "memory.max", &limit)?;
            ("memory.swap.max", "0")
        }
    };
    if folder.join(swap.0).exists() {
        write(folder, swap.0, swap.1)
    } else {
        Ok(())
    }
}

/// Compares what the kernel shows with what was asked. The kernel rounds memory down to whole pages.
fn check(folders: &GroupFolders, cpus: Option<&CpuSet>, budget: &Budget) -> io::Result<()> {
    let found = read(folders);
    let differs = |what: &str, asked: String, found: String| {
        Err(io::Error::other(format!(
            "the kernel shows {what} {found} where {asked} was set"
        )))
    };
    if let (Some(_), Some(asked)) = (folders.of("cpuset"), cpus)
        && found.cpus.value() != Some(asked)
    {
        return differs("the CPUs", asked.to_string(), shown(&found.cpus));
    }
    if let (Some(_), Some(asked)) = (folders.of("memory"), budget.memory) {
        let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
        let fits = |found: &Bytes| found.0 <= asked.0 && found.0 + page > asked.0;
        if !found.memory.value().is_some_and(fits) {
            return differs("the memory limit", asked.to_string(), shown(&found.memory));
        }
    }
    if let (Some(_), Some(asked)) = (folders.of("pids"), budget.processes)
        && found.processes.value() != Some(&u64::from(asked))
    {
        return differs(
            "the limit of processes",
            asked.to_string(),
            shown(&found.processes),
        );
    }
    Ok(())
}

fn shown<T: std::fmt::Display>(known: &Known<T>) -> String {
    match known {
        Known::Value(value) => value.to_string(),
        Known::Absent(reason) => format!("none ({reason})"),
    }
}

fn none<T>(controller: &str) -> Known<T> {
    Known::Absent(format!("no `{controller}` cgroup holds the group"))
}

/// Reads the limits that cgroups enforce; absent where there is no controller or no limit.
pub(super) fn read(folders: &GroupFolders) -> EffectiveLimits {
    let limit = |path: &Path, parser: fn(&str) -> Option<u64>| match text(path) {
        Ok(text) => {
            parser(&text).map_or_else(|| Known::Absent("no limit is set".to_owned()), Known::Value)
        }
        Err(error) => Known::Absent(error.to_string()),
    };
    let cpus = folders.of("cpuset").map_or_else(
        || none("cpuset"),
        |(version, folder)| {
            let file = match version {
                Version::V1 => "cpuset.effective_cpus",
                Version::V2 => "cpuset.cpus.effective",
            };
            let list =
                |text: String| CpuSet::from_str(text.trim()).map_err(|error| error.to_string());
            let read = text(&folder.join(file)).map_err(|error| error.to_string());
            Known::from(read.and_then(list))
        },
    );
    let memory = folders.of("memory").map_or_else(
        || none("memory"),
        |(version, folder)| match version {
            Version::V1 => limit(&folder.join("memory.limit_in_bytes"), v1::parse_limit),
            Version::V2 => limit(&folder.join("memory.max"), v2::parse_limit),
        },
    );
    let processes = folders.of("pids").map_or_else(
        || none("pids"),
        |(_, folder)| limit(&folder.join("pids.max"), single),
    );
    EffectiveLimits {
        cpus,
        memory: memory.map(Bytes),
        processes,
    }
}
