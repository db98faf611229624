//! Whether an entry is current, superseded or withdrawn: `<entry>.status.json` beside it, never inside.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::record::draft::from_json;
use crate::record::durable;

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is what the experiment says.
    Current,
    /// A later entry took its place.
    Superseded,
    /// It must not be relied on.
    Withdrawn,
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Current => "current",
            Self::Superseded => "superseded",
            Self::Withdrawn => "withdrawn",
        })
    }
}

/// What `<entry>.status.json` holds. Absent: the entry is current.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// Where it stands.
    pub status: Standing,
    /// The reason.
    pub because: String,
    /// Who decided.
    pub by: String,
    /// The day, UTC, `YYYY-MM-DD`.
    pub on: String,
}

/// Why a status cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} `{}`: {because}", path.to_string_lossy().escape_debug())]
pub struct StatusError {
    /// The verb.
    pub doing: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The cause.
    pub because: String,
}

/// The file beside an entry that says where it stands.
#[must_use]
pub fn path_of(entry: &Path) -> PathBuf {
    let mut name = entry.file_name().unwrap_or_default().to_os_string();
    name.push(".status.json");
    entry.with_file_name(name)
}

/// Where an entry stands; absent: nobody said, so it is current.
///
/// # Errors
/// When the file is no status.
pub fn read(entry: &Path) -> Result<Option<Status>, StatusError> {
    let path = path_of(entry);
    let error = |because: String| StatusError {
        doing: "read",
        path: path.clone(),
        because,
    };
    match durable::read(&path) {
        Ok(bytes) => from_json(&bytes).map(Some).map_err(error),
        Err(cause) if cause.source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(error(cause.source.to_string())),
    }
}

/// Says where an entry stands. The entry itself is not touched; the file beside it is replaced whole.
///
/// # Errors
/// When there is no such entry, a field is empty or no day, or the disk refuses.
pub fn write(entry: &Path, status: &Status) -> Result<(), StatusError> {
    let path = path_of(entry);
    let error = |because: String| StatusError {
        doing: "write",
        path: path.clone(),
        because,
    };
    if !entry.join(crate::record::layout::SUMS).is_file() {
        return Err(error(format!("{} is no published entry", shown(entry))));
    }
    super::exclude::decision(&status.because, &status.by, &status.on)
        .map_err(|fault| error(fault.to_string()))?;
    let mut text = serde_json::to_vec_pretty(status).map_err(|cause| error(cause.to_string()))?;
    text.push(b'\n');
    durable::replace(&path, &text).map_err(|cause| error(cause.source.to_string()))
}

fn shown(path: &Path) -> String {
    format!("`{}`", path.to_string_lossy().escape_debug())
}
