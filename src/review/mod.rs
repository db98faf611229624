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
mod rendered;
pub mod reproduce;
pub mod status;
pub mod sums;
pub mod verify;

pub use exclude::{ExcludeError, exclude};
pub use folder::{Fault, Folder, FolderError};
pub use material::{Material, MaterialError};
pub use publish::{PublishError, publish};
pub use refusal::Refusal;
pub use rendered::{Rendered, RenderedFile};
pub use reproduce::{Reproduction, reproduce};
pub use verify::{Level, Verification, verify};

use std::path::Path;

pub use crate::report::{Content, Files};

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

/// What a draft or entry renders to, `SHA256SUMS` included where it is an entry. Writes nothing.
///
/// # Errors
/// When it cannot be read or a template is at fault.
pub fn render_entry(path: &Path) -> Result<Rendered, RenderEntryError> {
    let folder = Folder::open(path).map_err(MaterialError::from)?;
    render_material(&Material::read(&folder)?, &render)
}

/// Renders what was read; of an entry with the checksums.
pub(crate) fn render_material(
    material: &Material,
    renderer: &Renderer<'_>,
) -> Result<Rendered, RenderEntryError> {
    let files = renderer(material).map_err(RenderEntryError::Render)?;
    let witness = material.files.iter();
    let witness = || {
        witness
            .map(|file| (file.path.clone(), file.digest))
            .collect()
    };
    Ok(Rendered::new(files, material.published.then(witness)))
}
