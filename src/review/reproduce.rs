//! `reproduce`: verifies an entry, renders it again and compares byte for byte.

use std::path::Path;

use super::compare::Different;
use super::folder::{Fault, Folder};
use super::verify::{Integrity, render_again};
use super::{MaterialError, RenderEntryError, Renderer};

/// What came of making an entry's rendered files again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reproduction {
    /// Every byte came out again.
    Same,
    /// What it is made from is damaged: nothing was rendered.
    Damaged(Vec<Fault>),
    /// Rendered files that came out otherwise, in the order of paths; the first names the first byte.
    Different(Vec<Different>),
}

/// Verifies an entry, renders it again and compares byte for byte. Writes nothing.
///
/// # Errors
/// When the folder cannot be read or a template is at fault.
pub fn reproduce(entry: &Path) -> Result<Reproduction, RenderEntryError> {
    reproduce_with(entry, &super::render)
}

/// As [`reproduce`], with this renderer.
///
/// # Errors
/// As [`reproduce`].
pub fn reproduce_with(
    entry: &Path,
    renderer: &Renderer<'_>,
) -> Result<Reproduction, RenderEntryError> {
    let folder = Folder::open(entry).map_err(MaterialError::from)?;
    let integrity = Integrity::of(&folder).map_err(MaterialError::from)?;
    if integrity.witness_damaged {
        return Ok(Reproduction::Damaged(integrity.faults));
    }
    let different = render_again(&folder, &integrity, renderer)?;
    Ok(if different.is_empty() {
        Reproduction::Same
    } else {
        Reproduction::Different(different)
    })
}
