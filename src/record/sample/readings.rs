//! Made-up readings of the machine, the roles and the probe.

use std::collections::BTreeMap;

use super::{Fault, Sample, noisy};
use crate::model::code::GuardCode;
use crate::model::reading::{
    CpuReading, CpuTimes, Edge, EffectiveLimits, FixedWork, HostReading, MemberReading,
    MemoryReading, ProbeReading,
};
use crate::model::{
    Account, Bytes, Count, CpuSet, Known, LatencyValue, Quantile, Role, RoleReading, Source,
};

/// Planned rate of the probe, requests per second.
pub(super) const PROBE_RATE: u64 = 4_000;
const SECOND: u64 = 1_000_000_000;

/// The machine at a moment, with so much CPU time used on CPU 0 by the candidate, on CPU 1 by the
/// generator, and taken from CPU 0 by others, all nanoseconds since the block began.
pub(super) fn host(
    monotonic_ns: u64,
    candidate_ns: u64,
    load_ns: u64,
    steal_ns: u64,
) -> HostReading {
    let base = monotonic_ns / 100;
    let times = |used: u64, steal: u64| CpuTimes {
        busy_ns: base + used,
        softirq_ns: used / 10,
        idle_ns: (monotonic_ns - base).saturating_sub(used + steal),
        steal_ns: steal,
    };
    HostReading {
        monotonic_ns,
        boottime_ns: monotonic_ns,
        realtime_ns: crate::record::memory::SAMPLE_EPOCH_NS + monotonic_ns,
        uncertainty_ns: 50_000,
        cpus: BTreeMap::from([(0, times(candidate_ns, steal_ns)), (1, times(load_ns, 0))]),
        granularity_ns: 10_000_000,
        used_per_cpu_ns: Known::Value(BTreeMap::from([(0, candidate_ns), (1, load_ns)])),
        swapped_pages: Known::Value(0),
        context_switches: Known::Value(monotonic_ns / 1_000_000),
        dirty_bytes: Known::Value(8_192),
        retransmitted_segments: Known::Value(3),
        listen_overflows: Known::Value(0),
        cpu_pressure_us: Known::Value(0),
        own_cpu_ns: monotonic_ns / 1_000,
    }
}

/// The group of a role at a moment.
pub(super) fn role(role: &Role, monotonic_ns: u64, cpu_ns: u64, memory_bytes: u64) -> RoleReading {
    let cpu = if *role == Role::Candidate { 0 } else { 1 };
    RoleReading {
        role: role.clone(),
        monotonic_ns,
        uncertainty_ns: 20_000,
        cpu: Known::Value(CpuReading {
            cpu_ns,
            per_cpu_ns: Known::Value(BTreeMap::from([(cpu, cpu_ns)])),
            throttled_ns: Known::Value(0),
            source: Source::CgroupV2,
            granularity_ns: 1,
        }),
        memory: Known::Value(MemoryReading {
            anonymous_bytes: memory_bytes,
            shared_bytes: Known::Value(0),
            kernel_bytes: Known::Value(1 << 20),
            kernel_peak_bytes: Known::Value(memory_bytes + (2 << 20)),
            source: Source::CgroupV2,
        }),
        processes: Known::Value(2),
        refused_processes: Known::Value(0),
        run_delay_ns: Known::Value(cpu_ns / 1_000),
        members: vec![MemberReading {
            name: "main".parse().expect("a made-up name is plain"),
            alive: true,
            ended: None,
            oom_kills: Known::Value(0),
        }],
    }
}

/// The edge of a counter window.
pub(super) fn edge(host: HostReading, candidate_ns: u64, load_ns: u64, memory_bytes: u64) -> Edge {
    let at = host.monotonic_ns;
    let limits = |cpu| EffectiveLimits {
        cpus: Known::Value(CpuSet::of([cpu]).expect("one CPU is a set")),
        memory: Known::Value(Bytes(256 << 20)),
        processes: Known::Value(64),
    };
    Edge {
        host,
        roles: BTreeMap::from([
            (
                Role::Candidate,
                role(&Role::Candidate, at, candidate_ns, memory_bytes),
            ),
            (Role::Load, role(&Role::Load, at, load_ns, 20 << 20)),
        ]),
        limits: BTreeMap::from([(Role::Candidate, limits(0)), (Role::Load, limits(1))]),
        outside_ns: BTreeMap::new(),
    }
}

/// Response times at the printed quantiles: the median, and from there on ever longer.
pub(super) fn latency(p50_ns: u64) -> BTreeMap<Quantile, LatencyValue> {
    const TENTHS: [u64; 9] = [7, 8, 10, 12, 15, 20, 30, 60, 90];
    let values = Quantile::PRINTED.into_iter().zip(TENTHS);
    values
        .map(|(quantile, tenths)| (quantile, LatencyValue::Exactly(p50_ns * tenths / 10)))
        .collect()
}

/// The fixed-work loop on the candidate's CPU.
pub(super) fn fixed_work(sample: &Sample, of: &str) -> Known<FixedWork> {
    let took = noisy(sample, &format!("{of}.work"), 5_000_000);
    Known::Value(FixedWork {
        per_cpu_ns: BTreeMap::from([(0, took)]),
    })
}

/// A reading of the reference nginx: 20 us a request.
pub(super) fn probe(sample: &Sample, of: &str, fault: Option<Fault>) -> ProbeReading {
    let below = fault == Some(Fault::Breach(GuardCode::ProbeBelowFloor));
    let answered = if below { PROBE_RATE / 2 } else { PROBE_RATE };
    ProbeReading {
        account: Known::Value(Account {
            planned: Some(PROBE_RATE),
            sent: Count::Observed(answered),
            answered: Count::Observed(answered),
            by_status: BTreeMap::from([(200, answered)]),
            aborted: Count::Observed(0),
            errors: BTreeMap::new(),
            late: crate::model::account::Late::Exactly(0),
            body_bytes: answered * 612,
            elapsed_ns: SECOND,
            latency: latency(noisy(sample, &format!("{of}.p50"), 100_000)),
            release_lag_p99_ns: Known::Value(1_000_000),
            burst: Known::Value(4),
            longest_pause_ns: Known::Value(1_000_000),
            run_delay_ns: Known::Value(100_000),
        }),
        cpu_ns: Known::Value(answered * noisy(sample, of, 20_000)),
        cpu_unsure_ns: 0,
        load_cpu_ns: Known::Value(SECOND / 4),
        window_ns: SECOND + 50_000_000,
        witness: Known::Value(answered),
        fixed_work: fixed_work(sample, of),
    }
}
