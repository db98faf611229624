//! Where the known weights are measured: a folder of their own, gone afterwards unless it is to be kept.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::cli::failure::{Code, Failure};
use crate::cli::paths;

/// A folder that nobody else uses.
pub struct Workplace {
    folder: PathBuf,
    keep: bool,
}

impl Workplace {
    /// Makes the folder: the one named, or one among the temporary files.
    ///
    /// # Errors
    /// When it exists or cannot be made.
    pub fn make(keep: Option<&Path>) -> Result<Self, Failure> {
        let folder = keep.map_or_else(temporary, Path::to_path_buf);
        let code = if keep.is_some() {
            Code::Usage
        } else {
            Code::Unfit
        };
        let made = std::fs::DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| {
            let message = format!("cannot make {}: {error}", paths::shown(&folder));
            Failure::new(code, message)
        })?;
        Ok(Self {
            folder,
            keep: keep.is_some(),
        })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&self, path: &Path, text: &str) -> Result<(), Failure> {
        std::fs::write(path, text).map_err(|error| {
            let message = format!("cannot write {}: {error}", paths::shown(path));
            Failure::new(Code::Unfit, message)
        })
    }
}

/// A name that no other process uses and that nobody can guess to stand in the way.
fn temporary() -> PathBuf {
    let now = crate::measure::clock::realtime_ns();
    std::env::temp_dir().join(format!("loadlab-selftest-{}-{now}", std::process::id()))
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if !self.keep {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
