//! The ledger: what people decided about a draft, one JSON line each. Nothing is deleted.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::durable::{self, DiskError, shown};
use super::event::Attempt;
use super::layout;
use crate::model::MeasurementId;

/// One decision of a person: a line of `ledger.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerLine {
    /// What is excluded.
    pub attempt: Attempt,
    /// Which of its measurements; absent: the whole block.
    pub measurement: Option<MeasurementId>,
    /// The reason.
    pub because: String,
    /// Who decided.
    pub by: String,
    /// The day, UTC, `YYYY-MM-DD`.
    pub on: String,
}

/// Why a ledger cannot be read or added to.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A line is no decision.
    #[error("{}, line {line}: no decision: {because}", shown(path))]
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        because: String,
    },
}

/// Adds a decision and waits until it is on disk.
///
/// # Errors
/// When the ledger is damaged, or the disk refuses; then nothing was added.
pub fn append(folder: &Path, decision: &LedgerLine) -> Result<(), LedgerError> {
    read(folder)?;
    let path = folder.join(layout::LEDGER);
    let mut options = OpenOptions::new();
    // Whatever is there was just read, so it is no pipe that would wait for a reader.
    let opened = options.append(true).create(true).open(&path);
    let mut file = opened.map_err(DiskError::because("open", &path))?;
    let before = file
        .metadata()
        .map_err(DiskError::because("read", &path))?
        .len();
    let mut bytes = serde_json::to_vec(decision).map_err(|error| LedgerError::Line {
        path: path.clone(),
        line: 0,
        because: error.to_string(),
    })?;
    bytes.push(b'\n');
    let written = file.write_all(&bytes).and_then(|()| file.sync_all());
    if let Err(source) = written {
        let _unfinished = file.set_len(before);
        return Err(DiskError::because("append to", &path)(source).into());
    }
    durable::sync_folder(folder)?;
    Ok(())
}

/// Reads every decision; none where there is no ledger.
///
/// # Errors
/// When a line is no decision, or the file cannot be read.
pub fn read(folder: &Path) -> Result<Vec<LedgerLine>, LedgerError> {
    let path = folder.join(layout::LEDGER);
    match durable::read(&path) {
        Ok(bytes) => parse(&bytes, &path),
        Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Reads every decision from the bytes of a ledger; `path` is for messages.
///
/// # Errors
/// When a line is no decision or the last one has no end.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Vec<LedgerLine>, LedgerError> {
    let fault = |line: usize, because: String| LedgerError::Line {
        path: path.to_path_buf(),
        line,
        because: because.escape_debug().to_string(),
    };
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let decision = |(index, line): (usize, &&[u8])| {
        let whole = line.strip_suffix(b"\n");
        let line = whole.ok_or_else(|| fault(index + 1, "it has no line end".to_owned()))?;
        serde_json::from_slice(line).map_err(|error| fault(index + 1, error.to_string()))
    };
    lines.iter().enumerate().map(decision).collect()
}
