//! The author's words are written after the measuring: a draft takes them from the manifest as it is now.

use std::path::Path;

use super::failure::{Code, Failure};
use super::ui::Ui;
use super::{equipment, paths};
use crate::lock::meaning;
use crate::manifest;
use crate::record::Draft;

/// Takes title, finding, limits and prose from the experiment's folder into a draft, when the manifest
/// there still says the same method. Else the draft keeps its words, and a note says why.
///
/// # Errors
/// When the draft cannot be read or written.
pub fn take(folder: &Path, ui: Ui) -> Result<(), Failure> {
    let damaged = |error: &dyn std::error::Error| Failure::caused(Code::Damaged, error);
    let draft = Draft::open(folder).map_err(|error| damaged(&error))?;
    if draft
        .published()
        .map_err(|error| damaged(&error))?
        .is_some()
    {
        return Ok(());
    }
    let measured = draft.expanded().map_err(|error| damaged(&error))?;
    let keep = |because: &str| {
        ui.note(&format!(
            "the report keeps the words that the draft has: {because}"
        ));
        Ok(())
    };
    let Ok(source) = equipment::experiment_folder(folder, &measured) else {
        return keep("its experiment is not where drafts are looked for");
    };
    let Ok(now) = manifest::load(&source, None) else {
        return keep(&format!("{} has faults now", paths::shown(&source)));
    };
    if meaning::model(&now.experiment) != meaning::model(&measured) {
        return keep(&format!(
            "{} says another method now",
            paths::shown(&source)
        ));
    }
    let prose = paths::read(&source.join("entry.md.j2"), Code::Manifest)?;
    draft
        .take_words(&now.experiment.page, prose.as_deref())
        .map_err(|error| damaged(&error))
}
