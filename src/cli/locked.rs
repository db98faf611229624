//! A manifest with its lock, as the verbs that need both read them.

use std::path::{Path, PathBuf};

use super::failure::{Code, Failure};
use super::paths;
use super::ui::{Ui, safe};
use crate::lock::{self, Lock, Locked, Mismatch};
use crate::manifest::Loaded;
use crate::model::plural::counted;

/// Where the lock of a manifest lies.
#[must_use]
pub fn path(loaded: &Loaded) -> PathBuf {
    loaded.folder.join(format!("{}.lock.json", loaded.stem))
}

/// Reads the lock of a manifest; absent: there is none.
///
/// # Errors
/// When it cannot be read or is none.
pub fn read(path: &Path) -> Result<Option<(Lock, Vec<u8>)>, Failure> {
    let Some(bytes) = paths::read(path, Code::Lock)? else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        Failure::new(
            Code::Lock,
            format!("cannot read {}: {error}", paths::shown(path)),
        )
    })?;
    let lock = Lock::from_text(text, &paths::shown(path))
        .map_err(|fault| Failure::new(Code::Lock, safe(&fault.to_string())))?;
    Ok(Some((lock, bytes)))
}

/// The lock of a manifest, which must be there and fit.
///
/// # Errors
/// When it is missing or does not match; every mismatch is printed.
pub fn require(loaded: &Loaded, ui: Ui) -> Result<(Locked, Vec<u8>), Failure> {
    let path = path(loaded);
    let shown = paths::shown(&path);
    let manifest = paths::shown(&loaded.folder.join(format!("{}.yaml", loaded.stem)));
    let Some((lock, bytes)) = read(&path)? else {
        let failure = Failure::new(Code::Lock, format!("{shown} is missing"));
        return Err(failure.hint(format!("pin every input with `loadlab lock {manifest}`")));
    };
    match lock::check(&loaded.experiment, &lock) {
        Ok(locked) => Ok((locked, bytes)),
        Err(mismatches) => Err(mismatched(&mismatches, &shown, ui)),
    }
}

/// Prints every mismatch.
pub fn mismatched(mismatches: &[Mismatch], shown: &str, ui: Ui) -> Failure {
    for mismatch in mismatches {
        ui.failure(&Failure::new(Code::Lock, safe(&mismatch.to_string())));
    }
    let count = counted(mismatches.len() as u64, "mismatch", "mismatches");
    ui.note(&format!("{shown}: {count}"));
    Failure::printed(Code::Lock)
}
