//! Counters of cgroup version 1.

use std::collections::BTreeMap;
use std::path::Path;

use crate::measure::{Unreadable, keyed, known, single, value};
use crate::model::reading::{CpuReading, MemoryReading};
use crate::model::{Known, Source};

/// Parses `cpuacct.usage_percpu`: nanoseconds of each possible CPU in order.
#[must_use]
pub fn parse_per_cpu(text: &str) -> Option<BTreeMap<u32, u64>> {
    let numbers: Option<Vec<u64>> = text
        .split_ascii_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty())?;
    Some((0..).zip(numbers).collect())
}

/// Reads CPU time of a group; `cpu` is its folder in the `cpu` hierarchy, where there is one.
///
/// # Errors
/// When `cpuacct.usage` cannot be read.
pub fn cpu(cpuacct: &Path, cpu: Option<&Path>) -> Result<CpuReading, Unreadable> {
    let throttled = cpu.map_or_else(
        || Known::Absent("the group has no `cpu` controller".to_owned()),
        |folder| {
            let parser = |text: &str| keyed(text, "throttled_time");
            known(&folder.join("cpu.stat"), "`throttled_time`", parser)
        },
    );
    Ok(CpuReading {
        cpu_ns: value(&cpuacct.join("cpuacct.usage"), "a number", single)?,
        per_cpu_ns: known(
            &cpuacct.join("cpuacct.usage_percpu"),
            "numbers",
            parse_per_cpu,
        ),
        throttled_ns: throttled,
        source: Source::CgroupV1,
        granularity_ns: 1,
    })
}

/// Anonymous and shared memory of `memory.stat`, the group's children included.
#[must_use]
pub fn parse_memory(text: &str) -> Option<(u64, Option<u64>)> {
    let anonymous = keyed(text, "total_rss")?;
    Some((anonymous, keyed(text, "total_shmem")))
}

/// Reads memory of a group. Kernel memory is `memory.kmem.usage_in_bytes` and
/// `memory.kmem.tcp.usage_in_bytes` together.
///
/// # Errors
/// When `memory.stat` cannot be read.
pub fn memory(folder: &Path) -> Result<MemoryReading, Unreadable> {
    let (anonymous_bytes, shared) =
        value(&folder.join("memory.stat"), "`total_rss`", parse_memory)?;
    let number = |name: &str| value(&folder.join(name), "a number", single);
    let kernel = number("memory.kmem.usage_in_bytes").map(|kernel| {
        // Socket memory is charged apart, and only where TCP accounting is built in.
        kernel + number("memory.kmem.tcp.usage_in_bytes").unwrap_or(0)
    });
    Ok(MemoryReading {
        anonymous_bytes,
        shared_bytes: shared.map_or_else(
            || Known::Absent("memory.stat has no `total_shmem`".to_owned()),
            Known::Value,
        ),
        kernel_bytes: Known::from(kernel),
        kernel_peak_bytes: Known::from(number("memory.max_usage_in_bytes")),
        source: Source::CgroupV1,
    })
}

/// Kills for want of memory in this very cgroup: `oom_kill` of `memory.oom_control` (kernel 4.13 on).
/// A parent does not count its children's.
pub fn oom_kills(folder: &Path) -> Known<u64> {
    let parser = |text: &str| keyed(text, "oom_kill");
    known(&folder.join("memory.oom_control"), "`oom_kill`", parser)
}

/// A limit in bytes; absent when the kernel prints its largest number, which means none.
#[must_use]
pub fn parse_limit(text: &str) -> Option<u64> {
    // The kernel rounds "none" down to whole pages, so the exact number depends on the page size.
    single(text).filter(|bytes| *bytes < i64::MAX.unsigned_abs() - (1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchys_totals_are_taken() {
        let stat = "cache 4096\nrss 1\nshmem 2\ntotal_cache 8192\ntotal_rss 300\ntotal_shmem 40\n";
        assert_eq!(parse_memory(stat), Some((300, Some(40))));
        assert_eq!(parse_memory("rss 1\ntotal_rss 300\n"), Some((300, None)));
        assert_eq!(parse_memory("rss 1\n"), None);
    }

    #[test]
    fn per_cpu_counts_are_numbered() {
        let expected = BTreeMap::from([(0, 593), (1, 645)]);
        assert_eq!(parse_per_cpu("593 645 \n"), Some(expected));
        assert_eq!(parse_per_cpu("\n"), None);
        assert_eq!(parse_per_cpu("1 x"), None);
    }

    #[test]
    fn no_limit_is_no_number() {
        assert_eq!(parse_limit("9223372036854771712\n"), None);
        assert_eq!(parse_limit("33554432\n"), Some(33_554_432));
    }
}
