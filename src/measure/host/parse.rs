//! Parsers of the kernel's files about the machine: text in, value out.

use std::collections::BTreeMap;

use crate::model::reading::CpuTimes;

/// Parameters of the kernel that bear on a measurement. All others are left out: they can hold
/// addresses, identities and secrets, and what stands behind `--` is not the kernel's.
const BEARING: [&str; 34] = [
    "amd_pstate",
    "apparmor",
    "audit",
    "cgroup_disable",
    "cgroup_no_v1",
    "clocksource",
    "cpufreq.",
    "cpuidle",
    "hugepages",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle",
    "intel_pstate",
    "irqaffinity",
    "isolcpus",
    "kthread_cpus",
    "maxcpus",
    "mitigations",
    "nmi_watchdog",
    "nohz",
    "nosmt",
    "nr_cpus",
    "numa_balancing",
    "page_poison",
    "preempt",
    "processor.",
    "psi",
    "rcu_nocbs",
    "skew_tick",
    "swapaccount",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
];

/// The parameters of a kernel command line that bear on a measurement, in their order.
#[must_use]
pub fn bearing_parameters(line: &str) -> String {
    line.split_whitespace()
        .take_while(|word| *word != "--")
        .filter(|word| BEARING.iter().any(|name| word.starts_with(name)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The model name in `/proc/cpuinfo`: `model name` on x86, else `Model` or `CPU part`.
#[must_use]
pub fn cpu_model(cpuinfo: &str) -> Option<String> {
    let field = |wanted: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == wanted && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    field("model name")
        .or_else(|| field("Model"))
        .or_else(|| field("CPU part").map(|part| format!("CPU part {part}")))
}

/// Whether `/proc/cpuinfo` shows the flag that hypervisors set; absent where there are no such flags.
#[must_use]
pub fn hypervisor_flag(cpuinfo: &str) -> Option<bool> {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"))?;
    Some(
        flags
            .split_ascii_whitespace()
            .any(|flag| flag == "hypervisor"),
    )
}

/// `PRETTY_NAME` of `os-release`, unquoted.
#[must_use]
pub fn distribution(os_release: &str) -> Option<String> {
    let value = |key: &str| {
        let line = os_release.lines().find_map(|line| line.strip_prefix(key))?;
        let value = line.strip_prefix('=')?.trim_matches(['"', '\'']);
        (!value.is_empty()).then(|| value.to_owned())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

/// Interrupts that each CPU served, of `/proc/interrupts`. CPUs are named by the header, since offline
/// ones have no column; lines with a single number for the whole machine (`ERR`, `MIS`) are left out.
#[must_use]
pub fn interrupts(text: &str) -> Option<BTreeMap<u32, u64>> {
    let mut lines = text.lines();
    let header = lines.next()?.split_ascii_whitespace();
    let cpus: Option<Vec<u32>> = header
        .map(|word| word.strip_prefix("CPU")?.parse().ok())
        .collect();
    let cpus = cpus.filter(|cpus| !cpus.is_empty())?;
    let mut totals: BTreeMap<u32, u64> = cpus.iter().map(|cpu| (*cpu, 0)).collect();
    for line in lines {
        let numbers: Vec<u64> = line
            .split_ascii_whitespace()
            .skip(1)
            .map_while(|word| word.parse().ok())
            .take(cpus.len())
            .collect();
        if numbers.len() == cpus.len() {
            for (cpu, count) in cpus.iter().zip(numbers) {
                *totals.entry(*cpu).or_default() += count;
            }
        }
    }
    Some(totals)
}

/// An option of the kernel's configuration: its value, or `n` where it is not set. Absent where the
/// configuration does not mention it.
#[must_use]
pub fn kernel_option(config: &str, option: &str) -> Option<String> {
    config.lines().find_map(|line| {
        if let Some(value) = line.strip_prefix(option) {
            return value.strip_prefix('=').map(str::to_owned);
        }
        let rest = line.strip_prefix("# ")?.strip_prefix(option)?;
        (rest == " is not set").then(|| "n".to_owned())
    })
}

/// What `/proc/stat` says: every online CPU, and context switches since boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Times of each CPU.
    pub cpus: BTreeMap<u32, CpuTimes>,
    /// Context switches since boot.
    pub context_switches: Option<u64>,
}

/// The lines that begin with a CPU's name: its number, and the words after it.
fn of_cpus(text: &str) -> impl Iterator<Item = (u32, std::str::SplitAsciiWhitespace<'_>)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
        Some((cpu, words))
    })
}

/// Parses `/proc/stat` (proc(5): user nice system idle iowait irq softirq steal; guest time is already in
/// user). `tick_ns` is the length of a tick.
#[must_use]
pub fn stat(text: &str, tick_ns: u64) -> Option<Stat> {
    let mut cpus = BTreeMap::new();
    for (cpu, words) in of_cpus(text) {
        let ticks: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
        let ticks = ticks.filter(|ticks| ticks.len() >= 8)?;
        let time = |fields: &[usize]| fields.iter().map(|field| ticks[*field] * tick_ns).sum();
        let times = CpuTimes {
            busy_ns: time(&[0, 1, 2, 5, 6]),
            softirq_ns: time(&[6]),
            idle_ns: time(&[3, 4]),
            steal_ns: time(&[7]),
        };
        cpus.insert(cpu, times);
    }
    (!cpus.is_empty()).then(|| Stat {
        cpus,
        context_switches: crate::measure::keyed(text, "ctxt"),
    })
}

/// A counter of `/proc/net/snmp` or `/proc/net/netstat`, where a line of names stands above each line of
/// numbers.
#[must_use]
pub fn network_counter(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks_exact(2).find_map(|pair| {
        let names = pair[0].strip_prefix(protocol)?.strip_prefix(':')?;
        let numbers = pair[1].strip_prefix(protocol)?.strip_prefix(':')?;
        let place = names
            .split_ascii_whitespace()
            .position(|found| found == name)?;
        numbers.split_ascii_whitespace().nth(place)?.parse().ok()
    })
}

/// The `total` of the `some` line of a pressure file, microseconds.
#[must_use]
pub fn pressure_total(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = some
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix("total="))?;
    total.parse().ok()
}

/// Time tasks ran on each CPU, of `/proc/schedstat`: the seventh number after the CPU's name,
/// nanoseconds (sched-stats in the kernel's documentation).
#[must_use]
pub fn schedstat(text: &str) -> Option<BTreeMap<u32, u64>> {
    let mut used = BTreeMap::new();
    for (cpu, mut words) in of_cpus(text) {
        used.insert(cpu, words.nth(6)?.parse().ok()?);
    }
    (!used.is_empty()).then_some(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_named() {
        let x86 =
            "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor\n";
        let arm = "processor\t: 0\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu_model(x86).as_deref(), Some("AMD EPYC"));
        assert_eq!(cpu_model(arm).as_deref(), Some("CPU part 0xd0c"));
        assert_eq!(cpu_model("processor : 0\n"), None);
        assert_eq!(hypervisor_flag(x86), Some(true));
        assert_eq!(hypervisor_flag("flags : fpu\n"), Some(false));
        assert_eq!(hypervisor_flag(arm), None);
    }

    #[test]
    fn the_distribution_is_named() {
        for (text, expected) in [
            (
                "NAME=\"Debian\"\nPRETTY_NAME=\"Debian 12\"\n",
                Some("Debian 12"),
            ),
            ("NAME=Alpine\nPRETTY_NAME=\"\"\n", Some("Alpine")),
            ("ID=x\n", None),
        ] {
            assert_eq!(distribution(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn interrupts_are_summed_by_the_headers_cpus() {
        let text = "           CPU0       CPU2\n 24:   1   10  IO-APIC 5-edge x\nLOC: 100 200 Local\n\
                    ERR: 5\nMIS: 0\n";
        assert_eq!(interrupts(text), Some(BTreeMap::from([(0, 101), (2, 210)])));
        assert_eq!(interrupts(""), None);
        assert_eq!(interrupts("nothing here\n"), None);
    }

    #[test]
    fn a_kernel_option_is_set_or_not_or_unknown() {
        let config = "CONFIG_HZ_250=y\nCONFIG_HZ=250\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n";
        for (option, expected) in [
            ("CONFIG_HZ", Some("250")),
            ("CONFIG_IRQ_TIME_ACCOUNTING", Some("n")),
            ("CONFIG_IRQ_TIME", None),
        ] {
            assert_eq!(
                kernel_option(config, option).as_deref(),
                expected,
                "{option}"
            );
        }
    }

    #[test]
    fn cpu_times_are_divided_as_documented() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 1 20 300 4 5 6 7 3 0\nintr 1 2\nctxt 42\n";
        let times = CpuTimes {
            busy_ns: 420,
            softirq_ns: 60,
            idle_ns: 3040,
            steal_ns: 70,
        };
        let expected = Stat {
            cpus: BTreeMap::from([(0, times)]),
            context_switches: Some(42),
        };
        assert_eq!(stat(text, 10), Some(expected));
        assert_eq!(stat("cpu0 1 2\n", 10), None);
        assert_eq!(stat("", 10), None);
    }

    #[test]
    fn network_counters_are_found_by_name() {
        let text = "Ip: A B\nIp: 1 2\nTcp: InSegs RetransSegs\nTcp: 3 -4\nTcpExt: RetransSegs\nTcpExt: 9\n";
        assert_eq!(network_counter(text, "Ip", "B"), Some(2));
        assert_eq!(network_counter(text, "Tcp", "InSegs"), Some(3));
        assert_eq!(network_counter(text, "Tcp", "RetransSegs"), None);
        assert_eq!(network_counter(text, "TcpExt", "RetransSegs"), Some(9));
        assert_eq!(network_counter(text, "Udp", "A"), None);
    }

    #[test]
    fn pressure_and_schedstat_are_read() {
        let pressure =
            "some avg10=0.03 avg60=2.87 avg300=3.43 total=51153665\nfull avg10=0.00 total=7\n";
        assert_eq!(pressure_total(pressure), Some(51_153_665));
        assert_eq!(pressure_total("full avg10=0 total=7\n"), None);
        let text = "version 17\ntimestamp 4\ncpu0 0 0 0 0 0 0 111 222 333\ndomain0 3 1 2\n\
                    cpu1 0 0 0 0 0 0 444 5 6\n";
        assert_eq!(schedstat(text), Some(BTreeMap::from([(0, 111), (1, 444)])));
        assert_eq!(schedstat("version 17\n"), None);
    }

    #[test]
    fn of_a_command_line_only_what_bears_on_a_measurement_is_kept() {
        let line = "root=UUID=0c1f ip=10.0.0.9 mitigations=off isolcpus=2-3 quiet nohz_full=2 -- --token s3cret psi=1";
        assert_eq!(
            bearing_parameters(line),
            "mitigations=off isolcpus=2-3 nohz_full=2"
        );
    }
}
