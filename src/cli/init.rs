//! `loadlab init`: a new, valid, runnable experiment folder.

use std::path::Path;

use super::args::Init;
use super::failure::{Code, Failure};
use super::paths;
use super::ui::Ui;
use crate::model::ExperimentName;

/// Writes the folder; never over one that is there.
///
/// # Errors
/// When the name is none, the folder exists, or it cannot be written.
pub fn init(arguments: &Init, ui: Ui) -> Result<(), Failure> {
    let name: ExperimentName = arguments.name.parse().map_err(|fault| {
        Failure::new(
            Code::Usage,
            format!("cannot name an experiment so: {fault}"),
        )
    })?;
    let folder = arguments.into.join(name.as_str());
    let cannot = |path: &Path, error: std::io::Error| {
        Failure::new(
            Code::Usage,
            format!("cannot write {}: {error}", paths::shown(path)),
        )
    };
    std::fs::create_dir(&folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            let message = format!("{} exists already", paths::shown(&folder));
            Failure::new(Code::Usage, message)
                .hint("choose another name, or another folder with `--into`")
        }
        std::io::ErrorKind::NotFound => {
            cannot(&folder, error).hint("make the folder that `--into` names first")
        }
        _ => cannot(&folder, error),
    })?;
    let written = crate::manifest::new_experiment(&name)
        .into_iter()
        .try_for_each(|(relative, text)| {
            let path = folder.join(&relative);
            let parent = path.parent().unwrap_or(&folder);
            std::fs::create_dir_all(parent).map_err(|error| cannot(parent, error))?;
            std::fs::write(&path, text).map_err(|error| cannot(&path, error))
        });
    // Half an experiment would stand in the way of the next try.
    written.inspect_err(|_| drop(std::fs::remove_dir_all(&folder)))?;
    let manifest = paths::shown(&folder.join("experiment.yaml"));
    let folder = paths::shown(&folder);
    ui.result(&format!(
        "wrote {manifest}\n\nnext:\n  loadlab validate {manifest}\n  loadlab lock {manifest}\n  \
         git add {folder}, and commit: only what is committed before it is measured can be published\n  \
         loadlab run {manifest}"
    ));
    Ok(())
}
