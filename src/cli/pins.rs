//! The programs of a session, byte for byte: an upgrade of a package while a run goes on is seen.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::lock::resolve::digest_of_file;
use crate::model::Digest;
use crate::model::text::harmless;
use crate::run::PinnedPrograms;

/// What a file system changes when a file's bytes change.
type Stamp = (u64, u64, u64, i64, i64, i64, i64);

fn stamp(found: &Metadata) -> Stamp {
    (
        found.dev(),
        found.ino(),
        found.size(),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
    )
}

/// One program.
struct Pin {
    name: String,
    path: PathBuf,
    began_with: Digest,
    /// The file as it was when its bytes were last compared; absent: they were not yet.
    compared: Mutex<Option<Stamp>>,
}

/// Programs as a session began with them. A file is read again only when the file system says that it
/// was touched.
#[derive(Default)]
pub struct Pins(Vec<Pin>);

impl Pins {
    /// Adds a program that had these bytes when it was compared with the lock.
    pub fn add(&mut self, name: &str, path: &Path, began_with: Digest) {
        self.0.push(Pin {
            name: harmless(name),
            path: path.to_owned(),
            began_with,
            compared: Mutex::new(None),
        });
    }
}

impl Pin {
    fn changed(&self) -> Option<String> {
        let Self {
            name,
            path,
            began_with,
            compared,
        } = self;
        let gone = |error: &std::io::Error| {
            format!("program `{name}` is no longer what the session began with: {error}")
        };
        let touched = match std::fs::metadata(path) {
            Ok(found) => stamp(&found),
            Err(error) => return Some(gone(&error)),
        };
        let mut compared = compared.lock().unwrap_or_else(PoisonError::into_inner);
        if *compared == Some(touched) {
            return None;
        }
        match digest_of_file(path) {
            Ok(now) if now == *began_with => {
                *compared = Some(touched);
                None
            }
            Ok(now) => Some(format!(
                "program `{name}` had other bytes when the session began: they were sha256:{}…, they are sha256:{}…",
                began_with.short(),
                now.short()
            )),
            Err(error) => Some(gone(&error)),
        }
    }
}

impl PinnedPrograms for Pins {
    fn changed(&self) -> Vec<String> {
        self.0.iter().filter_map(Pin::changed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn other_bytes_and_missing_files_are_seen_and_the_same_bytes_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server");
        fs::write(&path, "one").unwrap();
        let mut pins = Pins::default();
        pins.add("server", &path, Digest::of(b"one"));
        assert!(pins.changed().is_empty());

        // The same bytes in another file, as a package that was installed again.
        let other = folder.path().join("other");
        fs::write(&other, "one").unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(pins.changed().is_empty());

        fs::write(&path, "two").unwrap();
        assert_eq!(
            pins.changed(),
            [format!(
                "program `server` had other bytes when the session began: they were sha256:{}…, they are sha256:{}…",
                Digest::of(b"one").short(),
                Digest::of(b"two").short()
            )]
        );
        fs::write(&path, "one").unwrap();
        assert!(pins.changed().is_empty());
        fs::remove_file(&path).unwrap();
        assert_eq!(
            pins.changed(),
            [
                "program `server` is no longer what the session began with: No such file or directory (os error 2)"
            ]
        );
    }

    #[test]
    fn bytes_that_changed_between_the_check_and_the_first_look_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server");
        fs::write(&path, "two").unwrap();
        let mut pins = Pins::default();
        pins.add("server", &path, Digest::of(b"one"));
        assert_eq!(pins.changed().len(), 1);
    }
}
