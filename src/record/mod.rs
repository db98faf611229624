//! Records: immutable lines written while measuring, each with the hash of the line before it.
//!
//! Nothing rewrites a record. What a run has done is a fold over its lines, so resuming is a replay.

pub mod event;
pub mod fold;
pub mod journal;
pub mod ledger;

pub use event::{Attempt, Event, Line};
pub use fold::{AttemptRecords, Records};
pub use journal::{Journal, JournalError};
pub use ledger::LedgerLine;
