//! Reads `records.jsonl` and checks its chain, sequence and format. Changes nothing.
//!
//! A torn last line is reported apart: a killed process leaves one. Any other fault is an error with
//! the number of its line.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::durable::{self, DiskError, shown};
use super::event::{Event, Line, RECORD_FORMAT};
use super::fold::Records;
use super::layout;
use crate::model::Digest;

/// The longest line that is read, bytes.
pub const LONGEST_LINE: u64 = 16 << 20;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRecords {
    /// Every whole line.
    pub records: Records,
    /// Bytes after the last whole line; absent: the file ends with a whole line.
    pub torn: Option<TornTail>,
    /// Length of the whole lines together, bytes.
    pub bytes: u64,
    /// Digest of the last whole line, of the empty text where there is none.
    pub last: Digest,
}

/// A last line that was not written to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// Its offset in the file.
    pub at: u64,
    /// Number of its line, from 1.
    pub line: u64,
    /// What there is of it.
    pub bytes: Vec<u8>,
}

/// Why records cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A line is not what was written.
    #[error("{}, line {line}: {fault}", shown(path))]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        fault: LineFault,
    },
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// It is no record.
    #[error("no record: {0}")]
    NoRecord(String),
    /// Its sequence number is another one.
    #[error("expected sequence {expected}, found {found}: a line was removed, added or moved")]
    Sequence {
        /// The number that follows.
        expected: u64,
        /// The number that is there.
        found: u64,
    },
    /// It does not follow from the line before.
    #[error(
        "the line before has digest {expected}, but this line says {found}: one of the two was changed"
    )]
    Chain {
        /// Digest of the line before.
        expected: Digest,
        /// What this line says.
        found: Digest,
    },
    /// The records were written by a newer loadlab.
    #[error(
        "record format {found} is newer than {RECORD_FORMAT}, the newest that this loadlab reads; use a newer loadlab"
    )]
    Newer {
        /// The format.
        found: u64,
    },
    /// An event that this format does not have.
    #[error(
        "event `{0}` is not known to record format {RECORD_FORMAT}; was it written by a newer loadlab?"
    )]
    UnknownEvent(String),
    /// The first line is something else than `opened`, or a later one is `opened` again.
    #[error("{0}")]
    Order(&'static str),
    /// It is longer than any record.
    #[error("longer than {LONGEST_LINE} bytes")]
    TooLong,
}

/// Reads the records of a draft or entry, given its folder or the file itself.
///
/// # Errors
/// When the file cannot be read or any whole line is not as it was written.
pub fn read(path: &Path) -> Result<ReadRecords, ReadError> {
    let file = if path.is_dir() && !path.ends_with(layout::RECORDS) {
        path.join(layout::RECORDS)
    } else {
        path.to_path_buf()
    };
    read_from(durable::open(&file)?, &file)
}

/// Reads records from an open source; `path` is for messages.
///
/// # Errors
/// As [`read`].
pub fn read_from(source: impl Read, path: &Path) -> Result<ReadRecords, ReadError> {
    let mut source = Lines::new(source, path);
    let mut lines = Vec::new();
    while let Some(line) = source.advance()? {
        lines.push(line);
    }
    Ok(ReadRecords {
        records: Records::new(lines),
        torn: source.torn,
        bytes: source.bytes,
        last: source.last,
    })
}

/// Reads and checks one line after the other, and keeps none.
#[derive(Debug)]
pub struct Lines<'a, R> {
    source: BufReader<R>,
    path: &'a Path,
    buffer: Vec<u8>,
    /// Whole lines read so far.
    count: u64,
    sealed: bool,
    torn: Option<TornTail>,
    bytes: u64,
    last: Digest,
}

impl<'a, R: Read> Lines<'a, R> {
    /// Begins before the first line; `path` is for messages.
    pub fn new(source: R, path: &'a Path) -> Self {
        Self {
            source: BufReader::with_capacity(BUFFER, source),
            path,
            buffer: Vec::new(),
            count: 0,
            sealed: false,
            torn: None,
            bytes: 0,
            last: Digest::of(b""),
        }
    }

    /// The next whole line; absent after the last one.
    ///
    /// # Errors
    /// As [`read`].
    pub fn advance(&mut self) -> Result<Option<Line>, ReadError> {
        if self.torn.is_some() {
            return Ok(None);
        }
        self.buffer.clear();
        let limited = (&mut self.source)
            .take(LONGEST_LINE + 1)
            .read_until(b'\n', &mut self.buffer);
        limited.map_err(DiskError::because("read", self.path))?;
        if self.buffer.is_empty() {
            return Ok(None);
        }
        if self.buffer.len() as u64 > LONGEST_LINE {
            return Err(self.fault(LineFault::TooLong));
        }
        let unwritten = self.buffer.contains(&0) && self.at_end()?;
        if self.buffer.last() != Some(&b'\n') || unwritten {
            self.torn = Some(TornTail {
                at: self.bytes,
                line: self.count + 1,
                bytes: std::mem::take(&mut self.buffer),
            });
            return Ok(None);
        }
        let bytes = &self.buffer[..self.buffer.len() - 1];
        let line = parse(bytes).and_then(|line| self.follows(line));
        let line = line.map_err(|fault| self.fault(fault))?;
        self.last = Digest::of(bytes);
        self.bytes += self.buffer.len() as u64;
        self.count += 1;
        self.sealed = matches!(line.event, Event::Sealed { .. });
        Ok(Some(line))
    }

    /// Bytes after the last whole line; known once there is no next line.
    #[must_use]
    pub const fn torn(&self) -> Option<&TornTail> {
        self.torn.as_ref()
    }

    fn fault(&self, fault: LineFault) -> ReadError {
        ReadError::Line {
            path: self.path.to_path_buf(),
            line: self.count + 1,
            fault,
        }
    }

    fn at_end(&mut self) -> Result<bool, DiskError> {
        let rest = self.source.fill_buf();
        let rest = rest.map_err(DiskError::because("read", self.path))?;
        Ok(rest.is_empty())
    }

    /// A line against the line before it.
    fn follows(&self, line: Line) -> Result<Line, LineFault> {
        if line.sequence != self.count {
            return Err(LineFault::Sequence {
                expected: self.count,
                found: line.sequence,
            });
        }
        if line.previous != self.last {
            return Err(LineFault::Chain {
                expected: self.last,
                found: line.previous,
            });
        }
        match (&line.event, self.count) {
            (Event::Opened(opened), 0) if opened.format > RECORD_FORMAT => Err(LineFault::Newer {
                found: u64::from(opened.format),
            }),
            (Event::Opened(_), 0) => Ok(line),
            (_, 0) => Err(LineFault::Order("the first record must be `opened`")),
            (Event::Opened(_), _) => {
                Err(LineFault::Order("`opened` stands only in the first line"))
            }
            _ if self.sealed => Err(LineFault::Order("nothing may follow the seal")),
            _ => Ok(line),
        }
    }
}

/// Reads a line; only one that is no record is read again for the place of its fault.
fn parse(bytes: &[u8]) -> Result<Line, LineFault> {
    serde_json::from_slice(bytes).or_else(|_| parse_with_place(bytes))
}

fn parse_with_place(bytes: &[u8]) -> Result<Line, LineFault> {
    let mut source = serde_json::Deserializer::from_slice(bytes);
    let line = serde_path_to_error::deserialize(&mut source)
        .map_err(|error| (error.path().to_string(), error.inner().to_string()))
        .and_then(|line| {
            source
                .end()
                .map(|()| line)
                .map_err(|error| (".".to_owned(), error.to_string()))
        });
    line.map_err(|(place, message)| {
        from_newer(bytes).unwrap_or_else(|| {
            let place = if place == "." {
                String::new()
            } else {
                format!("{place}: ")
            };
            LineFault::NoRecord(format!("{place}{message}").escape_debug().to_string())
        })
    })
}

/// Whether a line that cannot be read shows that a newer loadlab wrote it.
fn from_newer(bytes: &[u8]) -> Option<LineFault> {
    let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let event = value.get("event")?;
    let format = event.get("opened").and_then(|opened| opened.get("format"));
    if let Some(found) = format.and_then(serde_json::Value::as_u64)
        && found > u64::from(RECORD_FORMAT)
    {
        return Some(LineFault::Newer { found });
    }
    let kind = event
        .as_str()
        .or_else(|| event.as_object()?.keys().next().map(String::as_str))?;
    (!Event::KINDS.contains(&kind)).then(|| {
        LineFault::UnknownEvent(
            kind.chars()
                .take(64)
                .collect::<String>()
                .escape_debug()
                .to_string(),
        )
    })
}
