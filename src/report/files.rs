//! The files of a report. What grows with the measurements is made as it is written and never held
//! whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

/// Writes a file's bytes: the same ones every time.
type Making = dyn Fn(&mut dyn io::Write) -> io::Result<()> + Send + Sync;

/// What a file holds.
pub enum Content {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// Made anew whenever it is written.
    Made(Box<Making>),
}

impl Content {
    /// Of a function that writes the same bytes every time.
    pub fn made(
        making: impl Fn(&mut dyn io::Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::Made(Box::new(making))
    }

    /// Writes it, in pieces.
    ///
    /// # Errors
    /// Whatever the other end refuses.
    pub fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => to.write_all(bytes),
            Self::Made(making) => making(to),
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Bytes(text.into_bytes())
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Made(_) => f.write_str("made as it is written"),
        }
    }
}

/// Files by their path relative to an entry, with `/`; in the order in which they are made.
#[derive(Debug, Default)]
pub struct Files(IndexMap<String, Content>);

impl Files {
    /// Adds a file; one of the same path is replaced.
    pub fn insert(&mut self, path: impl Into<String>, content: Content) {
        self.0.insert(path.into(), content);
    }

    /// Every path.
    #[must_use]
    pub fn paths(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Hands every file on, two at a time; gives what became of each, by its path.
    ///
    /// # Errors
    /// The first of some that fails; the files after it are left out.
    pub fn each<T: Send, E: Send>(
        &self,
        take: impl Fn(&str, &Content) -> Result<T, E> + Sync,
    ) -> Result<BTreeMap<String, T>, E> {
        let left = Mutex::new(self.0.iter());
        let became = Mutex::new(Ok(BTreeMap::new()));
        let work = || {
            while let Some((path, content)) = next(&left) {
                let one = take(path, content);
                match (&mut *held(&became), one) {
                    (Ok(all), Ok(one)) => drop(all.insert(path.clone(), one)),
                    (Err(_), _) => return,
                    (all, Err(error)) => {
                        *all = Err(error);
                        return;
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            work();
        });
        became.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Into<String>, const N: usize> From<[(P, Vec<u8>); N]> for Files {
    fn from(files: [(P, Vec<u8>); N]) -> Self {
        let files = files.into_iter();
        Self(
            files
                .map(|(path, bytes)| (path.into(), Content::Bytes(bytes)))
                .collect(),
        )
    }
}

fn next<I: Iterator>(left: &Mutex<I>) -> Option<I::Item> {
    held(left).next()
}

/// A thread that panicked while it held it ends the whole with its panic.
fn held<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        let mut files = Files::from([("b", b"two".to_vec()), ("a", b"one".to_vec())]);
        files.insert("c/d", Content::made(|to| to.write_all(b"three")));
        files
    }

    #[test]
    fn every_file_is_handed_on_once() {
        let whole = |_: &str, content: &Content| {
            let mut bytes = Vec::new();
            content.write_to(&mut bytes).map(|()| bytes)
        };
        let made = files().each(whole).unwrap();
        let expected = [("a", "one"), ("b", "two"), ("c/d", "three")];
        let expected = expected.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(made, BTreeMap::from(expected));
        assert_eq!(files().paths(), BTreeSet::from(["a", "b", "c/d"]));
    }

    #[test]
    fn one_that_fails_ends_all() {
        let fails = |path: &str, _: &Content| match path {
            "a" => Err("refused"),
            _ => Ok(()),
        };
        assert_eq!(files().each(fails), Err("refused"));
    }
}
