//! Everything that the rendered files of a draft or entry are made from.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{Files, Folder, FolderError, verify};
use crate::estimate::{self, Reading, Readings, Summary};
use crate::lock::Lock;
use crate::model::facts::HostFacts;
use crate::model::{Digest, Experiment};
use crate::plan::Plan;
use crate::record::draft::from_json;
use crate::record::event::{Opened, Session};
use crate::record::layout::{self, Set};
use crate::record::{
    Event, Following, IllegalSequence, LedgerLine, Line, Lines, Progress, ReadError, TornTail,
    ledger,
};
use crate::report::{self, WitnessFile};

/// Everything that the rendered files of a draft or entry are made from.
#[derive(Debug, Clone)]
pub struct Material {
    /// The first record.
    pub opened: Opened,
    /// Every session in order.
    pub sessions: Vec<Session>,
    /// How far the run is.
    pub progress: Progress,
    /// What estimates need of all other records.
    pub readings: Readings,
    /// The model with every default: the rules that it is estimated by.
    pub experiment: Experiment,
    /// The plan.
    pub plan: Plan,
    /// What people decided.
    pub ledger: Vec<LedgerLine>,
    /// The lock; absent: measured without one.
    pub lock: Option<Lock>,
    /// The machine.
    pub host: HostFacts,
    /// The author's prose; absent: none.
    pub prose: Option<String>,
    /// The experiment's own templates by name.
    pub templates: BTreeMap<String, String>,
    /// The witness files in the order of their paths.
    pub files: Vec<WitnessFile>,
    /// Whether the records are sealed: a published entry.
    pub published: bool,
}

/// Why a draft or entry cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MaterialError {
    /// A file cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The records are damaged.
    #[error(transparent)]
    Records(#[from] ReadError),
    /// The records are in an order that no run of the plan writes.
    #[error(transparent)]
    Order(#[from] IllegalSequence),
    /// Nothing was recorded yet.
    #[error("`{}` has no records yet: nothing can be made from them", .0.escape_debug())]
    Empty(String),
    /// A file is not what loadlab wrote.
    #[error("cannot read `{}`: {because}", file.escape_debug())]
    File {
        /// The file, relative to the folder.
        file: String,
        /// What is wrong, with its place.
        because: String,
    },
    /// The ledger is damaged.
    #[error(transparent)]
    Ledger(#[from] ledger::LedgerError),
}

/// Reads one JSON file of a folder.
pub(crate) fn json<T: DeserializeOwned>(folder: &Folder, file: &str) -> Result<T, MaterialError> {
    let bytes = folder.read(file)?;
    from_json(&bytes).map_err(|because| MaterialError::File {
        file: file.to_owned(),
        because,
    })
}

/// Hands every record of a folder on, one after the other, each checked against the one before;
/// gives the bytes after the last whole one.
pub(crate) fn each_record<E: From<MaterialError>>(
    folder: &Folder,
    mut take: impl FnMut(Line) -> Result<(), E>,
) -> Result<Option<TornTail>, E> {
    let path = folder.path().join(layout::RECORDS);
    let file = folder.file(layout::RECORDS).map_err(MaterialError::from)?;
    let mut lines = Lines::new(file, &path);
    while let Some(line) = lines.advance().map_err(MaterialError::from)? {
        take(line)?;
    }
    Ok(lines.torn().cloned())
}

fn text(folder: &Folder, file: &str) -> Result<String, MaterialError> {
    String::from_utf8(folder.read(file)?).map_err(|error| MaterialError::File {
        file: file.to_owned(),
        because: error.to_string(),
    })
}

impl Material {
    /// Reads a draft or entry. A torn last record of a draft is left out.
    ///
    /// # Errors
    /// When a file is missing, damaged or not safe to read.
    pub fn read(folder: &Folder) -> Result<Self, MaterialError> {
        let listing = folder.list()?;
        let witness = |path: &&String| layout::set_of(path) == Set::Witness;
        let paths: Vec<String> = listing.files.keys().filter(witness).cloned().collect();
        let files = paths.into_iter().map(|path| {
            let (digest, bytes) = folder.digest(&path)?;
            Ok(WitnessFile {
                path,
                bytes,
                digest,
            })
        });
        let files: Vec<WitnessFile> = files.collect::<Result<_, FolderError>>()?;
        let material = Self::read_with(folder, files)?;
        let faults = verify::of_inputs(&material.opened, &material.digests());
        match faults.into_iter().next() {
            None => Ok(material),
            Some(fault) => Err(MaterialError::File {
                file: fault.file,
                because: fault.what,
            }),
        }
    }

    /// As [`read`](Self::read), where the witness files are hashed already.
    pub(crate) fn read_with(
        folder: &Folder,
        files: Vec<WitnessFile>,
    ) -> Result<Self, MaterialError> {
        let has = |name: &str| files.iter().any(|file| file.path == name);
        let mut experiment: Experiment = json(folder, layout::EXPANDED)?;
        if has(layout::PAGE) {
            experiment.page = json(folder, layout::PAGE)?;
        }
        let plan: Plan = json(folder, layout::PLAN)?;
        let read = Recorded::read(folder, &experiment, &plan)?;
        let prose = has(layout::PROSE)
            .then(|| text(folder, layout::PROSE))
            .transpose()?;
        let ledger = if has(layout::LEDGER) {
            ledger::parse(&folder.read(layout::LEDGER)?, layout::LEDGER.as_ref())?
        } else {
            Vec::new()
        };
        let lock = has(layout::LOCK).then(|| read_lock(folder)).transpose()?;
        let prefix = format!("{}/", layout::TEMPLATES);
        let own = files.iter().filter_map(|file| {
            let name = file.path.strip_prefix(&prefix)?;
            Some(text(folder, &file.path).map(|text| (name.to_owned(), text)))
        });
        let host: HostFacts = json(folder, layout::HOST)?;
        of_machine(&read.sessions, &host)?;
        Ok(Self {
            published: read.sealed,
            opened: read.opened,
            sessions: read.sessions,
            progress: read.progress,
            readings: read.readings,
            templates: own.collect::<Result<_, _>>()?,
            host,
            experiment,
            plan,
            ledger,
            lock,
            prose,
            files,
        })
    }

    /// The digest of a witness file; absent: there is none.
    #[must_use]
    pub fn digest(&self, path: &str) -> Option<Digest> {
        let file = self.files.iter().find(|file| file.path == path);
        file.map(|file| file.digest)
    }

    /// The digests of all witness files.
    pub(crate) fn digests(&self) -> BTreeMap<String, Digest> {
        let files = self.files.iter();
        files.map(|file| (file.path.clone(), file.digest)).collect()
    }

    /// Every number of it.
    #[must_use]
    pub fn summary(&self) -> Summary {
        estimate::summarise(&self.readings, &self.experiment, &self.plan, &self.ledger)
    }

    /// Estimates and lays out: every rendered file but the checksums.
    ///
    /// # Errors
    /// What is at fault in a template or the author's texts.
    pub fn render(&self) -> Result<Files, String> {
        let summary = Arc::new(self.summary());
        let sessions: Vec<&Session> = self.sessions.iter().collect();
        let context = report::Context {
            experiment: &self.experiment,
            opened: &self.opened,
            sessions: &sessions,
            host: &self.host,
            lock: self.lock.as_ref(),
            prose: self.prose.as_deref(),
            files: &self.files,
            published: self.published,
        };
        let templates = report::Templates::with(&self.templates);
        report::render(&summary, &context, &templates).map_err(|error| error.to_string())
    }
}

/// What is kept of a folder's records.
struct Recorded {
    opened: Opened,
    sessions: Vec<Session>,
    progress: Progress,
    readings: Readings,
    sealed: bool,
}

impl Recorded {
    /// Reads the records once, line by line.
    fn read(folder: &Folder, experiment: &Experiment, plan: &Plan) -> Result<Self, MaterialError> {
        let mut reading = Reading::new(experiment, plan);
        let mut following = Following::over(plan);
        let (mut opened, mut sessions, mut sealed) = (None, Vec::new(), false);
        each_record(folder, |line| {
            match &line.event {
                Event::Opened(first) => {
                    of_experiment(first, experiment)?;
                    opened = Some((**first).clone());
                }
                Event::Session(session) => sessions.push((**session).clone()),
                Event::Sealed { .. } => sealed = true,
                _ => {}
            }
            following.take(&line)?;
            reading.take(line.realtime_ns, line.event);
            Ok::<(), MaterialError>(())
        })?;
        let shown = || folder.path().to_string_lossy().into_owned();
        Ok(Self {
            opened: opened.ok_or_else(|| MaterialError::Empty(shown()))?,
            sessions,
            progress: following.finish(),
            readings: reading.finish(),
            sealed,
        })
    }
}

fn of_experiment(opened: &Opened, experiment: &Experiment) -> Result<(), MaterialError> {
    if opened.experiment == experiment.name {
        return Ok(());
    }
    Err(MaterialError::File {
        file: layout::EXPANDED.to_owned(),
        because: format!(
            "it is of experiment `{}`, the records of `{}`",
            experiment.name, opened.experiment
        ),
    })
}

/// Every session names the identity of its machine.
fn of_machine(sessions: &[Session], host: &HostFacts) -> Result<(), MaterialError> {
    let found = host.identity();
    match sessions.iter().find(|session| session.machine != found) {
        None => Ok(()),
        Some(session) => Err(MaterialError::File {
            file: layout::HOST.to_owned(),
            because: format!(
                "it is of another machine ({found}) than session {} of the records ({})",
                session.number, session.machine
            ),
        }),
    }
}

fn read_lock(folder: &Folder) -> Result<Lock, MaterialError> {
    let text = text(folder, layout::LOCK)?;
    Lock::from_text(&text, layout::LOCK).map_err(|error| MaterialError::File {
        file: layout::LOCK.to_owned(),
        because: error.to_string(),
    })
}
