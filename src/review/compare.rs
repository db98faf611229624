//! Compares rendered files with those that are there, and names the first byte that differs.

use std::fmt;

use super::{Files, Folder, FolderError, Material};
use crate::record::layout::{self, Set};

/// Bytes shown before and after the first one that differs.
const AROUND: usize = 24;

/// How a file differs from what it is rendered as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// It is rendered but not there.
    Missing,
    /// It is there but not rendered.
    Extra,
    /// Its bytes differ.
    At {
        /// Line of the first byte that differs, from 1.
        line: usize,
        /// Its column, bytes from 1.
        column: usize,
        /// Its offset in the file, bytes from 0.
        offset: usize,
        /// What is there around it, escaped.
        found: String,
        /// What is rendered around it, escaped.
        rendered: String,
    },
}

/// A file that differs from what it is rendered as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Different {
    /// Its path relative to the entry.
    pub file: String,
    /// How it differs.
    pub difference: Difference,
}

impl fmt::Display for Different {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.difference {
            Difference::Missing => write!(f, "`{}` is not there", self.file),
            Difference::Extra => write!(
                f,
                "`{}` is there but not rendered",
                self.file.escape_debug()
            ),
            Difference::At {
                line,
                column,
                offset,
                found,
                rendered,
            } => write!(
                f,
                "`{}` differs at line {line}, column {column} (byte {offset}): there is `{found}`, rendered is `{rendered}`",
                self.file
            ),
        }
    }
}

/// Every rendered file against the file that is there, in the order of paths.
///
/// # Errors
/// When a file that is there cannot be read.
pub(crate) fn compare(
    folder: &Folder,
    present: impl Iterator<Item = String>,
    rendered: &Files,
) -> Result<Vec<Different>, FolderError> {
    let mut different = Vec::new();
    let ours = |path: &String| layout::set_of(path) == Set::Reproducible;
    let present: std::collections::BTreeSet<String> = present.filter(ours).collect();
    let all: std::collections::BTreeSet<&String> = present.iter().chain(rendered.keys()).collect();
    for file in all {
        let difference = match (present.contains(file), rendered.get(file)) {
            (true, Some(rendered)) => first_difference(&folder.read(file)?, rendered),
            (true, None) => Some(Difference::Extra),
            (false, _) => Some(Difference::Missing),
        };
        different.extend(difference.map(|difference| Different {
            file: file.clone(),
            difference,
        }));
    }
    Ok(different)
}

/// The first byte that differs; absent: none does.
#[must_use]
pub fn first_difference(found: &[u8], rendered: &[u8]) -> Option<Difference> {
    let same = found
        .iter()
        .zip(rendered)
        .take_while(|(left, right)| left == right)
        .count();
    if same == found.len() && same == rendered.len() {
        return None;
    }
    let before = &found[..same];
    let line_start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    Some(Difference::At {
        line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
        column: same - line_start + 1,
        offset: same,
        found: excerpt(found, same),
        rendered: excerpt(rendered, same),
    })
}

fn excerpt(bytes: &[u8], at: usize) -> String {
    if at >= bytes.len() {
        return "the end of the file".to_owned();
    }
    let part = &bytes[at.saturating_sub(AROUND)..bytes.len().min(at + AROUND)];
    String::from_utf8_lossy(part).escape_debug().to_string()
}

/// The paths of every file of an entry that is not a witness file.
pub(crate) fn present(folder: &Folder) -> Result<Vec<String>, FolderError> {
    Ok(folder.list()?.files.into_keys().collect())
}

/// Renders what a folder was read as and compares it with what is there; for `report --check`, which
/// works on drafts too.
///
/// # Errors
/// When it cannot be read or rendered.
pub fn check(path: &std::path::Path) -> Result<Vec<Different>, super::RenderEntryError> {
    let folder = Folder::open(path).map_err(super::MaterialError::from)?;
    let material = Material::read(&folder)?;
    let rendered = super::render_material(&material, &super::render)?;
    let present = present(&folder).map_err(super::MaterialError::from)?;
    let different = compare(&folder, present.into_iter(), &rendered);
    Ok(different.map_err(super::MaterialError::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_differs_is_named_with_its_place() {
        let found = first_difference(b"one\ntwo\nthree\n", b"one\ntwx\nthree\n");
        let expected = Difference::At {
            line: 2,
            column: 3,
            offset: 6,
            found: "one\\ntwo\\nthree\\n".to_owned(),
            rendered: "one\\ntwx\\nthree\\n".to_owned(),
        };
        assert_eq!(found, Some(expected));
        assert_eq!(first_difference(b"same", b"same"), None);
        let Some(Difference::At {
            offset,
            found,
            rendered,
            ..
        }) = first_difference(b"a\x1b[31m", b"a")
        else {
            panic!("they differ");
        };
        assert_eq!((offset, found.as_str()), (1, "a\\u{1b}[31m"));
        assert_eq!(rendered, "the end of the file");
    }
}
