//! The kinds of events, and the try at a block that one belongs to.

use super::{Attempt, Event};

impl Event {
    /// The try at a block that it belongs to; absent: to none.
    #[must_use]
    pub fn attempt(&self) -> Option<&Attempt> {
        match self {
            Self::BlockStarted(it) => Some(&it.attempt),
            Self::Probed(it) => Some(&it.attempt),
            Self::Step(it) => Some(&it.attempt),
            Self::ContractChecked(it) => Some(&it.attempt),
            Self::WarmedUp(it) => Some(&it.attempt),
            Self::Measured(it) => Some(&it.attempt),
            Self::BlockFinished(it) => Some(&it.attempt),
            Self::Opened(_)
            | Self::Session(_)
            | Self::Calibrated(_)
            | Self::Rehearsed(_)
            | Self::Closed { .. }
            | Self::Sealed { .. } => None,
        }
    }

    /// The word of every kind of event, as it stands in a line.
    pub const KINDS: [&'static str; 13] = [
        "opened",
        "session",
        "calibrated",
        "rehearsed",
        "block_started",
        "probed",
        "step",
        "contract_checked",
        "warmed_up",
        "measured",
        "block_finished",
        "closed",
        "sealed",
    ];

    /// The word of its kind, as it stands in a line.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        let index = match self {
            Self::Opened(_) => 0,
            Self::Session(_) => 1,
            Self::Calibrated(_) => 2,
            Self::Rehearsed(_) => 3,
            Self::BlockStarted(_) => 4,
            Self::Probed(_) => 5,
            Self::Step(_) => 6,
            Self::ContractChecked(_) => 7,
            Self::WarmedUp(_) => 8,
            Self::Measured(_) => 9,
            Self::BlockFinished(_) => 10,
            Self::Closed { .. } => 11,
            Self::Sealed { .. } => 12,
        };
        Self::KINDS[index]
    }
}
