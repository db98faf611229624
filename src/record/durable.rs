//! Files that are on disk before anyone goes on: exclusive creation and syncing, folders included.
//!
//! Nothing here overwrites: a file that is there already is an error.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Why a file could not be made, read or synced.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}: {source}{}", shown(path), hint(source))]
pub struct DiskError {
    /// The verb: `create`, `write`, `sync`, …
    pub doing: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The cause.
    pub source: std::io::Error,
}

/// A path for a message: in backticks, escaped.
pub(crate) fn shown(path: &Path) -> String {
    format!("`{}`", path.to_string_lossy().escape_debug())
}

fn hint(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::StorageFull => {
            "; nothing recorded so far is lost: free space there, then resume"
        }
        std::io::ErrorKind::ReadOnlyFilesystem => "; drafts need a folder that can be written",
        _ => "",
    }
}

impl DiskError {
    /// Makes an error of an operation on a path from its cause.
    pub(crate) fn because<'a>(
        doing: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |source| Self {
            doing,
            path: path.to_path_buf(),
            source,
        }
    }
}

/// Creates a file that must not exist yet and writes its bytes; returns it still unsynced.
///
/// # Errors
/// When it exists, or cannot be written; then no part of it stays.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<File, DiskError> {
    create_with(path, |file| file.write_all(bytes))
}

/// As [`create`], of bytes that are written piece by piece.
///
/// # Errors
/// As [`create`].
pub(crate) fn create_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<File, DiskError> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = made.map_err(DiskError::because("create", path))?;
    if let Err(source) = write(&mut file) {
        drop(file);
        let _unfinished = std::fs::remove_file(path);
        return Err(DiskError::because("write", path)(source));
    }
    Ok(file)
}

/// Creates a file that must not exist yet, writes and syncs it. Its folder is not synced.
///
/// # Errors
/// When it exists, or cannot be written or synced.
pub(crate) fn create_synced(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    create_synced_with(path, |file| file.write_all(bytes))
}

fn create_synced_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), DiskError> {
    let file = create_with(path, write)?;
    file.sync_all().map_err(DiskError::because("sync", path))
}

/// Puts a whole new file in the place of another: at any moment one of the two is there.
///
/// # Errors
/// When the disk refuses; then the earlier file stays.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    replace_with(path, |file| file.write_all(bytes))
}

/// As [`replace`], of bytes that are written piece by piece.
///
/// # Errors
/// As [`replace`].
pub(crate) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), DiskError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let new = path.with_file_name(name);
    let _left_behind = std::fs::remove_file(&new);
    create_synced_with(&new, write).inspect_err(|_| drop(std::fs::remove_file(&new)))?;
    std::fs::rename(&new, path).map_err(DiskError::because("replace", path))
}

/// Syncs a folder, so that the names in it survive a loss of power.
///
/// # Errors
/// When it cannot be opened or synced.
pub(crate) fn sync_folder(path: &Path) -> Result<(), DiskError> {
    let folder = File::open(path).map_err(DiskError::because("open", path))?;
    folder.sync_all().map_err(DiskError::because("sync", path))
}

/// Reads a whole file.
///
/// # Errors
/// As [`open`], or when it cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, DiskError> {
    let mut bytes = Vec::new();
    let read = open(path)?.read_to_end(&mut bytes);
    read.map_err(DiskError::because("read", path))?;
    Ok(bytes)
}

/// Opens a plain file for reading. A pipe in its place must not make the opening wait, nor a device the
/// reading.
///
/// # Errors
/// When it is not there, is no plain file, or cannot be opened.
pub(crate) fn open(path: &Path) -> Result<File, DiskError> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(DiskError::because("open", path))?;
    let facts = file.metadata().map_err(DiskError::because("read", path))?;
    if facts.is_file() {
        Ok(file)
    } else {
        let because = std::io::Error::other("it is no plain file");
        Err(DiskError::because("read", path)(because))
    }
}
