//! The draft folder: what `run` writes and may still be resumed, rendered and annotated.
//!
//! Created exclusively, inputs first; from then on only added to.

mod error;

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use error::DraftError;

use super::durable::{self, DiskError};
use super::event::{Opened, RECORD_FORMAT, RawFile};
use super::inputs::{self, EngineFile, Inputs, Origin, pretty};
use super::layout;
use super::ledger::{self, LedgerError, LedgerLine};
use super::reader::{self, ReadError, ReadRecords};
use super::resume::Circumstances;
use super::writer::{Clock, WriteError, Writer};
use crate::lock::Lock;
use crate::model::experiment::Page;
use crate::model::facts::HostFacts;
use crate::model::{Digest, EntryName, Experiment};
use crate::plan::Plan;

/// A draft: `runs/<experiment>/<entry>/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    folder: PathBuf,
    entry: EntryName,
}

impl Draft {
    /// Makes the draft of an entry below `root` (`runs/<experiment>`), with its inputs, all on disk.
    ///
    /// # Errors
    /// When its folder exists, a template's name leaves the folder, or the disk refuses.
    pub fn create(root: &Path, entry: EntryName, inputs: &Inputs) -> Result<Self, DraftError> {
        let unplain = inputs.templates.keys().find(|name| !layout::is_plain(name));
        if let Some(name) = unplain {
            return Err(DraftError::Name(name.clone()));
        }
        std::fs::create_dir_all(root).map_err(DiskError::because("create", root))?;
        let folder = root.join(entry.as_str());
        match std::fs::create_dir(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(DraftError::Exists(folder));
            }
            Err(error) => return Err(DiskError::because("create", &folder)(error).into()),
        }
        if let Err(error) = fill(&folder, inputs).and_then(|()| durable::sync_folder(root)) {
            // It is this process's own folder, and half a draft is of no use to anybody.
            let _left_where_the_disk_refuses = std::fs::remove_dir_all(&folder);
            return Err(error.into());
        }
        Ok(Self { folder, entry })
    }

    /// Opens a draft that is there.
    ///
    /// # Errors
    /// When the folder is no draft, is an entry, or lacks one of the files that every draft has.
    pub fn open(folder: &Path) -> Result<Self, DraftError> {
        if !folder.is_dir() {
            return Err(DraftError::NoFolder(folder.to_path_buf()));
        }
        if folder.join(layout::SUMS).exists() {
            return Err(DraftError::Entry(folder.to_path_buf()));
        }
        const FILES: [&str; 5] = [
            layout::MANIFEST,
            layout::EXPANDED,
            layout::HOST,
            layout::ENGINE,
            layout::PLAN,
        ];
        if let Some(missing) = FILES.into_iter().find(|name| !folder.join(name).is_file()) {
            let folder = folder.to_path_buf();
            return Err(DraftError::Incomplete { folder, missing });
        }
        let absolute = std::path::absolute(folder).map_err(DiskError::because("find", folder))?;
        let name = absolute.file_name().unwrap_or_default().to_string_lossy();
        let entry = name
            .parse()
            .map_err(|error: crate::model::name::NotAName| DraftError::Damaged {
                path: folder.to_path_buf(),
                because: error.to_string(),
            })?;
        Ok(Self {
            folder: folder.to_path_buf(),
            entry,
        })
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The entry it will be, by its folder; [`Opened::entry`] of its records is what counts later.
    #[must_use]
    pub const fn entry(&self) -> &EntryName {
        &self.entry
    }

    /// A writer that goes on after the last record, by the machine's wall clock.
    ///
    /// # Errors
    /// As [`Writer::open`].
    pub fn writer(&self) -> Result<Writer, WriteError> {
        let now = || {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            since.map_or(0, |since| {
                u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
            })
        };
        self.writer_with(Box::new(now))
    }

    /// A writer that goes on after the last record, by this clock.
    ///
    /// # Errors
    /// As [`Writer::open`].
    pub fn writer_with(&self, clock: Clock) -> Result<Writer, WriteError> {
        Writer::open(&self.folder, clock)
    }

    /// The first record of this draft, from its files.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn opening(&self, origin: Origin) -> Result<Opened, DraftError> {
        let experiment = self.expanded()?;
        let digest = |name: &str| durable::read(&self.folder.join(name)).map(|it| Digest::of(&it));
        let lock = self.folder.join(layout::LOCK).exists();
        Ok(Opened {
            format: RECORD_FORMAT,
            protocol: experiment.protocol,
            experiment: experiment.name,
            entry: self.entry.clone(),
            version: origin.version,
            program: origin.program,
            manifest: digest(layout::MANIFEST)?,
            lock: lock.then(|| digest(layout::LOCK)).transpose()?,
            expanded: digest(layout::EXPANDED)?,
            plan: digest(layout::PLAN)?,
            caveats: origin.caveats,
            source: origin.source,
        })
    }

    /// Its records; none where nothing was recorded yet.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn records(&self) -> Result<ReadRecords, ReadError> {
        let path = self.folder.join(layout::RECORDS);
        if path.exists() {
            reader::read(&path)
        } else {
            reader::read_from(std::io::empty(), &path)
        }
    }

    /// Checks that a draft without records never had any: it stored no answer and no log.
    ///
    /// # Errors
    /// When something was stored, so that the records were lost.
    pub fn unbegun(&self) -> Result<(), DraftError> {
        for name in [layout::RAW, layout::LOGS] {
            let path = self.folder.join(name);
            let mut listed = std::fs::read_dir(&path).map_err(DiskError::because("list", &path))?;
            if listed.next().is_some() {
                return Err(DraftError::Lost(self.folder.clone()));
            }
        }
        Ok(())
    }

    /// The model with every default.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn expanded(&self) -> Result<Experiment, DraftError> {
        self.json(layout::EXPANDED)
    }

    /// Takes the author's words anew: a finding is written after the measuring. Of the model only the
    /// page is taken, so that nothing that was measured changes; of the files the prose, where absent
    /// means that there is none any more. May be done again until the draft is published.
    ///
    /// # Errors
    /// When the draft was published, or the disk refuses; then the earlier words stay.
    pub fn take_words(&self, page: &Page, prose: Option<&[u8]>) -> Result<(), DraftError> {
        if self.published()?.is_some() {
            return Err(DraftError::Entry(self.folder.clone()));
        }
        durable::replace(&self.folder.join(layout::PAGE), &pretty(page))?;
        let path = self.folder.join(layout::PROSE);
        match prose {
            Some(prose) => durable::replace(&path, prose)?,
            None => match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(DiskError::because("remove", &path)(error).into());
                }
                _ => {}
            },
        }
        Ok(durable::sync_folder(&self.folder)?)
    }

    /// The plan.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn plan(&self) -> Result<Plan, DraftError> {
        self.json(layout::PLAN)
    }

    /// The machine that the run began on.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn host(&self) -> Result<HostFacts, DraftError> {
        self.json(layout::HOST)
    }

    /// The engines and the load generator that the run began with.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn engine(&self) -> Result<EngineFile, DraftError> {
        self.json(layout::ENGINE)
    }

    /// The lock; absent: measured with `--unlocked`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn lock(&self) -> Result<Option<Lock>, DraftError> {
        let there = self.folder.join(layout::LOCK).exists();
        there.then(|| self.json(layout::LOCK)).transpose()
    }

    /// What people decided.
    ///
    /// # Errors
    /// When the ledger is damaged.
    pub fn ledger(&self) -> Result<Vec<LedgerLine>, LedgerError> {
        ledger::read(&self.folder)
    }

    /// What must stay the same from session to session, as the draft has it.
    ///
    /// # Errors
    /// When a file cannot be read, or is not what the records were begun with.
    pub fn circumstances(&self) -> Result<Circumstances, DraftError> {
        self.unchanged()?;
        let digest = |name: &str| durable::read(&self.folder.join(name)).map(|it| Digest::of(&it));
        let lock = self.folder.join(layout::LOCK).exists();
        Ok(Circumstances {
            manifest: digest(layout::MANIFEST)?,
            lock: lock.then(|| digest(layout::LOCK)).transpose()?,
            expanded: digest(layout::EXPANDED)?,
            host: self.host()?,
        })
    }

    /// Checks manifest, lock, model and plan against the digests that the records begin with.
    ///
    /// # Errors
    /// The first file that was changed.
    pub fn unchanged(&self) -> Result<(), DraftError> {
        let read = self.records()?;
        let Some(opened) = read.records.opened() else {
            return Ok(());
        };
        let files = [
            (layout::MANIFEST, Some(opened.manifest)),
            (layout::LOCK, opened.lock),
            (layout::EXPANDED, Some(opened.expanded)),
            (layout::PLAN, Some(opened.plan)),
        ];
        for (name, expected) in files {
            let Some(expected) = expected else { continue };
            let path = self.folder.join(name);
            let found = Digest::of(&durable::read(&path)?);
            if found != expected {
                return Err(DraftError::Changed {
                    path,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }

    /// The entry that this draft was published as; absent: not published.
    ///
    /// # Errors
    /// When the marker cannot be read.
    pub fn published(&self) -> Result<Option<Published>, DraftError> {
        let there = self.folder.join(layout::PUBLISHED).exists();
        there.then(|| self.json(layout::PUBLISHED)).transpose()
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, DraftError> {
        let path = self.folder.join(name);
        let bytes = durable::read(&path)?;
        from_json(&bytes).map_err(|because| DraftError::Damaged { path, because })
    }
}

/// Puts into a new folder what every draft begins with.
fn fill(folder: &Path, inputs: &Inputs) -> Result<(), DiskError> {
    for name in [layout::RAW, layout::LOGS] {
        let path = folder.join(name);
        std::fs::create_dir(&path).map_err(DiskError::because("create", &path))?;
    }
    inputs::write(folder, inputs)?;
    durable::sync_folder(folder)
}

/// What `published.json` of a draft holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// The entry's name.
    pub entry: EntryName,
    /// Digest of its sealed records.
    pub records: Digest,
}

impl Published {
    /// Writes the marker, where there is none yet.
    pub(crate) fn mark(&self, folder: &Path) -> Result<(), DiskError> {
        let path = folder.join(layout::PUBLISHED);
        match durable::create_synced(&path, &pretty(self)) {
            Err(error) if error.source.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            other => other.and_then(|()| durable::sync_folder(folder)),
        }
    }
}

/// Reads JSON and says where it is at fault.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let mut source = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut source)
        .map_err(|error| error.to_string().escape_debug().to_string())?;
    source.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// Reads a raw file of a draft or entry and checks its digest.
///
/// # Errors
/// When it cannot be read or is not what was stored.
pub fn read_raw(folder: &Path, raw: &RawFile) -> Result<Vec<u8>, DraftError> {
    let path = folder.join(&raw.file);
    if !layout::is_plain(&raw.file) {
        return Err(DraftError::Name(raw.file.clone()));
    }
    let bytes = durable::read(&path)?;
    let found = Digest::of(&bytes);
    if found == raw.digest {
        Ok(bytes)
    } else {
        Err(DraftError::Changed {
            path,
            found,
            expected: raw.digest,
        })
    }
}
