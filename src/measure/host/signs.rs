//! What tells how quiet a machine is and what it allows: read twice, some seconds apart. Reads only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::parse;
use crate::measure::cgroup::{Controllers, Version};
use crate::measure::process::{parse_stat, ticks_ns};
use crate::measure::{Unreadable, keyed, known, text};
use crate::model::reading::CpuTimes;
use crate::model::{CpuSet, HostFacts, Known};

/// The controllers whose groups loadlab makes; `cpuacct` is part of `cpu` in version 2.
const CONTROLLERS: [&str; 4] = ["cpuset", "cpu", "memory", "pids"];

/// A process with the CPU time that it used meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Busy {
    /// Its number.
    pub pid: i32,
    /// Its name, as the kernel cuts it.
    pub name: String,
    /// CPU time, nanoseconds, in ticks.
    pub cpu_ns: u64,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signs {
    /// The machine.
    pub facts: HostFacts,
    /// Between the two readings, nanoseconds.
    pub over_ns: u64,
    /// How much the wall clock moved against the monotonic one meanwhile, nanoseconds.
    pub clock_moved_ns: u64,
    /// Times of each CPU meanwhile.
    pub cpus: BTreeMap<u32, CpuTimes>,
    /// Whether any CPU ever showed steal since boot.
    pub steal_ever: bool,
    /// Interrupts that each CPU served meanwhile.
    pub interrupts: Known<BTreeMap<u32, u64>>,
    /// Pages swapped meanwhile.
    pub swapped_pages: Known<u64>,
    /// The busiest processes meanwhile, the busiest first; loadlab itself left out.
    pub busiest: Vec<Busy>,
    /// CPUs that this process may use.
    pub allowed: Known<CpuSet>,
    /// Memory that can be had without swapping, bytes.
    pub available_bytes: Known<u64>,
    /// Most open files of a process: the limit now, and the one that it may raise it to.
    pub open_files: Known<(u64, u64)>,
    /// Local ports for outgoing connections.
    pub ports: Known<u64>,
    /// Local ports that wait after a connection's end.
    pub ports_waiting: Known<u64>,
    /// Whether groups can be made, or why not.
    pub groups: Result<(), String>,
}

/// The clocks of the two readings: monotonic and wall, nanoseconds.
pub type Clocks = (u64, u64);

/// Reads, waits, reads again. The files are those below `root`; `wait` lets some seconds pass.
///
/// # Errors
/// When `/proc/stat` cannot be read: nothing can be said then.
pub fn signs(
    root: &Path,
    mut clocks: impl FnMut() -> Clocks,
    wait: impl FnOnce(),
) -> Result<Signs, Unreadable> {
    let first = Moment::read(root)?;
    let begun = clocks();
    wait();
    let ended = clocks();
    let second = Moment::read(root)?;
    let over_ns = ended.0.saturating_sub(begun.0);
    let wall = i128::from(ended.1) - i128::from(begun.1);
    let moved = (wall - i128::from(over_ns)).unsigned_abs();
    let file = |name: &str| root.join(name);
    Ok(Signs {
        facts: super::facts::facts_below(root),
        over_ns,
        clock_moved_ns: u64::try_from(moved).unwrap_or(u64::MAX),
        steal_ever: second.cpus.values().any(|times| times.steal_ns > 0),
        cpus: first.until(&second),
        interrupts: grown(first.interrupts, second.interrupts),
        swapped_pages: match (first.swapped, second.swapped) {
            (Known::Value(first), Known::Value(second)) => {
                Known::Value(second.saturating_sub(first))
            }
            (Known::Absent(because), _) | (_, Known::Absent(because)) => Known::Absent(because),
        },
        busiest: busiest(&first.processes, &second.processes),
        allowed: known(&file("proc/self/status"), "the CPUs allowed", allowed),
        available_bytes: known(&file("proc/meminfo"), "`MemAvailable`", |text| {
            Some(keyed(text, "MemAvailable")? * 1024)
        }),
        open_files: known(
            &file("proc/self/limits"),
            "the limit of open files",
            open_files,
        ),
        ports: known(
            &file("proc/sys/net/ipv4/ip_local_port_range"),
            "two ports",
            ports,
        ),
        ports_waiting: known(&file("proc/net/sockstat"), "sockets that wait", waiting),
        groups: groups(root),
    })
}

/// What counts up, at one moment.
struct Moment {
    cpus: BTreeMap<u32, CpuTimes>,
    interrupts: Known<BTreeMap<u32, u64>>,
    swapped: Known<u64>,
    processes: BTreeMap<i32, (String, u64)>,
}

impl Moment {
    fn read(root: &Path) -> Result<Self, Unreadable> {
        let stat = crate::measure::value(&root.join("proc/stat"), "times of CPUs", |text| {
            parse::stat(text, ticks_ns(1))
        })?;
        Ok(Self {
            cpus: stat.cpus,
            interrupts: known(&root.join("proc/interrupts"), "counts", parse::interrupts),
            swapped: known(
                &root.join("proc/vmstat"),
                "`pswpin` and `pswpout`",
                |text| Some(keyed(text, "pswpin")? + keyed(text, "pswpout")?),
            ),
            processes: processes(&root.join("proc")),
        })
    }

    fn until(&self, later: &Self) -> BTreeMap<u32, CpuTimes> {
        let pairs = self.cpus.iter();
        let pairs = pairs.filter_map(|(cpu, first)| Some((*cpu, first, later.cpus.get(cpu)?)));
        pairs
            .map(|(cpu, first, last)| {
                let times = CpuTimes {
                    busy_ns: last.busy_ns.saturating_sub(first.busy_ns),
                    softirq_ns: last.softirq_ns.saturating_sub(first.softirq_ns),
                    idle_ns: last.idle_ns.saturating_sub(first.idle_ns),
                    steal_ns: last.steal_ns.saturating_sub(first.steal_ns),
                };
                (cpu, times)
            })
            .collect()
    }
}

fn grown(
    first: Known<BTreeMap<u32, u64>>,
    second: Known<BTreeMap<u32, u64>>,
) -> Known<BTreeMap<u32, u64>> {
    let first = match first {
        Known::Value(first) => first,
        absent @ Known::Absent(_) => return absent,
    };
    second.map(|second| {
        let counts = second.into_iter();
        counts
            .map(|(cpu, count)| {
                (
                    cpu,
                    count.saturating_sub(first.get(&cpu).copied().unwrap_or(0)),
                )
            })
            .collect()
    })
}

/// Name and CPU time of every process that can be seen, nanoseconds.
fn processes(folder: &Path) -> BTreeMap<i32, (String, u64)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter_map(|pid| {
            let place = folder.join(pid.to_string()).join("stat");
            let line = text(&place).ok()?;
            let name = line.get(line.find('(')? + 1..line.rfind(')')?)?.to_owned();
            Some((pid, (name, ticks_ns(parse_stat(&line)?.own_ticks))))
        })
        .collect()
}

fn busiest(
    first: &BTreeMap<i32, (String, u64)>,
    second: &BTreeMap<i32, (String, u64)>,
) -> Vec<Busy> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let used = second.iter().filter(|(pid, _)| **pid != own);
    let mut busy: Vec<Busy> = used
        .map(|(pid, (name, after))| Busy {
            pid: *pid,
            name: name.clone(),
            cpu_ns: after.saturating_sub(first.get(pid).map_or(0, |(_, before)| *before)),
        })
        .filter(|busy| busy.cpu_ns > 0)
        .collect();
    busy.sort_by(|a, b| b.cpu_ns.cmp(&a.cpu_ns).then(a.pid.cmp(&b.pid)));
    busy.truncate(3);
    busy
}

/// `Cpus_allowed_list` of `/proc/self/status`.
fn allowed(status: &str) -> Option<CpuSet> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    line.trim().parse().ok()
}

/// Soft and hard limit of `Max open files`.
fn open_files(limits: &str) -> Option<(u64, u64)> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    let mut words = line.split_ascii_whitespace();
    let mut limit = || match words.next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    };
    Some((limit()?, limit()?))
}

fn ports(range: &str) -> Option<u64> {
    let mut ends = range.split_ascii_whitespace();
    let (low, high): (u64, u64) = (ends.next()?.parse().ok()?, ends.next()?.parse().ok()?);
    Some((high + 1).saturating_sub(low))
}

/// `TCP: … tw N …` of `/proc/net/sockstat`.
fn waiting(sockstat: &str) -> Option<u64> {
    let line = sockstat
        .lines()
        .find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

/// Whether a group can be made in each controller's hierarchy: looked at, not tried.
fn groups(root: &Path) -> Result<(), String> {
    let controllers = Controllers::detect_below(root).map_err(|error| error.to_string())?;
    for name in CONTROLLERS {
        let Some(hierarchy) = controllers.get(name) else {
            return Err(format!("the controller {name} is not there"));
        };
        let own: PathBuf = root.join(hierarchy.own.strip_prefix("/").unwrap_or(&hierarchy.own));
        let may = rustix::fs::access(&own, rustix::fs::Access::WRITE_OK);
        if may.is_err() || is_read_only(&own) {
            let version = match hierarchy.version {
                Version::V1 => "version 1",
                Version::V2 => "version 2",
            };
            return Err(format!(
                "{} of controller {name} ({version}) cannot be written to",
                hierarchy.own.display()
            ));
        }
    }
    Ok(())
}

/// Whether it is mounted so that nobody can write there.
fn is_read_only(folder: &Path) -> bool {
    rustix::fs::statvfs(folder)
        .is_ok_and(|facts| facts.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}
