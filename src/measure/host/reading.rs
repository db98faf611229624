//! What the machine is doing: one cheap reading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::parse;
use crate::measure::cgroup::{Controllers, Version, v1};
use crate::measure::{clock, keyed, known, process, text, value};
use crate::model::Known;
use crate::model::reading::HostReading;

/// Reads the machine's counters; takes some tenths of a millisecond.
///
/// `cpus` is empty where `/proc/stat` cannot be read.
#[must_use]
pub fn reading() -> HostReading {
    let monotonic_ns = clock::monotonic_ns();
    let boottime_ns = clock::boottime_ns();
    let realtime_ns = clock::realtime_ns();
    let used_per_cpu_ns = used_per_cpu();
    let tick_ns = process::ticks_ns(1);
    let stat = value(Path::new("/proc/stat"), "times of CPUs", |text| {
        parse::stat(text, tick_ns)
    });
    let (cpus, context_switches) = match stat {
        Ok(stat) => (
            stat.cpus,
            stat.context_switches.map_or_else(
                || Known::Absent("/proc/stat has no `ctxt`".to_owned()),
                Known::Value,
            ),
        ),
        Err(error) => (BTreeMap::new(), Known::Absent(error.to_string())),
    };
    let uncertainty_ns = clock::monotonic_ns() - monotonic_ns;
    HostReading {
        monotonic_ns,
        boottime_ns,
        realtime_ns,
        uncertainty_ns,
        cpus,
        granularity_ns: tick_ns,
        used_per_cpu_ns,
        swapped_pages: known(
            Path::new("/proc/vmstat"),
            "`pswpin` and `pswpout`",
            |text| Some(keyed(text, "pswpin")? + keyed(text, "pswpout")?),
        ),
        context_switches,
        dirty_bytes: known(Path::new("/proc/meminfo"), "`Dirty`", |text| {
            Some(keyed(text, "Dirty")? * 1024)
        }),
        retransmitted_segments: known(Path::new("/proc/net/snmp"), "`RetransSegs`", |text| {
            parse::network_counter(text, "Tcp", "RetransSegs")
        }),
        listen_overflows: known(
            Path::new("/proc/net/netstat"),
            "`ListenOverflows`",
            |text| parse::network_counter(text, "TcpExt", "ListenOverflows"),
        ),
        cpu_pressure_us: known(
            Path::new("/proc/pressure/cpu"),
            "a total",
            parse::pressure_total,
        ),
        own_cpu_ns: clock::own_cpu_ns(),
    }
}

/// Exact CPU time of each CPU: the root cgroup's `cpuacct.usage_percpu`, else `/proc/schedstat`.
fn used_per_cpu() -> Known<BTreeMap<u32, u64>> {
    static ROOT: OnceLock<Option<PathBuf>> = OnceLock::new();
    if let Some(path) = ROOT.get_or_init(root_cpuacct) {
        return known(path, "numbers", v1::parse_per_cpu);
    }
    let schedstat = text(Path::new("/proc/schedstat"))
        .ok()
        .and_then(|text| parse::schedstat(&text));
    schedstat.map_or_else(
        || {
            Known::Absent(
                "the kernel has neither a root `cpuacct` cgroup nor /proc/schedstat".to_owned(),
            )
        },
        Known::Value,
    )
}

/// The file of the true root group. In a container the mount shows a group below the root, whose
/// numbers are not the machine's; only the true root has a `release_agent`.
fn root_cpuacct() -> Option<PathBuf> {
    let controllers = Controllers::detect().ok()?;
    let hierarchy = controllers.get("cpuacct")?;
    let root = hierarchy.version == Version::V1 && hierarchy.mount.join("release_agent").exists();
    root.then(|| hierarchy.mount.join("cpuacct.usage_percpu"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_never_go_backwards() {
        let (first, second) = (reading(), reading());
        assert!(!first.cpus.is_empty());
        assert!(second.monotonic_ns >= first.monotonic_ns + first.uncertainty_ns);
        assert!(second.boottime_ns >= first.boottime_ns);
        assert!(second.own_cpu_ns >= first.own_cpu_ns);
        for (cpu, times) in &first.cpus {
            assert!(second.cpus[cpu].busy_ns >= times.busy_ns);
        }
    }
}
