//! Shots and accounts: one load window as it is asked of a generator, and what it counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::metric::Quantile;
use super::phase::LoadPoint;
use super::unit::{Nanoseconds, Rate};

/// One load window as it is asked of a generator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Shot {
    /// What is sent.
    pub request: BoundRequest,
    /// Open loop at a rate, or closed loop.
    pub at: LoadPoint,
    /// Connections; at a ceiling the same number as in `at`.
    pub connections: u32,
    /// The load window.
    pub duration: Nanoseconds,
    /// Longest wait for one answer.
    pub timeout: Nanoseconds,
    /// Threads of the generator: the CPUs of the load role.
    pub threads: u32,
    /// Whether every request is kept.
    pub keep_requests: bool,
    /// The status that counts as expected.
    pub status: u16,
    /// The quantiles wanted.
    pub quantiles: Vec<Quantile>,
}

impl Shot {
    /// The rate of an open-loop shot.
    #[must_use]
    pub const fn rate(&self) -> Option<Rate> {
        match self.at {
            LoadPoint::Rate(rate) => Some(rate),
            LoadPoint::Connections(_) => None,
        }
    }

    /// Requests planned; absent for a closed loop, which plans none.
    #[must_use]
    pub fn planned(&self) -> Option<u64> {
        self.rate().map(|rate| rate.planned(self.duration))
    }
}

/// A request with every placeholder bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BoundRequest {
    /// The method.
    pub method: String,
    /// Path with its query.
    pub path: String,
    /// Headers.
    pub headers: BTreeMap<String, String>,
    /// The body.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub body: Option<Vec<u8>>,
}

/// How a count came about. A number obtained by subtraction proves nothing.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// The generator counted it.
    Observed(u64),
    /// Computed from other counts.
    Derived(u64),
}

impl Count {
    /// The number, however it came about.
    #[must_use]
    pub const fn get(self) -> u64 {
        match self {
            Self::Observed(count) | Self::Derived(count) => count,
        }
    }
}

/// Answers after the load window's end.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Late {
    /// Counted.
    Exactly(u64),
    /// Cannot be told apart; no more than this.
    AtMost(u64),
}

/// A response time at a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LatencyValue {
    /// The value at the rank, nanoseconds.
    Exactly(u64),
    /// Between two values that the generator printed, nanoseconds, both inclusive.
    Between(u64, u64),
    /// No value, and why.
    Absent(String),
}

/// What happened in a load window, in integers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Account {
    /// Requests planned; absent for a closed loop.
    pub planned: Option<u64>,
    /// Requests that left the generator.
    pub sent: Count,
    /// Answers of any status.
    pub answered: Count,
    /// Answers by status.
    pub by_status: BTreeMap<u16, u64>,
    /// Requests given up at the window's end.
    pub aborted: Count,
    /// Errors by the generator's message.
    pub errors: BTreeMap<String, u64>,
    /// Answers after the load window's end.
    pub late: Late,
    /// Body bytes of all answers, as they came over the wire.
    pub body_bytes: u64,
    /// From the generator's start until the last answer, nanoseconds.
    pub elapsed_ns: u64,
    /// Response times over planned requests (over answers in a closed loop), by quantile.
    pub latency: BTreeMap<Quantile, LatencyValue>,
    /// Delay of the release of requests behind the plan at the 99th percentile, nanoseconds.
    pub release_lag_p99_ns: super::reading::Known<u64>,
    /// The largest number of requests released within one millisecond.
    pub burst: super::reading::Known<u64>,
    /// The longest time that the generator stood still while it made load, by its own watch, nanoseconds.
    /// Its clock of a request starts only when it runs again, so that no response time shows it.
    #[serde(default = "unwatched")]
    pub longest_pause_ns: super::reading::Known<u64>,
    /// Time that the generator's threads were runnable and waited for a CPU while it made load, by its own
    /// watch, nanoseconds.
    #[serde(default = "unwatched")]
    pub run_delay_ns: super::reading::Known<u64>,
}

/// What records say that were written before the generator watched itself.
fn unwatched() -> super::reading::Known<u64> {
    super::reading::Known::Absent("the generator did not watch itself".to_owned())
}

impl Account {
    /// Answers with this status.
    #[must_use]
    pub fn with_status(&self, status: u16) -> u64 {
        self.by_status.get(&status).copied().unwrap_or(0)
    }

    /// All errors together.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }
}
