//! The edges of a counter window, the samples inside it, and the idle reading before it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::bench::Bench;
use super::broken::Broken;
use super::groups::Place;
use crate::engine::EngineError;
use crate::model::reading::{Edge, EffectiveLimits, IdleReading, Known, MemoryReading, Sample};
use crate::model::{Role, RoleReading};

/// How long roles are watched while idle: twenty clock ticks, where the counter is tick-based.
const IDLE: Duration = Duration::from_millis(200);

type Readings = BTreeMap<Role, RoleReading>;

/// The opening edge: the counters last, so that they are read as late as possible.
pub(super) async fn opening(bench: &Bench<'_>, places: &[&Place]) -> Result<Edge, Broken> {
    let limits = limits(places).await?;
    let outside_ns = outside(places).await?;
    let host = bench.host()?;
    let roles = readings(places).await?;
    Ok(Edge {
        host,
        roles,
        limits,
        outside_ns,
    })
}

/// The closing edge: the counters first, so that they are read as early as possible.
pub(super) async fn closing(bench: &Bench<'_>, places: &[&Place]) -> Result<Edge, Broken> {
    let roles = readings(places).await?;
    let host = bench.host()?;
    let limits = limits(places).await?;
    Ok(Edge {
        host,
        roles,
        limits,
        outside_ns: outside(places).await?,
    })
}

/// The counters of each role.
pub(super) async fn readings(places: &[&Place]) -> Result<Readings, EngineError> {
    let mut readings = Readings::new();
    for place in places {
        let reading = place.engine.read(&place.group).await?;
        readings.insert(place.group.role.clone(), reading);
    }
    Ok(readings)
}

async fn limits(places: &[&Place]) -> Result<BTreeMap<Role, EffectiveLimits>, EngineError> {
    let mut limits = BTreeMap::new();
    for place in places {
        let effective = place.engine.limits(&place.group).await?;
        limits.insert(place.group.role.clone(), effective);
    }
    Ok(limits)
}

/// What the candidate's processes used outside of its group.
async fn outside(places: &[&Place]) -> Result<BTreeMap<Role, Known<u64>>, EngineError> {
    let mut outside = BTreeMap::new();
    for Place { engine, group, .. } in places.iter().copied() {
        if group.role == Role::Candidate {
            outside.insert(group.role.clone(), engine.outside_ns(group).await?);
        }
    }
    Ok(outside)
}

/// A sample inside a window: what could not be read is left out.
pub(super) async fn sample(bench: &Bench<'_>, places: &[&Place]) -> Sample {
    let mut sample = Sample {
        monotonic_ns: bench.now_ns(),
        cpu_ns: BTreeMap::new(),
        memory_bytes: BTreeMap::new(),
    };
    for place in places {
        let Ok(reading) = place.engine.read(&place.group).await else {
            continue;
        };
        let role = &place.group.role;
        if let Known::Value(cpu) = &reading.cpu {
            sample.cpu_ns.insert(role.clone(), cpu.cpu_ns);
        }
        if let Known::Value(memory) = &reading.memory {
            sample.memory_bytes.insert(role.clone(), in_use(memory));
        }
    }
    sample
}

/// Anonymous plus shared memory, bytes; a source that does not tell shared memory apart has it in
/// another number.
fn in_use(memory: &MemoryReading) -> u64 {
    memory.anonymous_bytes + memory.shared_bytes.value().copied().unwrap_or(0)
}

/// What each role uses while nobody asks anything of it.
pub(super) async fn idle(
    bench: &Bench<'_>,
    places: &[&Place],
) -> Result<BTreeMap<Role, IdleReading>, Broken> {
    let before = readings(places).await?;
    bench.pause(IDLE).await?;
    let after = readings(places).await?;
    let pairs = after.iter();
    let pairs = pairs.filter_map(|(role, after)| Some((role, before.get(role)?, after)));
    Ok(pairs
        .filter_map(|(role, before, after)| Some((role.clone(), used(before, after)?)))
        .collect())
}

/// CPU time between two readings; absent where one is missing or went backwards.
pub(super) fn used(before: &RoleReading, after: &RoleReading) -> Option<IdleReading> {
    let cpu = |reading: &RoleReading| reading.cpu.value().map(|cpu| cpu.cpu_ns);
    Some(IdleReading {
        cpu_ns: cpu(after)?.checked_sub(cpu(before)?)?,
        over_ns: after.monotonic_ns.checked_sub(before.monotonic_ns)?,
    })
}
