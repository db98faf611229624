//! The experiment's files, read once when a run begins and checked against the manifest's digests.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::RunError;
use crate::model::experiment::NamedFile;
use crate::model::{Digest, Experiment};
use crate::record::durable;

/// The bytes of every file that the model names, by its relative path.
#[derive(Debug, Clone, Default)]
pub struct Files {
    bytes: BTreeMap<String, Vec<u8>>,
}

impl Files {
    /// Reads and checks every file. What is measured with is what was read here, whatever happens to
    /// the folder later.
    ///
    /// # Errors
    /// When a file cannot be read or is not the one that the manifest was loaded with.
    pub fn read(experiment: &Experiment, folder: &Path) -> Result<Self, RunError> {
        let read = |file: &NamedFile| Ok((file.path.clone(), read(folder, file)?));
        let bytes = experiment.files.iter().map(read);
        Ok(Self {
            bytes: bytes.collect::<Result<_, RunError>>()?,
        })
    }

    /// Files that were read elsewhere.
    #[cfg(test)]
    pub(super) fn of<'f>(files: impl IntoIterator<Item = (&'f str, Vec<u8>)>) -> Self {
        let files = files.into_iter();
        Self {
            bytes: files
                .map(|(path, bytes)| (path.to_owned(), bytes))
                .collect(),
        }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// When the model does not list it: the manifest's loader lists every file it names.
    pub fn get(&self, path: &str) -> Result<&[u8], RunError> {
        let bytes = self.bytes.get(path).map(Vec::as_slice);
        bytes.ok_or_else(|| RunError::Unbound {
            what: format!("`{path}`"),
            because: "the experiment does not list this file".to_owned(),
        })
    }
}

fn read(folder: &Path, file: &NamedFile) -> Result<Vec<u8>, RunError> {
    let path = folder.join(&file.path);
    let bytes = durable::read(&path).map_err(|error| RunError::Unreadable {
        path: path.clone(),
        because: error.source,
    })?;
    let found = Digest::of(&bytes);
    if found == file.digest {
        return Ok(bytes);
    }
    Err(RunError::FileChanged {
        path,
        found,
        expected: file.digest,
    })
}
