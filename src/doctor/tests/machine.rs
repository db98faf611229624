//! Recorded machines: the kernel's files below a folder, changed in one thing each.

use std::cell::Cell;
use std::path::Path;

use crate::doctor::*;
use crate::measure::host::signs;

/// A quiet machine of four CPUs, two cores of two threads, bare, with everything allowed.
const QUIET: [(&str, &str); 22] = [
    (
        "proc/stat",
        "cpu  400 0 0 4000 0 0 0 0 0 0\ncpu0 100 0 0 1000 0 0 0 0 0 0\ncpu1 100 0 0 1000 0 0 0 0 0 0\ncpu2 100 0 0 1000 0 0 0 0 0 0\ncpu3 100 0 0 1000 0 0 0 0 0 0\nctxt 5\n",
    ),
    (
        "proc/interrupts",
        "           CPU0       CPU1       CPU2       CPU3\n  0:         10         10         10         10   IO-APIC    2-edge      timer\n",
    ),
    ("proc/vmstat", "pswpin 7\npswpout 3\n"),
    (
        "proc/meminfo",
        "MemTotal:       16000000 kB\nMemAvailable:   12000000 kB\nSwapTotal:             0 kB\n",
    ),
    (
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: A CPU\nflags\t\t: fpu tsc\n",
    ),
    (
        "proc/self/status",
        "Name:\tloadlab\nCpus_allowed_list:\t0-3\n",
    ),
    (
        "proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units\nMax open files            1048576              1048576              files\n",
    ),
    ("proc/self/cgroup", "0::/here\n"),
    (
        "proc/self/mountinfo",
        "30 20 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n",
    ),
    ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
    (
        "proc/net/sockstat",
        "sockets: used 100\nTCP: inuse 5 orphan 0 tw 32 alloc 7 mem 1\n",
    ),
    (
        "sys/fs/cgroup/cgroup.controllers",
        "cpuset cpu io memory pids\n",
    ),
    ("sys/fs/cgroup/here/cgroup.procs", ""),
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    (
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "tsc\n",
    ),
    ("sys/class/power_supply/AC/online", "1\n"),
    (
        "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
        "0,2\n",
    ),
    (
        "sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
        "1,3\n",
    ),
    (
        "sys/devices/system/cpu/cpu2/topology/thread_siblings_list",
        "0,2\n",
    ),
    (
        "sys/devices/system/cpu/cpu3/topology/thread_siblings_list",
        "1,3\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "performance\n",
    ),
];

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn wanted() -> Wanted {
    let cores = |role: Role, cpus: &str| (role, cpus.parse().unwrap());
    Wanted {
        cores: [cores(Role::Candidate, "0,2"), cores(Role::Load, "1,3")].into(),
        memory_bytes: 1 << 30,
        connections: 64,
        rate: 100,
        disk_bytes: 10 << 20,
        ..Wanted::default()
    }
}

/// A machine, what is wanted of it, and what happens while it is looked at.
pub(super) struct Machine {
    root: tempfile::TempDir,
    wanted: Wanted,
    pub(super) missing: Vec<Missing>,
    pub(super) disk_bytes: Known<u64>,
    meanwhile: Vec<(&'static str, &'static str)>,
    pub(super) moved_ns: u64,
}

impl Machine {
    pub(super) fn quiet() -> Self {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &QUIET);
        Self {
            root,
            wanted: wanted(),
            missing: Vec::new(),
            disk_bytes: Known::Value(1 << 40),
            meanwhile: Vec::new(),
            moved_ns: 0,
        }
    }

    /// With another file from the beginning on.
    pub(super) fn with(self, name: &str, text: &str) -> Self {
        write(self.root.path(), &[(name, text)]);
        self
    }

    pub(super) fn without(self, name: &str) -> Self {
        std::fs::remove_file(self.root.path().join(name)).unwrap();
        self
    }

    /// With another file at the second look.
    pub(super) fn then(mut self, name: &'static str, text: &'static str) -> Self {
        self.meanwhile.push((name, text));
        self
    }

    pub(super) fn wants(mut self, change: impl FnOnce(&mut Wanted)) -> Self {
        change(&mut self.wanted);
        self
    }

    pub(super) fn examine(&self) -> Vec<Sign> {
        let looks = Cell::new(0_u64);
        let clocks = || {
            let look = looks.replace(looks.get() + 1);
            let passed = look * 2_000_000_000;
            (passed, passed + look * self.moved_ns)
        };
        let signs = signs(self.root.path(), clocks, || {
            write(self.root.path(), &self.meanwhile);
        });
        examine(&Case {
            signs: &signs.unwrap(),
            wanted: &self.wanted,
            missing: &self.missing,
            disk_bytes: &self.disk_bytes,
        })
    }
}
