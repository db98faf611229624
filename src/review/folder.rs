//! Reads a folder that may come from a stranger: no link is followed, nothing but plain files is
//! opened, and everything is bounded.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use sha2::Digest as _;

use crate::model::Digest;
use crate::record::layout;

/// The largest file that is read, bytes.
pub const LARGEST_FILE: u64 = 4 << 30;
/// The largest file that is taken into memory at once, bytes.
pub const LARGEST_TEXT: u64 = 256 << 20;
/// The most files that an entry may have.
pub const MOST_FILES: usize = 1_000_000;
/// The deepest nesting of folders.
pub const DEEPEST: usize = 8;

/// Something wrong with one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Its path relative to the folder.
    pub file: String,
    /// What is wrong: found and expected.
    pub what: String,
}

impl Fault {
    pub(crate) fn new(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.file.escape_debug(), self.what)
    }
}

/// Why a folder or one of its files cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`: {because}", path.to_string_lossy().escape_debug())]
pub struct FolderError {
    /// The folder or file.
    pub path: PathBuf,
    /// The cause.
    pub because: String,
}

/// What a folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Every plain file, by its path relative to the folder, with its length in bytes.
    pub files: BTreeMap<String, u64>,
    /// Links, devices, pipes, names that are not plain, files that are too large.
    pub faults: Vec<Fault>,
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    root: OwnedFd,
    path: PathBuf,
}

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// A pipe or device must not make the opening wait.
const FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// When it is none or cannot be read.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::empty());
        let root = opened.map_err(|error| FolderError {
            path: path.to_path_buf(),
            because: error.to_string(),
        })?;
        Ok(Self {
            root,
            path: path.to_path_buf(),
        })
    }

    /// Its path, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn error(&self, name: &str, because: impl fmt::Display) -> FolderError {
        FolderError {
            path: self.path.join(name),
            because: because.to_string(),
        }
    }

    /// Everything in it, however deep.
    ///
    /// # Errors
    /// When a folder cannot be read, or there is more than the bounds allow.
    pub fn list(&self) -> Result<Listing, FolderError> {
        let mut listing = Listing::default();
        self.walk(&self.root, "", 1, &mut listing)?;
        listing.faults.sort();
        Ok(listing)
    }

    fn walk(
        &self,
        folder: impl AsFd,
        prefix: &str,
        depth: usize,
        listing: &mut Listing,
    ) -> Result<(), FolderError> {
        if depth > DEEPEST {
            return Err(self.error(prefix, format!("folders are nested deeper than {DEEPEST}")));
        }
        let folder = folder.as_fd();
        let entries =
            rustix::fs::Dir::read_from(folder).map_err(|error| self.error(prefix, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| self.error(prefix, error))?;
            let bytes = entry.file_name().to_bytes();
            if matches!(bytes, b"." | b"..") {
                continue;
            }
            let name = format!("{prefix}{}", String::from_utf8_lossy(bytes));
            if listing.files.len() + listing.faults.len() >= MOST_FILES {
                return Err(self.error("", format!("it holds more than {MOST_FILES} files")));
            }
            if !layout::is_plain(&name) {
                listing
                    .faults
                    .push(Fault::new(name, "its name is not plain printable ASCII"));
                continue;
            }
            let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
            let stat = rustix::fs::statat(folder, entry.file_name(), flags)
                .map_err(|error| self.error(&name, error))?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    let inner =
                        rustix::fs::openat(folder, entry.file_name(), FOLDER, Mode::empty())
                            .map_err(|error| self.error(&name, error))?;
                    self.walk(&inner, &format!("{name}/"), depth + 1, listing)?;
                }
                FileType::RegularFile => {
                    let bytes = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
                    if bytes > LARGEST_FILE {
                        let what = format!("it has {bytes} bytes, expected at most {LARGEST_FILE}");
                        listing.faults.push(Fault::new(name, what));
                    } else {
                        listing.files.insert(name, bytes);
                    }
                }
                FileType::Symlink => listing
                    .faults
                    .push(Fault::new(name, "it is a symbolic link")),
                other => {
                    let what = format!("it is no file but a {}", special(other));
                    listing.faults.push(Fault::new(name, what));
                }
            }
        }
        Ok(())
    }

    /// Opens one of its plain files.
    ///
    /// # Errors
    /// When the name is not plain, a component is a link, or it is no plain file.
    pub fn file(&self, name: &str) -> Result<File, FolderError> {
        if !layout::is_plain(name) {
            return Err(self.error(name, "its name is not plain printable ASCII"));
        }
        let (folders, last) = name.rsplit_once('/').unwrap_or(("", name));
        let mut inner: Option<OwnedFd> = None;
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            let at = inner.as_ref().unwrap_or(&self.root);
            let opened = rustix::fs::openat(at, part, FOLDER, Mode::empty());
            inner = Some(opened.map_err(|error| self.error(name, error))?);
        }
        let at = inner.as_ref().unwrap_or(&self.root);
        let opened = rustix::fs::openat(at, last, FILE, Mode::empty());
        let file = File::from(opened.map_err(|error| match error {
            // With NOFOLLOW the kernel says so of a link as well, however few there are.
            rustix::io::Errno::LOOP => self.error(name, "it is a symbolic link"),
            error => self.error(name, error),
        })?);
        let facts = file.metadata().map_err(|error| self.error(name, error))?;
        if !facts.is_file() {
            return Err(self.error(name, "it is no plain file"));
        }
        if facts.len() > LARGEST_FILE {
            return Err(self.error(
                name,
                format!(
                    "it has {} bytes, expected at most {LARGEST_FILE}",
                    facts.len()
                ),
            ));
        }
        Ok(file)
    }

    /// Whether there is a plain file of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.file(name).is_ok()
    }

    /// The bytes of one of its files.
    ///
    /// # Errors
    /// As [`file`](Self::file), or when it is larger than [`LARGEST_TEXT`].
    pub fn read(&self, name: &str) -> Result<Vec<u8>, FolderError> {
        let mut bytes = Vec::new();
        let mut limited = self.file(name)?.take(LARGEST_TEXT + 1);
        limited
            .read_to_end(&mut bytes)
            .map_err(|error| self.error(name, error))?;
        if bytes.len() as u64 > LARGEST_TEXT {
            return Err(self.error(name, format!("it has more than {LARGEST_TEXT} bytes")));
        }
        Ok(bytes)
    }

    /// The digest of one of its files and its length, in bounded memory.
    ///
    /// # Errors
    /// As [`file`](Self::file).
    pub fn digest(&self, name: &str) -> Result<(Digest, u64), FolderError> {
        let mut file = self.file(name)?;
        let mut hasher = sha2::Sha256::new();
        let mut buffer = vec![0_u8; 256 << 10];
        let mut length = 0_u64;
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok((Digest::from_hasher(hasher), length)),
                Ok(count) => {
                    hasher.update(&buffer[..count]);
                    length += count as u64;
                    if length > LARGEST_FILE {
                        return Err(
                            self.error(name, format!("it has more than {LARGEST_FILE} bytes"))
                        );
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(name, error)),
            }
        }
    }
}

const fn special(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        _ => "thing of an unknown kind",
    }
}
