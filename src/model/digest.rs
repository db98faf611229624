//! Digests: sha256, written with the scheme in front so that others can come.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A sha256 digest. Text form: `sha256:` and 64 lower-case hexadecimal digits.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^sha256:[0-9a-f]{64}$"))]
pub struct Digest([u8; 32]);

/// Why a text is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `sha256:` and 64 hexadecimal digits, found `{0}`")]
pub struct NotADigest(String);

impl Digest {
    /// The digest of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a value's canonical JSON: keys sorted, no white space, integers only.
    ///
    /// # Panics
    /// When the value has a key that is no string or a float: the model has neither.
    #[must_use]
    pub fn of_value<T: Serialize>(value: &T) -> Self {
        Self::of(canonical(value).as_bytes())
    }

    /// The digest that a finished hasher holds.
    #[must_use]
    pub fn from_hasher(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    /// 64 hexadecimal digits, without the scheme.
    #[must_use]
    pub fn hex(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.0)
    }

    /// The first 12 hexadecimal digits, for names and tables.
    #[must_use]
    pub fn short(&self) -> String {
        self.hex()[..12].to_owned()
    }

    /// The first eight bytes as a number: a seed that follows from a meaning.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.0[..8]
            .iter()
            .fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
    }
}

/// Canonical JSON of a value: keys sorted bytewise, no white space. The model holds integers and
/// strings only, for which this agrees with RFC 8785.
///
/// # Panics
/// When the value has a key that is no string: the model has none.
#[must_use]
pub fn canonical<T: Serialize>(value: &T) -> String {
    let mut value = serde_json::to_value(value).expect("a model value has string keys");
    value.sort_all_objects();
    value.to_string()
}

impl FromStr for Digest {
    type Err = NotADigest;
    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let fault = || NotADigest(text.escape_debug().to_string());
        let hex = text.strip_prefix("sha256:").ok_or_else(fault)?;
        let bytes = data_encoding::HEXLOWER
            .decode(hex.as_bytes())
            .map_err(|_| fault())?;
        bytes.try_into().map(Self).map_err(|_| fault())
    }
}

super::written::written! {
    Digest, or NotADigest;
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_value_and_round_trip() {
        let digest = Digest::of(b"abc");
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse::<Digest>().unwrap(), digest);
        assert!("sha256:BA".parse::<Digest>().is_err());
    }

    #[test]
    fn canonical_json_sorts_keys_at_every_depth() {
        let value = serde_json::json!({"b": {"z": 1, "a": [2, {"y": 0, "x": 0}]}, "a": "é"});
        assert_eq!(
            canonical(&value),
            r#"{"a":"é","b":{"a":[2,{"x":0,"y":0}],"z":1}}"#
        );
    }
}
