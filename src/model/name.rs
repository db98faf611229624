//! Names that people write. One grammar for all: they become folders, file names and JSON keys.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest name allowed, in bytes.
pub const NAME_LENGTH: usize = 64;

/// The grammar of every name, as a regular expression (used by the schema).
pub const NAME_PATTERN: &str = "^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$";

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected 1 to {NAME_LENGTH} of a-z, 0-9, `-`, `_` or `.`, beginning and ending with a letter or digit; found `{found}`"
)]
pub struct NotAName {
    /// The text that was given, escaped for printing.
    pub found: String,
}

fn check(text: &str) -> Result<(), NotAName> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let inner = |byte: u8| plain(byte) || matches!(byte, b'-' | b'_' | b'.');
    let bytes = text.as_bytes();
    let ends =
        bytes.first().copied().is_some_and(plain) && bytes.last().copied().is_some_and(plain);
    if ends && bytes.len() <= NAME_LENGTH && bytes.iter().copied().all(inner) {
        Ok(())
    } else {
        Err(NotAName {
            found: text.escape_debug().to_string(),
        })
    }
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(extend("pattern" = NAME_PATTERN))]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NotAName;
            fn from_str(text: &str) -> Result<Self, NotAName> {
                check(text).map(|()| Self(text.to_owned()))
            }
        }

        super::written::written! {
            $name, or NotAName;
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

names! {
    /// Names an experiment; also its folder in `experiments/` and `results/`.
    ExperimentName;
    /// Names a candidate.
    CandidateName;
    /// Names a service.
    ServiceName;
    /// Names a member of a role; a role with a single member calls it `main`.
    MemberName;
    /// Names a scenario.
    ScenarioName;
    /// Names a phase.
    PhaseName;
    /// Names a port of a member; a member with a single port calls it `http`.
    PortName;
    /// Names a derived number.
    DerivedName;
    /// Names an entry: the day it was begun and a short digest, or a revision of one.
    EntryName;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain() {
        for good in ["a", "level-6", "php-8.5", "x_1", "0"] {
            assert!(good.parse::<CandidateName>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "-a",
            "a-",
            "A",
            "a b",
            "a/b",
            "..",
            "é",
            &"a".repeat(65),
        ] {
            assert!(bad.parse::<CandidateName>().is_err(), "{bad}");
        }
    }
}
