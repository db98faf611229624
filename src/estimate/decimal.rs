//! Numbers of a summary: doubles that are written as text.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number as text: the shortest decimal that reads back to the same double.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct Decimal(#[schemars(with = "String")] f64);

impl From<f64> for Decimal {
    fn from(value: f64) -> Self {
        Self(if value == 0.0 { 0.0 } else { value })
    }
}

impl Decimal {
    /// The number.
    #[must_use]
    pub const fn get(&self) -> f64 {
        self.0
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Decimal {}

/// The longest text of a double: `-2.2250738585072014e-308`.
const LONGEST: usize = 24;

impl Decimal {
    /// Hands its text to a function.
    pub(crate) fn with_text<T>(self, take: impl FnOnce(&str) -> T) -> T {
        let mut buffer = [0_u8; LONGEST];
        let mut left = &mut buffer[..];
        let written = serde_json::to_writer(&mut left, &self.0);
        let length = LONGEST - left.len();
        debug_assert!(written.is_ok(), "a double has at most {LONGEST} characters");
        take(std::str::from_utf8(&buffer[..length]).unwrap_or_default())
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.write_str(text))
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let value = text.parse().ok().filter(|value: &f64| value.is_finite());
        let value = value.map(Self::from);
        value.ok_or_else(|| {
            let found = text.escape_debug();
            serde::de::Error::custom(format!("expected a decimal number, found `{found}`"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_back_to_the_same_double() {
        for (value, text) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (-0.0, "0.0"),
            (1e21, "1e+21"),
            (-f64::MIN_POSITIVE, "-2.2250738585072014e-308"),
            (-f64::MAX, "-1.7976931348623157e+308"),
            (12_345.0, "12345.0"),
        ] {
            let decimal = Decimal::from(value);
            let json = serde_json::to_string(&decimal).unwrap();
            assert_eq!(
                (decimal.to_string().as_str(), &json),
                (text, &format!("\"{text}\""))
            );
            assert_eq!(serde_json::from_str::<Decimal>(&json).unwrap(), decimal);
        }
        for bad in ["\"\"", "\"inf\"", "\"NaN\"", "1.0", "\"1.0 \""] {
            assert!(serde_json::from_str::<Decimal>(bad).is_err(), "{bad}");
        }
    }
}
