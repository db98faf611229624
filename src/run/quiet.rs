//! Quiet after a warm-up: waited for, bounded, recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::bench::Bench;
use super::broken::Broken;
use super::edge::used;
use super::groups::Place;
use super::turn::{Begun, Turn};
use crate::model::reading::{HostReading, IdleReading};
use crate::model::{Nanoseconds, RoleReading};
use crate::record::event::StepKind;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);
/// Thousandths of a core below which a candidate is idle.
const IDLE_MILLICORES: u64 = 20;
/// Dirty memory below which the disk is at rest.
const FEW_DIRTY_BYTES: u64 = 32 << 20;

/// Waits until the candidate's CPU is at idle level and dirty memory is low, at most `longest`.
/// Time that runs out is recorded and is no fault.
pub(super) async fn wait(
    bench: &mut Bench<'_>,
    turn: &Turn<'_>,
    candidate: &Place,
    longest: Nanoseconds,
) -> Result<(), Broken> {
    if longest.0 == 0 {
        return Ok(());
    }
    let begun = Begun::step(bench, turn, StepKind::Quiet, turn.candidate.name.as_str());
    let mut facts = looks(bench, candidate, longest.duration()).await?;
    facts.insert("longest".to_owned(), longest.to_string());
    begun.end(bench, None, facts)?;
    Ok(())
}

async fn looks(
    bench: &Bench<'_>,
    candidate: &Place,
    longest: Duration,
) -> Result<BTreeMap<String, String>, Broken> {
    let deadline = Instant::now() + longest;
    let mut before = candidate.engine.read(&candidate.group).await?;
    loop {
        bench.pause(LOOK.min(longest)).await?;
        let after = candidate.engine.read(&candidate.group).await?;
        let look = Look::between(&before, &after, &bench.host()?);
        if look.is_quiet() || Instant::now() + LOOK > deadline {
            return Ok(look.facts());
        }
        before = after;
    }
}

/// What was seen in one look. A number that cannot be read does not hold up the run.
struct Look {
    millicores: Option<u64>,
    granularity_millicores: u64,
    dirty_bytes: Option<u64>,
}

impl Look {
    fn between(before: &RoleReading, after: &RoleReading, host: &HostReading) -> Self {
        let used = used(before, after);
        let step = after.cpu.value().map_or(0, |cpu| cpu.granularity_ns);
        let over = used.as_ref().map_or(0, |used| used.over_ns);
        Self {
            millicores: used.map(|used| millicores(&used)),
            granularity_millicores: (step * 1000).checked_div(over).unwrap_or(0),
            dirty_bytes: host.dirty_bytes.value().copied(),
        }
    }

    fn is_quiet(&self) -> bool {
        let level = IDLE_MILLICORES + self.granularity_millicores;
        self.millicores.is_none_or(|found| found <= level)
            && self
                .dirty_bytes
                .is_none_or(|found| found <= FEW_DIRTY_BYTES)
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let number = |number: Option<u64>| {
            number.map_or_else(|| "unknown".to_owned(), |number| number.to_string())
        };
        BTreeMap::from([
            (
                "quiet".to_owned(),
                if self.is_quiet() { "yes" } else { "no" }.to_owned(),
            ),
            ("millicores".to_owned(), number(self.millicores)),
            ("dirty_bytes".to_owned(), number(self.dirty_bytes)),
        ])
    }
}

/// Thousandths of a core.
pub(super) fn millicores(used: &IdleReading) -> u64 {
    (used.cpu_ns * 1000).checked_div(used.over_ns).unwrap_or(0)
}
