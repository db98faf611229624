//! From drafts to published entries and back: publish, exclude, verify, reproduce, index.
//!
//! Names no engine and runs nothing. An entry may come from a stranger: it is read through
//! [`Folder`], which follows no link and opens nothing but plain files of bounded size.

pub mod compare;
pub mod exclude;
pub mod folder;
pub mod index;
pub mod material;
pub mod publish;
pub mod refusal;
pub mod reproduce;
pub mod status;
pub mod sums;
pub mod verify;

pub use exclude::{ExcludeError, exclude};
pub use folder::{Fault, Folder, FolderError};
pub use material::{Material, MaterialError};
pub use publish::{PublishError, publish};
pub use refusal::Refusal;
pub use reproduce::{Reproduction, reproduce};
pub use verify::{Level, Verification, verify};

use std::collections::BTreeMap;
use std::path::Path;

/// Files by their path relative to an entry.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Makes every rendered file of a draft or entry but its checksums, or says what is at fault.
pub type Renderer<'a> = dyn Fn(&Material) -> Result<Files, String> + 'a;

/// Why an entry cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderEntryError {
    /// What it would be made from cannot be read.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// A template or a text of the author is at fault.
    #[error("cannot render: {0}")]
    Render(String),
}

/// Renders a draft or entry: estimates its records and lays them out.
///
/// # Errors
/// What is at fault in its templates or the author's texts.
pub fn render(material: &Material) -> Result<Files, String> {
    material.render()
}

/// Every rendered file of a draft or entry by its path, `SHA256SUMS` included where it is an entry.
/// Writes nothing.
///
/// # Errors
/// When it cannot be read or a template is at fault.
pub fn render_entry(path: &Path) -> Result<Files, RenderEntryError> {
    render_entry_with(path, &render)
}

/// As [`render_entry`], with this renderer.
///
/// # Errors
/// As [`render_entry`].
pub fn render_entry_with(path: &Path, renderer: &Renderer<'_>) -> Result<Files, RenderEntryError> {
    let folder = Folder::open(path).map_err(MaterialError::from)?;
    let material = Material::read(&folder)?;
    render_material(&material, renderer)
}

/// Renders what was read, and adds the checksums where it is an entry.
pub(crate) fn render_material(
    material: &Material,
    renderer: &Renderer<'_>,
) -> Result<Files, RenderEntryError> {
    let mut files = renderer(material).map_err(RenderEntryError::Render)?;
    if material.published {
        let sums = sums::of(material, &files);
        files.insert(crate::record::layout::SUMS.to_owned(), sums.into_bytes());
    }
    Ok(files)
}
