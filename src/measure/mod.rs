//! Measuring: clocks, `/proc`, cgroups of both versions, pressure, facts about the machine.
//!
//! Reads only; nothing here makes a cgroup or starts a process. Every parser is a pure function from the
//! text of a kernel file to a value, and a value that the kernel does not offer is absent with the
//! reason, never 0.

pub mod cgroup;
pub mod clock;
pub mod host;
pub mod process;

use std::fs;
use std::path::{Path, PathBuf};

use crate::model::Known;

/// Why a file of the kernel gave no value.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It could not be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It was read and does not hold what was looked for.
    #[error("{path} does not hold {wanted}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        wanted: &'static str,
    },
}

/// The text of a kernel file.
///
/// # Errors
/// [`Unreadable::File`] with the path and the cause.
pub fn text(path: &Path) -> Result<String, Unreadable> {
    let bytes = fs::read(path).map_err(|source| Unreadable::File {
        path: path.to_owned(),
        source,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What a parser finds in a kernel file; `wanted` says what it looks for.
///
/// # Errors
/// [`Unreadable`] when the file cannot be read or the parser finds nothing.
pub fn value<T>(
    path: &Path,
    wanted: &'static str,
    parser: impl FnOnce(&str) -> Option<T>,
) -> Result<T, Unreadable> {
    parser(&text(path)?).ok_or_else(|| Unreadable::Content {
        path: path.to_owned(),
        wanted,
    })
}

/// The same as [`value`], with the failure as the reason of an absent value.
pub fn known<T>(
    path: &Path,
    wanted: &'static str,
    parser: impl FnOnce(&str) -> Option<T>,
) -> Known<T> {
    Known::from(value(path, wanted, parser))
}

/// The number of a file that holds a single one.
#[must_use]
pub fn single(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The number behind a key in lines of `key value` or `key: value`.
#[must_use]
pub fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let found = words.next()?.trim_end_matches(':');
        if found == key {
            words.next()?.parse().ok()
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyed_file_is_searched_by_whole_keys() {
        let text = "total_rss_huge 1\ntotal_rss 2\nMemTotal:   3 kB\nshort";
        for (key, found) in [
            ("total_rss", Some(2)),
            ("total_rss_huge", Some(1)),
            ("MemTotal", Some(3)),
            ("rss", None),
            ("short", None),
        ] {
            assert_eq!(keyed(text, key), found, "{key}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_absent_with_its_path() {
        let absent = known(Path::new("/proc/no-such-file"), "a number", single);
        assert_eq!(
            absent,
            Known::Absent(
                "cannot read /proc/no-such-file: No such file or directory (os error 2)".to_owned()
            )
        );
    }
}
