//! The lock as text: sorted keys, one fact a line, so that git merges what does not touch the same fact.
//!
//! A digest of a file stands in an object of its own: two lines that never change lie between any
//! two digests, which is what a line-based merge needs.

use serde::{Deserialize, Serialize};

use super::{LOCK_VERSION, Lock};
use crate::model::text::harmless;

/// The largest lock that is read, bytes.
pub const LOCK_BYTES: usize = 16 << 20;

/// Why a text is no lock that this build can use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockFault {
    /// Larger than [`LOCK_BYTES`].
    #[error("cannot read the lock {path}: it has {bytes} bytes, expected at most {LOCK_BYTES}")]
    TooLarge {
        /// The file.
        path: String,
        /// Its length.
        bytes: usize,
    },
    /// Left in the middle of a merge.
    #[error(
        "cannot read the lock {path}: line {line} is a merge conflict's marker; take either side and run `loadlab lock` again"
    )]
    Conflict {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
    },
    /// Made by a later loadlab.
    #[error(
        "cannot read the lock {path}: it has `lock_version` {found}, this loadlab reads up to {LOCK_VERSION}; use the loadlab that wrote it or a later one"
    )]
    Newer {
        /// The file.
        path: String,
        /// Its version.
        found: u64,
    },
    /// No lock, or a damaged one.
    #[error(
        "cannot read the lock {path}: line {line}, column {column}: {because}; put it back, or remove it and pin anew with `loadlab lock`"
    )]
    Json {
        /// The file.
        path: String,
        /// The line, from 1; 0 when the fault has no place.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What was found and what was expected.
        because: String,
    },
}

impl Lock {
    /// The lock as it is written: keys sorted, two spaces, one fact a line, a line end at the end.
    ///
    /// # Panics
    /// Never: a lock has string keys only.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut value = serde_json::to_value(self).expect("a lock has string keys");
        value.sort_all_objects();
        let mut text = serde_json::to_string_pretty(&value).expect("a JSON value can be written");
        text.push('\n');
        text
    }

    /// Reads a lock; `path` only names it in messages.
    ///
    /// # Errors
    /// When it is too large, in the middle of a merge, newer than this build, or no lock.
    pub fn from_text(text: &str, path: &str) -> Result<Self, LockFault> {
        let path = harmless(path);
        if text.len() > LOCK_BYTES {
            let bytes = text.len();
            return Err(LockFault::TooLarge { path, bytes });
        }
        if let Some(line) = conflict(text) {
            return Err(LockFault::Conflict { path, line });
        }
        if let Some(found) = version(text).filter(|found| *found > u64::from(LOCK_VERSION)) {
            return Err(LockFault::Newer { path, found });
        }
        let lock: Self = serde_json::from_str(text).map_err(|error| json(&path, &error))?;
        if lock.lock_version == LOCK_VERSION {
            Ok(lock)
        } else {
            let because = format!(
                "`lock_version` is {}, expected {LOCK_VERSION}",
                lock.lock_version
            );
            let (line, column) = (0, 0);
            Err(LockFault::Json {
                path,
                line,
                column,
                because,
            })
        }
    }
}

/// The first line that is a marker of a merge conflict.
fn conflict(text: &str) -> Option<usize> {
    let marker = |line: &str| {
        let of = |sign: &str| line.strip_prefix(sign).is_some_and(ends_or_names);
        of("<<<<<<<") || of("|||||||") || of("=======") || of(">>>>>>>")
    };
    text.lines().position(marker).map(|index| index + 1)
}

fn ends_or_names(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(' ')
}

/// The format's version, also of a lock whose other parts this build does not know.
fn version(text: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Version {
        lock_version: u64,
    }
    let version: Result<Version, _> = serde_json::from_str(text);
    version.ok().map(|version| version.lock_version)
}

fn json(path: &str, error: &serde_json::Error) -> LockFault {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    LockFault::Json {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
        because: harmless(text.strip_suffix(&place).unwrap_or(&text)),
    }
}

/// A digest in an object of its own.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spread {
    digest: crate::model::Digest,
}

/// A map whose keys may not come twice: after a bad merge the last one would win in silence.
pub(super) mod distinct {
    use std::collections::BTreeMap;
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{Error, MapAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::lock) fn serialize<T: Serialize, S: Serializer>(
        map: &BTreeMap<String, T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        map.serialize(serializer)
    }

    pub(in crate::lock) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, T>, D::Error> {
        deserializer.deserialize_map(Distinct(PhantomData))
    }

    struct Distinct<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Distinct<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object whose keys are distinct")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = access.next_entry::<String, T>()? {
                if map.contains_key(&key) {
                    return Err(A::Error::custom(format!("key `{key}` stands there twice")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }
}

/// Digests by path, each in an object of its own.
pub(super) mod digests {
    use std::collections::BTreeMap;

    use serde::{Deserializer, Serialize, Serializer};

    use super::{Spread, distinct};
    use crate::model::Digest;

    pub(in crate::lock) fn serialize<S: Serializer>(
        map: &BTreeMap<String, Digest>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let spread: BTreeMap<&str, Spread> = map
            .iter()
            .map(|(path, digest)| (path.as_str(), Spread { digest: *digest }))
            .collect();
        spread.serialize(serializer)
    }

    pub(in crate::lock) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Digest>, D::Error> {
        let spread: BTreeMap<String, Spread> = distinct::deserialize(deserializer)?;
        let plain = spread
            .into_iter()
            .map(|(path, spread)| (path, spread.digest));
        Ok(plain.collect())
    }
}
