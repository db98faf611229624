//! What a draft or entry renders to, handed on file by file; of an entry the checksums of all as well.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

use sha2::Digest as _;

use super::sums;
use crate::model::Digest;
use crate::record::layout;
use crate::report::{Content, Files};

/// Every rendered file of a draft or entry; of an entry `SHA256SUMS` too, which follows from the others.
#[derive(Debug)]
pub struct Rendered {
    files: Files,
    /// The checksums of an entry's witness files; absent: a draft, which has none.
    witness: Option<BTreeMap<String, Digest>>,
}

impl Rendered {
    /// The files of a draft, or of an entry with these witness files.
    pub(super) const fn new(files: Files, witness: Option<BTreeMap<String, Digest>>) -> Self {
        Self { files, witness }
    }

    /// The path of every file.
    #[must_use]
    pub fn paths(&self) -> BTreeSet<&str> {
        let mut paths = self.files.paths();
        paths.extend(self.witness.as_ref().map(|_| layout::SUMS));
        paths
    }

    /// Hands every file on, two at a time and the checksums last; gives what became of each, by its path.
    /// Whoever takes a file writes it somewhere: its checksum is of what was written.
    ///
    /// # Errors
    /// The first that fails; the files after it are left out.
    pub fn each<T: Send, E: Send>(
        &self,
        take: impl Fn(&str, &RenderedFile<'_>) -> Result<T, E> + Sync,
    ) -> Result<BTreeMap<String, T>, E> {
        let Some(witness) = &self.witness else {
            return self
                .files
                .each(|path, content| take(path, &RenderedFile { content, sum: None }));
        };
        let sums = Mutex::new(witness.clone());
        let mut became = self.files.each(|path, content| {
            let sum = OnceLock::new();
            let file = RenderedFile {
                content,
                sum: Some(&sum),
            };
            let one = take(path, &file)?;
            let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            sums.extend(sum.get().map(|sum| (path.to_owned(), *sum)));
            Ok(one)
        })?;
        let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
        let content = &Content::from(sums::text(&sums));
        let one = take(layout::SUMS, &RenderedFile { content, sum: None })?;
        became.insert(layout::SUMS.to_owned(), one);
        Ok(became)
    }
}

/// A rendered file.
#[derive(Debug)]
pub struct RenderedFile<'a> {
    content: &'a Content,
    /// Where its digest goes; absent: nobody asks for it.
    sum: Option<&'a OnceLock<Digest>>,
}

impl RenderedFile<'_> {
    /// Writes it, in pieces.
    ///
    /// # Errors
    /// Whatever the other end refuses.
    pub fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let Some(sum) = self.sum else {
            return self.content.write_to(to);
        };
        let hasher = sha2::Sha256::new();
        let mut hashing = Hashing { to, hasher };
        self.content.write_to(&mut hashing)?;
        sum.get_or_init(|| Digest::from_hasher(hashing.hasher));
        Ok(())
    }
}

/// Hands bytes on and adds them to a digest.
struct Hashing<'a> {
    to: &'a mut dyn io::Write,
    hasher: sha2::Sha256,
}

impl io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
