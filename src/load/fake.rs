//! A fake load generator for tests: describes a member that a fake engine runs, and counts what it is
//! told to count.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Address, LoadGenerator, RawOutput, Unreadable, Unsupported, WindowStart};
use crate::engine::fake::{GATE_LINE, LOAD_NS, LOAD_PORT, LOAD_REQUESTS, RESULT_FILE, START_LINE};
use crate::engine::{MemberChange, MemberEvent, MemberSpec};
use crate::model::account::Late;
use crate::model::account::{Account, Count, LatencyValue};
use crate::model::facts::GeneratorFacts;
use crate::model::{CpuSet, Digest, Known, Shot};

/// Answers per connection and second in a closed loop.
pub const CLOSED_LOOP_RATE: u64 = 100;

type Counted = dyn Fn(&Shot, Account) -> Result<Account, Unreadable> + Send + Sync;

/// The fake generator.
#[derive(Clone)]
pub struct FakeGenerator {
    counted: Arc<Counted>,
}

impl Default for FakeGenerator {
    fn default() -> Self {
        Self::counting(|_, account| Ok(account))
    }
}

impl FakeGenerator {
    /// A generator whose account is what this makes of a perfect one.
    pub fn counting(
        counted: impl Fn(&Shot, Account) -> Result<Account, Unreadable> + Send + Sync + 'static,
    ) -> Self {
        Self {
            counted: Arc::new(counted),
        }
    }
}

/// How many requests a shot sends when everything goes well.
#[must_use]
pub fn requests(shot: &Shot) -> u64 {
    let closed = u64::from(shot.connections) * CLOSED_LOOP_RATE * shot.duration.0 / 1_000_000_000;
    shot.planned().unwrap_or(closed)
}

/// The account of a shot in which everything was answered as expected within a millisecond.
#[must_use]
pub fn perfect(shot: &Shot) -> Account {
    let all = requests(shot);
    let quantiles = shot.quantiles.iter();
    Account {
        planned: shot.planned(),
        sent: Count::Observed(all),
        answered: Count::Observed(all),
        by_status: BTreeMap::from([(shot.status, all)]),
        aborted: Count::Observed(0),
        errors: BTreeMap::new(),
        late: Late::Exactly(0),
        body_bytes: 3 * all,
        elapsed_ns: shot.duration.0,
        latency: quantiles
            .map(|quantile| (*quantile, LatencyValue::Exactly(1_000_000)))
            .collect(),
        release_lag_p99_ns: Known::Value(1_000),
        burst: Known::Value(1),
        longest_pause_ns: Known::Value(1_000_000),
        run_delay_ns: Known::Value(100_000),
    }
}

impl LoadGenerator for FakeGenerator {
    fn facts(&self) -> GeneratorFacts {
        GeneratorFacts {
            name: "fake".to_owned(),
            version: "1".to_owned(),
            digest: Digest::of(b"fake"),
            marks_start: true,
        }
    }

    fn member(
        &self,
        shot: &Shot,
        address: &Address,
        _cpus: &CpuSet,
    ) -> Result<MemberSpec, Unsupported> {
        let name = "generator".parse().map_err(|_| Unsupported {
            generator: "fake".to_owned(),
            what: "name its member".to_owned(),
        })?;
        Ok(MemberSpec {
            name,
            command: vec!["fake-generator".to_owned(), shot.at.to_string()],
            env: BTreeMap::from([
                (LOAD_NS.to_owned(), shot.duration.0.to_string()),
                (LOAD_REQUESTS.to_owned(), requests(shot).to_string()),
                (LOAD_PORT.to_owned(), address.port.to_string()),
            ]),
            files: BTreeMap::new(),
            user: None,
            grace: Duration::from_secs(1),
            gated: true,
            outputs: vec![RESULT_FILE.to_owned()],
        })
    }

    fn at_gate(&self, event: &MemberEvent) -> bool {
        event.what == MemberChange::Line(GATE_LINE.as_bytes().to_vec())
    }

    fn window(&self, event: &MemberEvent) -> Option<WindowStart> {
        let MemberChange::Line(line) = &event.what else {
            return None;
        };
        let number = std::str::from_utf8(line).ok()?.strip_prefix(START_LINE)?;
        Some(WindowStart {
            monotonic_ns: number.parse().ok()?,
        })
    }

    fn account(&self, raw: &RawOutput, shot: &Shot) -> Result<Account, Unreadable> {
        if !raw.contains_key(RESULT_FILE) {
            return Err(Unreadable {
                because: format!("no {RESULT_FILE}"),
            });
        }
        (self.counted)(shot, perfect(shot))
    }
}
