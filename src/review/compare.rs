//! Compares rendered files with those that are there, and names the first byte that differs.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read, Write};

use super::{Folder, FolderError, Material, Rendered};
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
    rendered: &Rendered,
) -> Result<Vec<Different>, FolderError> {
    let ours = |path: &String| layout::set_of(path) == Set::Reproducible;
    let present: BTreeSet<String> = present.filter(ours).collect();
    let mut differences = rendered.each(|path, file| {
        let there = present.contains(path);
        let found: Box<dyn Read> = if there {
            Box::new(folder.file(path)?)
        } else {
            Box::new(io::empty())
        };
        let mut comparing = Comparing::with(found);
        let compared = file.write_to(&mut comparing);
        let difference = compared.and_then(|()| comparing.finish());
        let difference = difference.map_err(|error| folder.error(path, error))?;
        Ok(if there {
            difference
        } else {
            Some(Difference::Missing)
        })
    })?;
    for path in present {
        differences.entry(path).or_insert(Some(Difference::Extra));
    }
    let different = |(file, difference): (String, Option<Difference>)| {
        let difference = difference?;
        Some(Different { file, difference })
    };
    Ok(differences.into_iter().filter_map(different).collect())
}

/// The first byte that differs; absent: none does.
#[must_use]
pub fn first_difference(found: &[u8], rendered: &[u8]) -> Option<Difference> {
    let mut comparing = Comparing::with(found);
    let compared = comparing.write_all(rendered);
    let difference = compared.and_then(|()| comparing.finish());
    difference.expect("bytes in memory can be read")
}

/// Takes rendered bytes and reads what is there beside them, up to the first byte that differs.
struct Comparing<R> {
    found: R,
    block: Vec<u8>,
    /// Bytes that are the same.
    same: usize,
    /// Line ends among them, and the bytes up to the last.
    lines: usize,
    line_start: usize,
    /// The last of them.
    before: Vec<u8>,
    /// What follows them there and as rendered, where it differs.
    after: Option<(Vec<u8>, Vec<u8>)>,
}

impl<R: Read> Comparing<R> {
    fn with(found: R) -> Self {
        Self {
            found,
            block: Vec::new(),
            same: 0,
            lines: 0,
            line_start: 0,
            before: Vec::new(),
            after: None,
        }
    }

    /// Compares a piece with what is there at its place.
    fn compare(&mut self, rendered: &[u8]) -> io::Result<()> {
        self.block.resize(rendered.len(), 0);
        let count = fill(&mut self.found, &mut self.block)?;
        let found = &self.block[..count];
        let same = if found == rendered {
            count
        } else {
            let pairs = found.iter().zip(rendered);
            pairs.take_while(|(left, right)| left == right).count()
        };
        if same < rendered.len() {
            let mut after = found[same..].to_vec();
            let mut more = vec![0; AROUND];
            let count = fill(&mut self.found, &mut more)?;
            after.extend_from_slice(&more[..count]);
            self.after = Some((after, rendered[same..].to_vec()));
        }
        self.went(&rendered[..same]);
        Ok(())
    }

    /// Counts bytes that are the same.
    fn went(&mut self, bytes: &[u8]) {
        let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
        if let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') {
            self.lines += ends;
            self.line_start = self.same + last + 1;
        }
        self.same += bytes.len();
        self.before
            .extend_from_slice(&bytes[bytes.len().saturating_sub(AROUND)..]);
        let beyond = self.before.len().saturating_sub(AROUND);
        self.before.drain(..beyond);
    }

    /// The first byte that differs, once everything was rendered; absent: none does.
    fn finish(mut self) -> io::Result<Option<Difference>> {
        if self.after.is_none() {
            let mut more = vec![0; AROUND];
            let count = fill(&mut self.found, &mut more)?;
            more.truncate(count);
            self.after = (count > 0).then_some((more, Vec::new()));
        }
        let Some((found, rendered)) = self.after else {
            return Ok(None);
        };
        Ok(Some(Difference::At {
            line: self.lines + 1,
            column: self.same - self.line_start + 1,
            offset: self.same,
            found: excerpt(&self.before, &found),
            rendered: excerpt(&self.before, &rendered),
        }))
    }
}

impl<R: Read> Write for Comparing<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.after {
            None => self.compare(bytes)?,
            Some((_, rendered)) if rendered.len() < AROUND => rendered.extend_from_slice(bytes),
            Some(_) => {}
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads until the block is full or nothing is left; gives how much was read.
fn fill(from: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < block.len() {
        match from.read(&mut block[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// The bytes around a place, escaped.
fn excerpt(before: &[u8], after: &[u8]) -> String {
    if after.is_empty() {
        return "the end of the file".to_owned();
    }
    let part = [before, &after[..after.len().min(AROUND)]].concat();
    String::from_utf8_lossy(&part).escape_debug().to_string()
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

    #[test]
    fn pieces_are_compared_as_the_whole_is() {
        let found: Vec<u8> = (0..90).map(|at| b"abc\ndefgh\n"[at % 10]).collect();
        let in_pieces = |rendered: &[u8], length: usize| {
            let mut comparing = Comparing::with(found.as_slice());
            for piece in rendered.chunks(length) {
                comparing.write_all(piece).unwrap();
            }
            comparing.finish().unwrap()
        };
        let mut others = vec![found.clone(), Vec::new(), [&found[..], b"more"].concat()];
        for at in 0..found.len() {
            let mut other = found.clone();
            other[at] = b'!';
            others.extend([other, found[..at].to_vec()]);
        }
        for rendered in others {
            let whole = first_difference(&found, &rendered);
            let same = found.iter().zip(&rendered).take_while(|(a, b)| a == b);
            let same = same.count();
            let expected = (found != rendered).then(|| {
                let lines = found[..same].split(|byte| *byte == b'\n');
                let column = lines.clone().next_back().map_or(0, <[u8]>::len) + 1;
                let excerpt = |all: &[u8]| match all.get(same..) {
                    None | Some([]) => "the end of the file".to_owned(),
                    Some(_) => {
                        let around = &all[same.saturating_sub(24)..all.len().min(same + 24)];
                        around.escape_ascii().to_string()
                    }
                };
                Difference::At {
                    line: lines.count(),
                    column,
                    offset: same,
                    found: excerpt(&found),
                    rendered: excerpt(&rendered),
                }
            });
            assert_eq!(whole, expected);
            for length in [1, 7, 23, 64] {
                assert_eq!(in_pieces(&rendered, length), whole, "{length}");
            }
        }
    }
}
