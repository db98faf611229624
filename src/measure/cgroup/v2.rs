//! Counters of cgroup version 2.

use std::path::Path;

use crate::measure::{Unreadable, keyed, known, single, value};
use crate::model::reading::{CpuReading, MemoryReading};
use crate::model::{Known, Source};

/// Parses `cpu.stat`: usage and throttled time in nanoseconds. Throttled time is there only where the
/// `cpu` controller is enabled; usage always.
#[must_use]
pub fn parse_cpu(text: &str) -> Option<(u64, Option<u64>)> {
    let nanoseconds = |key| keyed(text, key).map(|microseconds| microseconds * 1000);
    Some((nanoseconds("usage_usec")?, nanoseconds("throttled_usec")))
}

/// Reads CPU time of a group.
///
/// # Errors
/// When `cpu.stat` cannot be read.
pub fn cpu(folder: &Path) -> Result<CpuReading, Unreadable> {
    let (cpu_ns, throttled) = value(&folder.join("cpu.stat"), "`usage_usec`", parse_cpu)?;
    Ok(CpuReading {
        cpu_ns,
        per_cpu_ns: Known::Absent("cgroup v2 does not count each CPU apart".to_owned()),
        throttled_ns: throttled.map_or_else(
            || Known::Absent("the group has no `cpu` controller".to_owned()),
            Known::Value,
        ),
        source: Source::CgroupV2,
        granularity_ns: 1000,
    })
}

/// What `memory.stat` says, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Anonymous.
    pub anonymous: u64,
    /// Shared.
    pub shared: Option<u64>,
    /// Kernel and sockets.
    pub kernel: Option<u64>,
}

/// Parses `memory.stat`. Kernel memory is the kernel's own sum `kernel` (5.18 on), else the sum of its
/// parts, and `sock`.
#[must_use]
pub fn parse_memory(text: &str) -> Option<Memory> {
    let parts = || {
        let stack = keyed(text, "kernel_stack")?;
        let others = ["pagetables", "percpu", "slab"].map(|key| keyed(text, key).unwrap_or(0));
        Some(stack + others.iter().sum::<u64>())
    };
    let kernel = keyed(text, "kernel").or_else(parts);
    Some(Memory {
        anonymous: keyed(text, "anon")?,
        shared: keyed(text, "shmem"),
        kernel: kernel.map(|kernel| kernel + keyed(text, "sock").unwrap_or(0)),
    })
}

/// Reads memory of a group.
///
/// # Errors
/// When `memory.stat` cannot be read.
pub fn memory(folder: &Path) -> Result<MemoryReading, Unreadable> {
    let found = value(&folder.join("memory.stat"), "`anon`", parse_memory)?;
    let or_absent = |value: Option<u64>, key: &str| {
        value.map_or_else(
            || Known::Absent(format!("memory.stat has no `{key}`")),
            Known::Value,
        )
    };
    Ok(MemoryReading {
        anonymous_bytes: found.anonymous,
        shared_bytes: or_absent(found.shared, "shmem"),
        kernel_bytes: or_absent(found.kernel, "kernel_stack"),
        kernel_peak_bytes: known(&folder.join("memory.peak"), "a number", single),
        source: Source::CgroupV2,
    })
}

/// Kills for want of memory in this cgroup and below: `oom_kill` of `memory.events`.
pub fn oom_kills(folder: &Path) -> Known<u64> {
    let parser = |text: &str| keyed(text, "oom_kill");
    known(&folder.join("memory.events"), "`oom_kill`", parser)
}

/// A limit; absent for `max`, which means none.
#[must_use]
pub fn parse_limit(text: &str) -> Option<u64> {
    single(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_in_nanoseconds() {
        let full = "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\nnr_periods 5\n\
                    nr_throttled 2\nthrottled_usec 77\n";
        assert_eq!(parse_cpu(full), Some((1_234_567_000, Some(77_000))));
        assert_eq!(parse_cpu("usage_usec 5\nuser_usec 5\n"), Some((5000, None)));
        assert_eq!(parse_cpu("user_usec 5\n"), None);
    }

    #[test]
    fn kernel_memory_is_a_sum_on_older_kernels() {
        let newer = "anon 100\nfile 7\nkernel 50\nkernel_stack 10\nsock 3\nshmem 20\nslab 30\n";
        let older = "anon 100\nfile 7\nkernel_stack 10\npagetables 4\npercpu 2\nsock 3\nshmem 20\nslab 30\n";
        let expected = |kernel| Memory {
            anonymous: 100,
            shared: Some(20),
            kernel: Some(kernel),
        };
        assert_eq!(parse_memory(newer), Some(expected(53)));
        assert_eq!(parse_memory(older), Some(expected(49)));
        assert_eq!(parse_memory("file 7\n"), None);
    }

    #[test]
    fn limits_are_read() {
        assert_eq!(parse_limit("max\n"), None);
        assert_eq!(parse_limit("33554432\n"), Some(33_554_432));
    }
}
