//! Where things are: the project's root, drafts, entries.

use std::path::{Path, PathBuf};

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
    super::ui::safe(&relative.unwrap_or(path).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_above_experiments() {
        assert_eq!(root(Path::new("/p/experiments/x")), Path::new("/p"));
        assert_eq!(root(Path::new("/p/x")), Path::new("/p/x"));
    }
}
