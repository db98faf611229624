//! loadlab's own test server as it is written: what a request costs, and faults on demand.

use schemars::JsonSchema;
use serde::Deserialize;

use super::leaf::{Duration, Share, Size};

/// loadlab's own test server. It has one port, `http`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Stub {
    /// CPU time burnt for each request. Default: 0s.
    #[schemars(example = &"100us")]
    pub(in crate::manifest) work: Option<Duration>,
    /// Time waited before each answer. Default: 0s.
    #[schemars(example = &"10ms")]
    pub(in crate::manifest) wait: Option<Duration>,
    /// Memory held while a request waits. Default: 0B.
    #[schemars(example = &"64KiB")]
    pub(in crate::manifest) hold: Option<Size>,
    /// Status of each answer. Default: 200.
    #[schemars(range(min = 200, max = 599), example = 200)]
    pub(in crate::manifest) status: Option<u16>,
    /// Length of each answer's body. Default: 2B.
    #[schemars(example = &"2B")]
    pub(in crate::manifest) body: Option<Size>,
    /// Faults that it shows on purpose, to see that a run finds them. Default: none.
    pub(in crate::manifest) faults: Option<Faults>,
}

/// Faults on demand. Requests are numbered from 1 in the order of their arrival since the server started;
/// its own account is not numbered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Faults {
    /// Wrong answers. Default: none.
    pub(in crate::manifest) wrong: Option<WrongAnswers>,
    /// One in so many requests ends its connection without an answer. Default: none.
    #[schemars(range(min = 1), example = 100)]
    pub(in crate::manifest) drop_every: Option<u64>,
    /// Times at which the whole server stands still. Default: none.
    pub(in crate::manifest) stall: Option<Stalls>,
    /// Requests after which none is answered any more. Default: all are answered.
    #[schemars(range(min = 0), example = 1000)]
    pub(in crate::manifest) silent_after: Option<u64>,
    /// Requests after which it exits. Default: it lives until it is stopped.
    #[schemars(range(min = 0), example = 1000)]
    pub(in crate::manifest) exit_after: Option<u64>,
    /// Memory that each request leaves behind for ever. Default: 0B.
    #[schemars(example = &"64KiB")]
    pub(in crate::manifest) eat: Option<Size>,
    /// CPU time that each request costs more than the one before. Default: 0s.
    #[schemars(example = &"10ns")]
    pub(in crate::manifest) grow: Option<Duration>,
    /// Processes that it starts in its own group. Default: none.
    pub(in crate::manifest) children: Option<Children>,
    /// Share of a core that a process outside its group burns from the first request on, on the same
    /// CPUs. Default: there is no such process.
    #[schemars(example = &"30%")]
    pub(in crate::manifest) escape: Option<Share>,
    /// Time after its start until it accepts connections. Default: 0s.
    #[schemars(example = &"20s")]
    pub(in crate::manifest) listen_after: Option<Duration>,
}

/// Wrong answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct WrongAnswers {
    /// One in so many requests gets one.
    #[schemars(range(min = 1), example = 5)]
    pub(in crate::manifest) every: u64,
    /// Length of the wrong body. Default: other bytes of the right length.
    #[schemars(example = &"3B")]
    pub(in crate::manifest) body: Option<Size>,
    /// Status of the wrong answer. Default: the right one.
    #[schemars(range(min = 200, max = 599), example = 500)]
    pub(in crate::manifest) status: Option<u16>,
}

/// Times at which the whole server stands still.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Stalls {
    /// From the beginning of one to the beginning of the next; the first comes this long after the start.
    #[schemars(example = &"2s")]
    pub(in crate::manifest) every: Duration,
    /// How long it stands still, shorter than `every`.
    #[schemars(example = &"500ms")]
    pub(in crate::manifest) time: Duration,
}

/// Processes that the server starts in its own group.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Children {
    /// One in so many requests starts one.
    #[schemars(range(min = 1), example = 100)]
    pub(in crate::manifest) every: u64,
    /// How long each lives, whether the server does or not.
    #[schemars(example = &"5s")]
    pub(in crate::manifest) time: Duration,
    /// Share of a core that each burns. Default: it only sleeps.
    #[schemars(example = &"10%")]
    pub(in crate::manifest) cpu: Option<Share>,
}
