//! What a run writes into: lines, raw outputs and logs, without knowing files.

use std::path::PathBuf;

use super::event::{Event, RawFile};

/// Why something could not be recorded. The run ends: what cannot be recorded was not measured.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {object}: {because}")]
pub struct JournalError {
    /// The verb: `append to`, `sync`, `write`, …
    pub operation: &'static str,
    /// What it was done to: a path relative to the draft.
    pub object: String,
    /// The cause.
    pub because: String,
}

/// Where a run's lines, raw outputs and logs go.
///
/// Nothing is durable before [`sync`](Self::sync) has returned, and nothing but `sync` waits for a disk:
/// a run calls it before it cleans up and never inside a window.
pub trait Journal: Send {
    /// Appends a line and hands it to the kernel.
    ///
    /// # Errors
    /// When it cannot be written.
    fn append(&mut self, event: Event) -> Result<(), JournalError>;

    /// Waits until every line and every raw file is on disk.
    ///
    /// # Errors
    /// When the disk refuses.
    fn sync(&mut self) -> Result<(), JournalError>;

    /// Keeps the bytes of a raw output as `raw/<name>`; never writes over a file.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<RawFile, JournalError>;

    /// The absolute path `logs/<name>` that an engine puts members' logs at; the folder exists.
    fn logs(&self, name: &str) -> PathBuf;
}
