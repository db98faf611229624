//! A journal in memory, for tests of what writes into one.

use std::path::{Path, PathBuf};

use super::event::{Event, Line, RawFile};
use super::journal::{Journal, JournalError};
use super::layout;
use crate::model::Digest;

/// 2026-11-30, midnight UTC: where the clock of made-up records begins, nanoseconds since 1970.
pub(crate) const SAMPLE_EPOCH_NS: u64 = 1_795_996_800_000_000_000;

/// A journal in memory, for tests of the run loop.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    /// Every event appended, in order.
    pub events: Vec<Event>,
    /// Every raw file, by its path.
    pub raw: std::collections::BTreeMap<String, Vec<u8>>,
    /// After how many events each sync came.
    pub synced_after: Vec<usize>,
}

impl MemoryJournal {
    /// The events as records with a whole chain, one second apart from 2026-11-30 on.
    ///
    /// # Panics
    /// When an event has no JSON form: all have.
    #[must_use]
    pub fn records(&self) -> super::Records {
        let mut previous = Digest::of(b"");
        let mut lines = Vec::new();
        for (sequence, event) in (0_u64..).zip(&self.events) {
            let line = Line {
                sequence,
                previous,
                realtime_ns: SAMPLE_EPOCH_NS + sequence * 1_000_000_000,
                event: event.clone(),
            };
            previous = Digest::of(&serde_json::to_vec(&line).expect("an event has a JSON form"));
            lines.push(line);
        }
        super::Records::new(lines)
    }
}

impl Journal for MemoryJournal {
    fn append(&mut self, event: Event) -> Result<(), JournalError> {
        self.events.push(event);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.synced_after.push(self.events.len());
        Ok(())
    }

    fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<RawFile, JournalError> {
        let free = |file: &String| !self.raw.contains_key(file);
        let names = (1_u32..).map(|number| match number {
            1 => format!("{}/{name}", layout::RAW),
            _ => format!("{}/{name}.{number}", layout::RAW),
        });
        let file = names.into_iter().find(free).unwrap_or_default();
        self.raw.insert(file.clone(), bytes.to_vec());
        Ok(RawFile {
            file,
            digest: Digest::of(bytes),
            bytes: bytes.len() as u64,
        })
    }

    fn logs(&self, name: &str) -> PathBuf {
        Path::new("/").join(layout::LOGS).join(name)
    }
}
