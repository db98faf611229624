//! The indexes of `results/`: `EXCLUDED.md` and `results/README.md`, made from published entries alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::material::{self, MaterialError};
use super::status::{self, Standing, StatusError};
use crate::estimate::Summary;
use crate::estimate::summary::Exclusion;
use crate::model::{EntryName, Experiment, ExperimentName};
use crate::record::{durable, layout};
use crate::report::escape::{markdown, plain};

/// Why the indexes cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// A folder cannot be read.
    #[error("cannot read `{}`: {source}", path.to_string_lossy().escape_debug())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file of an entry cannot be read.
    #[error("entry `{entry}`: {source}")]
    Entry {
        /// The experiment and the entry.
        entry: String,
        /// The cause.
        source: Box<MaterialError>,
    },
    /// A status is none.
    #[error(transparent)]
    Status(#[from] StatusError),
    /// Something that is neither an entry nor a status.
    #[error("`{}` is neither an entry nor the status of one; move it away", .0.to_string_lossy().escape_debug())]
    Stray(PathBuf),
}

/// A published entry as the indexes show it.
#[derive(Debug, Clone)]
pub struct Indexed {
    /// Its folder's experiment.
    pub experiment: ExperimentName,
    /// Its folder's name.
    pub entry: EntryName,
    /// The page's headline.
    pub title: String,
    /// All of its estimates.
    pub summary: Summary,
    /// Where it stands.
    pub standing: Standing,
    /// Why, where somebody said.
    pub because: Option<String>,
}

/// Every published entry below `results`, by experiment and name.
///
/// # Errors
/// When one of them cannot be read.
pub fn entries(results: &Path) -> Result<Vec<Indexed>, IndexError> {
    let mut found = Vec::new();
    for (name, folder) in folders(results)? {
        let Ok(experiment) = name.parse::<ExperimentName>() else {
            return Err(IndexError::Stray(folder));
        };
        for (name, folder) in folders(&folder)? {
            let Ok(entry) = name.parse::<EntryName>() else {
                return Err(IndexError::Stray(folder));
            };
            if !folder.join(layout::SUMS).is_file() {
                return Err(IndexError::Stray(folder));
            }
            found.push(indexed(&experiment, entry, &folder)?);
        }
    }
    Ok(found)
}

/// The folders in a folder by name, hidden ones left out; none where there is no such folder.
fn folders(path: &Path) -> Result<BTreeMap<String, PathBuf>, IndexError> {
    let error = |source| IndexError::Folder {
        path: path.to_path_buf(),
        source,
    };
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(cause) => return Err(error(cause)),
    };
    let mut found = BTreeMap::new();
    for entry in entries {
        let entry = entry.map_err(error)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && entry.file_type().map_err(error)?.is_dir() {
            found.insert(name, entry.path());
        }
    }
    Ok(found)
}

fn indexed(
    experiment: &ExperimentName,
    entry: EntryName,
    path: &Path,
) -> Result<Indexed, IndexError> {
    let read = || -> Result<(Summary, Experiment), MaterialError> {
        let folder = Folder::open(path)?;
        let mut model: Experiment = material::json(&folder, layout::EXPANDED)?;
        if folder.has(layout::PAGE) {
            model.page = material::json(&folder, layout::PAGE)?;
        }
        Ok((material::json(&folder, layout::SUMMARY)?, model))
    };
    let (summary, model) = read().map_err(|source| IndexError::Entry {
        entry: format!("{experiment}/{entry}"),
        source: Box::new(source),
    })?;
    let status = status::read(path)?;
    Ok(Indexed {
        experiment: experiment.clone(),
        entry,
        title: model.page.title,
        summary,
        standing: status
            .as_ref()
            .map_or(Standing::Current, |status| status.status),
        because: status.map(|status| status.because),
    })
}

/// `EXCLUDED.md`: every block and measurement of a published entry that does not count.
///
/// # Errors
/// When an entry cannot be read.
pub fn excluded(results: &Path) -> Result<String, IndexError> {
    let entries = entries(results)?;
    let mut text = String::from(
        "# What does not count\n\n\
         Every block and measurement of a published entry that was left out, with the evidence. Made by\n\
         `loadlab index` from the entries; do not edit.\n",
    );
    if entries.is_empty() {
        text.push_str("\nNothing is published yet.\n");
    }
    for entry in &entries {
        let _ = write!(
            text,
            "\n## {}/{}\n\n",
            markdown(entry.experiment.as_str()),
            markdown(entry.entry.as_str())
        );
        let kept: u64 = entry.summary.counts.iter().map(|counts| counts.kept).sum();
        let planned: u64 = entry
            .summary
            .counts
            .iter()
            .map(|counts| counts.planned)
            .sum();
        let _ = writeln!(
            text,
            "{kept} of {planned} blocks kept, {} excluded.",
            amount(entry.summary.exclusions.len())
        );
        if entry.summary.exclusions.is_empty() {
            continue;
        }
        text.push_str("\n| attempt | measurement | code | evidence | decided by | on |\n|---|---|---|---|---|---|\n");
        entry
            .summary
            .exclusions
            .iter()
            .for_each(|exclusion| row(&mut text, exclusion));
    }
    Ok(text)
}

fn amount(count: usize) -> String {
    if count == 0 {
        "nothing".to_owned()
    } else {
        count.to_string()
    }
}

fn row(text: &mut String, exclusion: &Exclusion) {
    let measurement = exclusion
        .measurement
        .as_ref()
        .map_or_else(|| "whole block".to_owned(), ToString::to_string);
    let cells = [
        exclusion.attempt.to_string(),
        measurement,
        exclusion.code.to_string(),
        exclusion.evidence.clone(),
        exclusion.by.clone().unwrap_or_else(|| "a guard".to_owned()),
        exclusion.on.clone().unwrap_or_default(),
    ];
    let cells = cells.map(|cell| markdown(&plain(&cell)));
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// `results/README.md`: every published entry and where it stands.
///
/// # Errors
/// When an entry cannot be read.
pub fn results(results: &Path) -> Result<String, IndexError> {
    let entries = entries(results)?;
    let mut text =
        String::from("# Results\n\nEvery published entry. Made by `loadlab index`; do not edit.\n");
    if entries.is_empty() {
        text.push_str("\nNothing is published yet.\n");
        return Ok(text);
    }
    text.push_str(
        "\n| experiment | entry | title | measured on | status |\n|---|---|---|---|---|\n",
    );
    for entry in &entries {
        let (first, last) = &entry.summary.measured_on;
        let days = if first == last {
            first.clone()
        } else {
            format!("{first} to {last}")
        };
        let link = format!("{}/{}/report/entry.md", entry.experiment, entry.entry);
        let because = entry
            .because
            .as_ref()
            .map(|because| format!(": {}", markdown(because)));
        let _ = writeln!(
            text,
            "| {} | [{}]({link}) | {} | {} | {}{} |",
            markdown(entry.experiment.as_str()),
            markdown(entry.entry.as_str()),
            markdown(&entry.title),
            markdown(&days),
            entry.standing,
            because.unwrap_or_default(),
        );
    }
    Ok(text)
}

/// An index file that is not what the entries make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// The file.
    pub path: PathBuf,
    /// Where it first differs; absent: it is not there.
    pub difference: Option<super::compare::Difference>,
}

/// The index files of a repository, by path: `EXCLUDED.md` and `results/README.md`.
///
/// # Errors
/// When an entry cannot be read.
pub fn files(repository: &Path) -> Result<BTreeMap<PathBuf, String>, IndexError> {
    let root = repository.join("results");
    Ok(BTreeMap::from([
        (repository.join("EXCLUDED.md"), excluded(&root)?),
        (root.join("README.md"), results(&root)?),
    ]))
}

/// Compares the index files of a repository with what its entries make them.
///
/// # Errors
/// When an entry cannot be read.
pub fn check(repository: &Path) -> Result<Vec<Stale>, IndexError> {
    let mut stale = Vec::new();
    for (path, text) in files(repository)? {
        match durable::read(&path) {
            Ok(found) => {
                let difference = super::compare::first_difference(&found, text.as_bytes());
                stale.extend(difference.map(|difference| Stale {
                    path,
                    difference: Some(difference),
                }));
            }
            Err(_) => stale.push(Stale {
                path,
                difference: None,
            }),
        }
    }
    Ok(stale)
}
