//! `publish`: makes an entry of a draft. Killed at any moment, it leaves no entry or a whole one.
//!
//! The entry is put together in a folder beside its place and moved there in one step. The draft stays
//! as it is but for the marker that it was published.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::folder::{Folder, FolderError};
use super::material::Material;
use super::refusal::{Refusal, check_with};
use super::{RenderEntryError, Renderer};
use crate::model::Digest;
use crate::record::draft::Published;
use crate::record::durable::{self, DiskError};
use crate::record::layout::{self, Set};
use crate::record::{Draft, DraftError, Event, Line, ReadError, WriteError, writer};

/// Why a draft was not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// It lacks something that every entry has.
    #[error("not published: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<Refusal>),
    /// There is another entry of this name.
    #[error("`{}` exists already and was not made from this draft; nothing was written", .0.to_string_lossy().escape_debug())]
    Exists(PathBuf),
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The draft cannot be read.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// Its records cannot be read.
    #[error(transparent)]
    Records(#[from] ReadError),
    /// The draft is being written.
    #[error(transparent)]
    Busy(#[from] WriteError),
    /// A file of it cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// It does not render.
    #[error(transparent)]
    Render(#[from] RenderEntryError),
    /// Stopped on purpose, by a test.
    #[error("stopped before step {0}")]
    Stopped(usize),
}

/// Publishes a draft below `results` (`results/<experiment>/<entry>/`) and returns the entry's folder.
/// A draft that became this entry before, but lost the marker, gets it again.
///
/// # Errors
/// Everything that it lacks, at once; or when another entry is in its place or the disk refuses.
/// Then there is no entry, and no part of one in its place.
pub fn publish(draft: &Draft, results: &Path) -> Result<PathBuf, PublishError> {
    publish_with(draft, results, &super::render)
}

/// As [`publish`], with this renderer.
///
/// # Errors
/// As [`publish`].
pub fn publish_with(
    draft: &Draft,
    results: &Path,
    renderer: &Renderer<'_>,
) -> Result<PathBuf, PublishError> {
    publish_until(draft, results, renderer, usize::MAX)
}

/// As [`publish_with`], but stops after so many steps as if it were killed; for tests.
///
/// # Errors
/// As [`publish`], and [`PublishError::Stopped`].
#[doc(hidden)]
pub fn publish_until(
    draft: &Draft,
    results: &Path,
    renderer: &Renderer<'_>,
    most: usize,
) -> Result<PathBuf, PublishError> {
    let _held = writer::hold(draft.folder())?;
    if let Some(entry) = published_before(draft, results)? {
        return Ok(entry);
    }
    let refusals = check_with(draft, renderer);
    if !refusals.is_empty() {
        return Err(PublishError::Refused(refusals));
    }
    let mut publication = Publication::of(draft, results, renderer)?;
    for (number, step) in STEPS.iter().enumerate() {
        if number >= most {
            return Err(PublishError::Stopped(number));
        }
        if let Err(error) = step(&mut publication) {
            let _left_for_the_next_try = std::fs::remove_dir_all(&publication.unfinished);
            return Err(error);
        }
    }
    Ok(publication.entry)
}

/// Where the entry of a draft belongs.
fn place(draft: &Draft, results: &Path) -> Result<PathBuf, PublishError> {
    let records = draft.records()?.records;
    let entry = records
        .opened()
        .map_or(draft.entry(), |opened| &opened.entry)
        .clone();
    let experiment = draft.expanded()?.name;
    Ok(results.join(experiment.as_str()).join(entry.as_str()))
}

/// The entry that this draft became, if it did and is there: its records are the draft's and a seal.
fn published_before(draft: &Draft, results: &Path) -> Result<Option<PathBuf>, PublishError> {
    let entry = place(draft, results)?;
    if !entry.exists() {
        return Ok(None);
    }
    let ours = durable::read(&draft.folder().join(layout::RECORDS)).unwrap_or_default();
    let sealed = Folder::open(&entry)
        .and_then(|folder| folder.read(layout::RECORDS))
        .unwrap_or_default();
    let rest = sealed.strip_prefix(ours.as_slice()).unwrap_or_default();
    let one_line = rest.iter().filter(|byte| **byte == b'\n').count() == 1;
    if ours.is_empty() || !one_line {
        return Err(PublishError::Exists(entry));
    }
    mark(draft, &sealed)?;
    Ok(Some(entry))
}

fn mark(draft: &Draft, sealed: &[u8]) -> Result<(), PublishError> {
    let entry = draft.records()?.records;
    let entry = entry
        .opened()
        .map_or(draft.entry(), |opened| &opened.entry)
        .clone();
    let marker = Published {
        entry,
        records: Digest::of(sealed),
    };
    Ok(marker.mark(draft.folder())?)
}

/// A publication under way.
struct Publication<'a> {
    draft: &'a Draft,
    renderer: &'a Renderer<'a>,
    source: Folder,
    entry: PathBuf,
    unfinished: PathBuf,
    witness: BTreeMap<String, Digest>,
    sealed: Vec<u8>,
}

type Step = fn(&mut Publication<'_>) -> Result<(), PublishError>;

/// The steps in order. Before `move_into_place` there is no entry, after it a whole one.
const STEPS: [Step; 7] = [
    |publication| publication.begin(),
    |publication| publication.copy_witness_files(),
    |publication| publication.seal(),
    |publication| publication.render(),
    |publication| publication.sync(),
    |publication| publication.move_into_place(),
    |publication| publication.mark(),
];

impl<'a> Publication<'a> {
    fn of(
        draft: &'a Draft,
        results: &Path,
        renderer: &'a Renderer<'a>,
    ) -> Result<Self, PublishError> {
        let entry = place(draft, results)?;
        let name = entry
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(Self {
            draft,
            renderer,
            source: Folder::open(draft.folder())?,
            unfinished: entry.with_file_name(format!("{UNFINISHED}{name}")),
            entry,
            witness: BTreeMap::new(),
            sealed: Vec::new(),
        })
    }

    /// Makes the folder that the entry is put together in; what a killed publication of the same draft
    /// left there goes first (the draft is held, so nobody else is at it).
    fn begin(&mut self) -> Result<(), PublishError> {
        let parent = self.entry.parent().unwrap_or(&self.entry);
        std::fs::create_dir_all(parent).map_err(DiskError::because("create", parent))?;
        if self.unfinished.exists() {
            let removed = std::fs::remove_dir_all(&self.unfinished);
            removed.map_err(DiskError::because("remove", &self.unfinished))?;
        }
        let made = std::fs::create_dir(&self.unfinished);
        Ok(made.map_err(DiskError::because("create", &self.unfinished))?)
    }

    fn copy_witness_files(&mut self) -> Result<(), PublishError> {
        let files = self.source.list()?.files.into_keys();
        let witness =
            files.filter(|path| layout::set_of(path) == Set::Witness && path != layout::RECORDS);
        let unfinished = Folder::open(&self.unfinished)?;
        for path in witness {
            let target = self.unfinished.join(&path);
            let parent = target.parent().unwrap_or(&self.unfinished);
            std::fs::create_dir_all(parent).map_err(DiskError::because("create", parent))?;
            copy(&mut self.source.file(&path)?, &target)?;
            let (digest, _) = unfinished.digest(&path)?;
            self.witness.insert(path, digest);
        }
        Ok(())
    }

    /// The draft's records and the seal over every other witness file.
    fn seal(&mut self) -> Result<(), PublishError> {
        let read = self.draft.records()?;
        let mut bytes = durable::read(&self.draft.folder().join(layout::RECORDS))?;
        let line = Line {
            sequence: read.records.lines().len() as u64,
            previous: read.last,
            // The moment of publication is no fact of the run: git has it.
            realtime_ns: read
                .records
                .lines()
                .last()
                .map_or(0, |line| line.realtime_ns),
            event: Event::Sealed {
                files: self.witness.clone(),
            },
        };
        serde_json::to_writer(&mut bytes, &line).map_err(WriteError::Json)?;
        bytes.push(b'\n');
        let _synced_later = durable::create(&self.unfinished.join(layout::RECORDS), &bytes)?;
        self.sealed = bytes;
        Ok(())
    }

    fn render(&mut self) -> Result<(), PublishError> {
        let folder = Folder::open(&self.unfinished)?;
        let material = Material::read(&folder).map_err(RenderEntryError::from)?;
        let rendered = super::render_material(&material, self.renderer)?;
        let fits =
            |path: &&str| layout::is_plain(path) && layout::set_of(path) == Set::Reproducible;
        if let Some(path) = rendered.paths().into_iter().find(|path| !fits(path)) {
            let fault = format!(
                "the renderer made `{}`, which is no rendered file of an entry",
                path.escape_debug()
            );
            return Err(RenderEntryError::Render(fault).into());
        }
        rendered.each(|path, file| {
            let target = self.unfinished.join(path);
            let parent = target.parent().unwrap_or(&self.unfinished);
            std::fs::create_dir_all(parent).map_err(DiskError::because("create", parent))?;
            durable::create_with(&target, |to| file.write_to(to)).map(|_synced_later| ())
        })?;
        Ok(())
    }

    /// Every file and every folder on disk before the entry appears.
    fn sync(&mut self) -> Result<(), PublishError> {
        let mut folders = std::collections::BTreeSet::from([self.unfinished.clone()]);
        for path in Folder::open(&self.unfinished)?.list()?.files.into_keys() {
            let file = self.unfinished.join(&path);
            let opened = File::open(&file).map_err(DiskError::because("open", &file))?;
            opened
                .sync_all()
                .map_err(DiskError::because("sync", &file))?;
            let parents = Path::new(&path).ancestors().skip(1);
            folders.extend(parents.map(|parent| self.unfinished.join(parent)));
        }
        for folder in folders {
            durable::sync_folder(&folder)?;
        }
        Ok(())
    }

    fn move_into_place(&mut self) -> Result<(), PublishError> {
        if self.entry.exists() {
            return Err(PublishError::Exists(self.entry.clone()));
        }
        let moved = std::fs::rename(&self.unfinished, &self.entry);
        moved.map_err(DiskError::because("move into place", &self.entry))?;
        let parent = self.entry.parent().unwrap_or(&self.entry);
        Ok(durable::sync_folder(parent)?)
    }

    fn mark(&mut self) -> Result<(), PublishError> {
        mark(self.draft, &self.sealed)
    }
}

/// What the folder of an unfinished publication begins with; no entry's name does.
pub(crate) const UNFINISHED: &str = ".publishing-";

fn copy(source: &mut File, target: &Path) -> Result<(), DiskError> {
    let mut made = durable::create(target, b"")?;
    let mut buffer = vec![0_u8; 256 << 10];
    loop {
        let count = source
            .read(&mut buffer)
            .map_err(DiskError::because("read for", target))?;
        if count == 0 {
            return Ok(());
        }
        made.write_all(&buffer[..count])
            .map_err(DiskError::because("write", target))?;
    }
}
