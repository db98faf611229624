//! Why a draft is refused.

use std::path::PathBuf;

use crate::model::Digest;
use crate::record::durable::{DiskError, shown};
use crate::record::ledger::LedgerError;
use crate::record::reader::ReadError;

/// Why a draft cannot be made or opened.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// There is a draft of this name.
    #[error("{} exists already; nothing was written", shown(.0))]
    Exists(PathBuf),
    /// A template's name that would leave the folder.
    #[error("`{}` is no plain relative path for a template", .0.escape_debug())]
    Name(String),
    /// There is no such folder.
    #[error("there is no folder {}; drafts lie in `runs/<experiment>/`", shown(.0))]
    NoFolder(PathBuf),
    /// A file that every draft has is not there.
    #[error(
        "{} is no draft: it has no plain file `{missing}`; was the run killed while it was made? Then nothing was measured: run again",
        shown(folder)
    )]
    Incomplete {
        /// The folder.
        folder: PathBuf,
        /// The file.
        missing: &'static str,
    },
    /// The records are gone, but what they name is there.
    #[error(
        "{} was measured into, but its `records.jsonl` is gone or empty; put it back, or run again",
        shown(.0)
    )]
    Lost(PathBuf),
    /// A file that is not what loadlab wrote.
    #[error("cannot read {}: {because}", shown(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its place.
        because: String,
    },
    /// A file whose bytes are not those that the records were begun with.
    #[error(
        "{} is not what the run began with: {found}, but the records say {expected}; put it back, or run again",
        shown(path)
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Digest of the bytes that are there.
        found: Digest,
        /// What the records say.
        expected: Digest,
    },
    /// An entry where a draft was expected.
    #[error("{} is a published entry, not a draft; entries are never changed", shown(.0))]
    Entry(PathBuf),
    /// The records cannot be read.
    #[error(transparent)]
    Records(#[from] ReadError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}
