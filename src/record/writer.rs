//! The append-only writer of `records.jsonl`: one line, one write, each with the digest of the line before.
//!
//! It never rewrites a line. [`sync`](Writer::sync) is the only call that waits for the disk; the run
//! loop makes it between windows, never inside one.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use super::durable::{self, DiskError};
use super::event::{Event, Line, RawFile, SetAside};
use super::journal::{Journal, JournalError};
use super::layout;
use super::reader::{self, ReadError, TornTail};
use crate::model::Digest;

/// Tells the wall clock: nanoseconds since 1970.
pub type Clock = Box<dyn Fn() -> u64 + Send>;

/// Why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// What is there already cannot be gone on with.
    #[error("cannot go on with the records: {0}")]
    Existing(#[from] ReadError),
    /// Another loadlab writes this draft.
    #[error(
        "{} is being written by {holder}; wait until it has ended, or stop it",
        durable::shown(folder)
    )]
    Busy {
        /// The draft.
        folder: PathBuf,
        /// Who holds it, as far as is known.
        holder: String,
    },
    /// The records end with a seal.
    #[error("{} is sealed: a published entry takes no more records", durable::shown(.0))]
    Sealed(PathBuf),
    /// An earlier write failed and could not be taken back.
    #[error("{} has a torn last line since an earlier write failed; resume the draft", durable::shown(.0))]
    Torn(PathBuf),
    /// A name that would leave the folder or needs escaping.
    #[error("`{}` is no plain file name for a raw file", .0.escape_debug())]
    Name(String),
    /// An event that has no JSON form.
    #[error("cannot write an event as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl WriteError {
    /// The same as an error of the seam that a run writes into.
    fn of(self, operation: &'static str, object: &str) -> JournalError {
        let because = match &self {
            Self::Disk(error) => error.source.to_string(),
            other => other.to_string(),
        };
        JournalError {
            operation,
            object: object.to_owned(),
            because,
        }
    }
}

/// What the writer needs of a file; a seam for tests that a disk fills up.
trait Sink: Send {
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()>;
    fn shorten(&mut self, length: u64) -> std::io::Result<()>;
    fn sync(&mut self) -> std::io::Result<()>;
}

impl Sink for File {
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.write_all(bytes)
    }

    fn shorten(&mut self, length: u64) -> std::io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.sync_data()
    }
}

/// Writes the records of a draft. Holds the draft exclusively while it lives.
pub struct Writer {
    folder: PathBuf,
    path: PathBuf,
    file: Box<dyn Sink>,
    _hold: File,
    clock: Clock,
    next: Position,
    set_aside: Option<SetAside>,
    unsynced: Vec<(PathBuf, File)>,
    torn: bool,
}

/// Where the next line goes.
struct Position {
    length: u64,
    sequence: u64,
    previous: Digest,
}

impl Writer {
    /// Opens a draft's records to go on after the last whole line. A torn last line is moved to
    /// `set-aside/` first; its bytes are on disk there before they leave the records.
    ///
    /// # Errors
    /// When another process writes the draft, the records are damaged or sealed, or the disk refuses.
    pub fn open(folder: &Path, clock: Clock) -> Result<Self, WriteError> {
        let folder = &std::path::absolute(folder).map_err(DiskError::because("find", folder))?;
        let hold = hold(folder)?;
        let path = folder.join(layout::RECORDS);
        let mut options = OpenOptions::new();
        let opened = options.read(true).append(true).create(true).open(&path);
        let file = opened.map_err(DiskError::because("open", &path))?;
        let read = reader::read(&path)?;
        if matches!(
            read.records.lines().last().map(|line| &line.event),
            Some(Event::Sealed { .. })
        ) {
            return Err(WriteError::Sealed(folder.to_path_buf()));
        }
        let set_aside = match &read.torn {
            Some(tail) => Some(set_tail_aside(folder, &file, tail)?),
            None => unnamed_set_aside(folder, &read.records),
        };
        let next = Position {
            length: read.bytes,
            sequence: read.records.lines().len() as u64,
            previous: read.last,
        };
        durable::sync_folder(folder)?;
        Ok(Self {
            folder: folder.to_path_buf(),
            path,
            file: Box::new(file),
            _hold: hold,
            clock,
            next,
            set_aside,
            unsynced: Vec::new(),
            torn: false,
        })
    }

    /// The torn line that was set aside and that no session names yet; for the next session's record.
    #[must_use]
    pub const fn set_aside(&self) -> Option<&SetAside> {
        self.set_aside.as_ref()
    }

    /// The sequence number that the next line gets: 0 for an empty file.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.next.sequence
    }

    fn take_back(&mut self) {
        self.torn = self.file.shorten(self.next.length).is_err();
    }
}

impl Writer {
    /// Appends an event as one line. Does not wait for the disk.
    ///
    /// # Errors
    /// When it cannot be written; earlier lines stay intact.
    pub fn append(&mut self, event: Event) -> Result<(), WriteError> {
        if self.torn {
            return Err(WriteError::Torn(self.path.clone()));
        }
        let line = Line {
            sequence: self.next.sequence,
            previous: self.next.previous,
            realtime_ns: (self.clock)(),
            event,
        };
        let mut bytes = serde_json::to_vec(&line)?;
        let digest = Digest::of(&bytes);
        bytes.push(b'\n');
        if let Err(source) = self.file.append(&bytes) {
            self.take_back();
            return Err(DiskError::because("append to", &self.path)(source).into());
        }
        self.next = Position {
            length: self.next.length + bytes.len() as u64,
            sequence: self.next.sequence + 1,
            previous: digest,
        };
        Ok(())
    }

    /// Waits until everything appended and stored is on disk. Never called inside a window.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn sync(&mut self) -> Result<(), WriteError> {
        for (path, file) in &self.unsynced {
            file.sync_all().map_err(DiskError::because("sync", path))?;
        }
        if !self.unsynced.is_empty() {
            durable::sync_folder(&self.folder.join(layout::RAW))?;
        }
        self.unsynced.clear();
        let synced = self.file.sync();
        Ok(synced.map_err(DiskError::because("sync", &self.path))?)
    }

    /// Stores what a generator printed under `raw/`. Nothing is overwritten: where the name is taken,
    /// a number is added, and the file returned says so. Does not wait for the disk.
    ///
    /// # Errors
    /// When the name is not plain or the file cannot be written.
    pub fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<RawFile, WriteError> {
        if !layout::is_plain(name) || name.contains('/') {
            return Err(WriteError::Name(name.to_owned()));
        }
        let (file, path, made) = create_numbered(&self.folder, name, bytes)?;
        self.unsynced.push((path, made));
        Ok(RawFile {
            file,
            digest: Digest::of(bytes),
            bytes: bytes.len() as u64,
        })
    }
}

impl Journal for Writer {
    fn append(&mut self, event: Event) -> Result<(), JournalError> {
        let appended = Self::append(self, event);
        appended.map_err(|error| error.of("append to", layout::RECORDS))
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        Self::sync(self).map_err(|error| error.of("sync", layout::RECORDS))
    }

    fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<RawFile, JournalError> {
        let stored = Self::store_raw(self, name, bytes);
        stored.map_err(|error| error.of("store", &format!("{}/{name}", layout::RAW)))
    }

    fn logs(&self, name: &str) -> PathBuf {
        self.folder.join(layout::LOGS).join(name)
    }
}

/// Creates `raw/NAME`, or `raw/NAME.2` and so on where that is taken.
fn create_numbered(
    folder: &Path,
    name: &str,
    bytes: &[u8],
) -> Result<(String, PathBuf, File), DiskError> {
    let mut number = 1_u32;
    loop {
        let suffix = if number == 1 {
            String::new()
        } else {
            format!(".{number}")
        };
        let relative = format!("{}/{name}{suffix}", layout::RAW);
        let path = folder.join(&relative);
        match durable::create(&path, bytes) {
            Ok(file) => return Ok((relative, path, file)),
            Err(error) if error.source.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Takes the draft for this process, or says who has it.
pub(crate) fn hold(folder: &Path) -> Result<File, WriteError> {
    let path = folder.join(layout::WRITER);
    let mut options = OpenOptions::new();
    let opened = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path);
    let mut file = opened.map_err(DiskError::because("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(std::fs::TryLockError::WouldBlock) => {
            return Err(WriteError::Busy {
                folder: folder.to_path_buf(),
                holder: holder(&mut file),
            });
        }
        Err(std::fs::TryLockError::Error(source)) => {
            return Err(DiskError::because("lock", &path)(source).into());
        }
    }
    let mut write = || -> std::io::Result<()> {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    write().map_err(DiskError::because("write", &path))?;
    Ok(file)
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(32).read_to_string(&mut text);
    read.ok()
        .and_then(|_| text.trim().parse::<u32>().ok())
        .map_or_else(
            || "another loadlab".to_owned(),
            |pid| format!("another loadlab, process {pid}"),
        )
}

fn set_tail_aside(folder: &Path, file: &File, tail: &TornTail) -> Result<SetAside, WriteError> {
    let aside = folder.join(layout::SET_ASIDE);
    if !aside.is_dir() {
        std::fs::create_dir(&aside).map_err(DiskError::because("create", &aside))?;
    }
    let mut number = 1_u32;
    let name = loop {
        let name = format!("{}/{number:03}.bin", layout::SET_ASIDE);
        match durable::create_synced(&folder.join(&name), &tail.bytes) {
            Ok(()) => break name,
            Err(error) if error.source.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error.into()),
        }
    };
    durable::sync_folder(&aside)?;
    durable::sync_folder(folder)?;
    let path = folder.join(layout::RECORDS);
    file.set_len(tail.at)
        .map_err(DiskError::because("shorten", &path))?;
    file.sync_all().map_err(DiskError::because("sync", &path))?;
    Ok(SetAside {
        file: name,
        bytes: tail.bytes.len() as u64,
    })
}

/// A set-aside file that no session names: the process that made it ended before its session's line.
fn unnamed_set_aside(folder: &Path, records: &super::Records) -> Option<SetAside> {
    let named: Vec<&str> = records
        .sessions()
        .into_iter()
        .filter_map(|session| session.set_aside.as_ref())
        .map(|aside| aside.file.as_str())
        .collect();
    (1_u32..)
        .map(|number| format!("{}/{number:03}.bin", layout::SET_ASIDE))
        .map_while(|file| {
            let length = std::fs::metadata(folder.join(&file)).ok()?.len();
            Some(SetAside {
                file,
                bytes: length,
            })
        })
        .filter(|aside| !named.contains(&aside.file.as_str()))
        .last()
}

#[cfg(test)]
mod tests;
