//! Where things are: the project's root, drafts, entries.

use std::path::{Path, PathBuf};

use super::failure::{Code, Failure};
use crate::record::durable;

/// The root that `runs/` and `results/` stand in: the folder above `experiments/` when the experiment
/// lies in one, else the experiment's own folder.
#[must_use]
pub fn root(experiment: &Path) -> PathBuf {
    let folder = std::path::absolute(experiment).unwrap_or_else(|_| experiment.to_owned());
    let parent = folder
        .parent()
        .filter(|parent| parent.ends_with("experiments"));
    parent.and_then(Path::parent).unwrap_or(&folder).to_owned()
}

/// The path as a person would write it: relative to the present folder where it lies in it.
#[must_use]
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let relative = here
        .as_deref()
        .and_then(|here| path.strip_prefix(here).ok());
    let path = relative.unwrap_or(path);
    let plain = path.strip_prefix(".").ok();
    let named = plain.filter(|path| !path.as_os_str().is_empty());
    super::ui::safe(&named.unwrap_or(path).display().to_string())
}

/// The bytes of a plain file; absent: there is none.
///
/// # Errors
/// With this code, when something is there that cannot be read as a plain file.
pub fn read(path: &Path, code: Code) -> Result<Option<Vec<u8>>, Failure> {
    match durable::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read {}: {}", shown(path), error.source);
            Err(Failure::new(code, message))
        }
    }
}

/// Writes the whole file or nothing of it. What a killed loadlab left of an earlier try is taken away.
///
/// # Errors
/// When the disk refuses; what was there is then untouched.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    durable::replace(path, bytes).map_err(|error| {
        let message = format!("cannot write {}: {}", shown(path), error.source);
        Failure::new(Code::Unfit, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_without_what_goes_without_saying() {
        for (path, as_shown) in [("./a/b", "a/b"), ("a", "a"), (".", "."), ("../a", "../a")] {
            assert_eq!(shown(Path::new(path)), as_shown);
        }
    }

    #[test]
    fn the_root_is_above_experiments() {
        assert_eq!(root(Path::new("/p/experiments/x")), Path::new("/p"));
        assert_eq!(root(Path::new("/p/x")), Path::new("/p/x"));
    }
}
