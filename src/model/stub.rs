//! Settings of loadlab's own test server: what each request costs, and which faults it shows on demand.

use serde::{Deserialize, Serialize};

use super::unit::{Bytes, Nanoseconds, Share};

/// Settings of loadlab's own test server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stub {
    /// CPU time burnt for each request.
    pub work: Nanoseconds,
    /// Time waited before each answer.
    pub wait: Nanoseconds,
    /// Memory held while a request waits.
    pub hold: Bytes,
    /// Status of each answer.
    pub status: u16,
    /// Length of each answer's body.
    pub body: Bytes,
    /// Faults that it shows on purpose; none when absent.
    #[serde(skip_serializing_if = "StubFaults::is_none", default)]
    pub faults: StubFaults,
}

/// Faults that the test server shows on purpose. Requests are numbered from 1 in the order of their
/// arrival since it started; requests for its own account are not numbered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StubFaults {
    /// Wrong answers; absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wrong: Option<WrongAnswers>,
    /// One in so many requests ends its connection without an answer, at least 1; absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub drop_every: Option<u64>,
    /// Times at which nothing is answered; absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stall: Option<Stalls>,
    /// Requests after which none is answered any more; absent: all are answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub silent_after: Option<u64>,
    /// Requests after which it exits; absent: it lives until it is stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_after: Option<u64>,
    /// Memory that each request leaves behind for ever; absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub eat: Option<Bytes>,
    /// CPU time that each request costs more than the one before; absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub grow: Option<Nanoseconds>,
    /// Processes that it starts; absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub children: Option<Children>,
    /// Share of a core that a process outside its group burns from the first request on, on the same
    /// CPUs; absent: there is no such process.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub escape: Option<Share>,
    /// Time after its start until it accepts connections; absent: at once.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub listen_after: Option<Nanoseconds>,
}

impl StubFaults {
    /// Whether it behaves.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Wrong answers, counted as answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongAnswers {
    /// One in so many requests gets one, at least 1.
    pub every: u64,
    /// Length of the wrong body; absent: other bytes of the right length.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub body: Option<Bytes>,
    /// Status of the wrong answer; absent: the right one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
}

/// Times at which the whole server stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// From the beginning of one to the beginning of the next; the first begins this long after it listens.
    pub every: Nanoseconds,
    /// How long it stands still, shorter than `every`.
    pub time: Nanoseconds,
}

/// Processes that the server starts in its own group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Children {
    /// One in so many requests starts one, at least 1.
    pub every: u64,
    /// How long each lives, whether the server does or not.
    pub time: Nanoseconds,
    /// Share of a core that each burns; absent: it only sleeps.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<Share>,
}
