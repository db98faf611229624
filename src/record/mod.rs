//! Records: immutable lines written while measuring, each with the hash of the line before it.
//!
//! Nothing rewrites a record. What a run has done is a fold over its lines, so resuming is a replay.

pub mod draft;
pub(crate) mod durable;
pub mod event;
pub mod fold;
pub mod inputs;
pub mod journal;
pub mod layout;
pub mod ledger;
pub mod memory;
pub mod progress;
pub mod reader;
pub mod resume;
#[doc(hidden)]
pub mod sample;
mod schema;
pub mod writer;

pub use draft::{Draft, DraftError};
pub use durable::DiskError;
pub use event::{Attempt, Event, Line};
pub use fold::{AttemptRecords, Records};
pub use inputs::{EngineFile, Inputs, Origin, entry_name};
pub use journal::{Journal, JournalError};
pub use ledger::{LedgerError, LedgerLine};
pub use memory::MemoryJournal;
pub use progress::{Ending, Following, IllegalSequence, Next, Progress};
pub use reader::{Lines, ReadError, ReadRecords, TornTail, read};
pub use resume::{Difference, check};
pub use schema::schema;
pub use writer::{Clock, WriteError, Writer};
