//! Units as types. One internal unit each: nanoseconds, bytes, requests per second, millionths.
//!
//! Every text form is a number with a unit. A bare number is an error that shows the fix.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a text is no quantity; the message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found `{found}`{}", hint.as_ref().map(|fix| format!("; write `{fix}`")).unwrap_or_default())]
pub struct NotAQuantity {
    /// What would be valid, with an example.
    pub expected: &'static str,
    /// The text that was given, escaped for printing.
    pub found: String,
    /// The text to write instead, when it is certain.
    pub hint: Option<String>,
}

fn fault(expected: &'static str, found: &str, hint: Option<String>) -> NotAQuantity {
    NotAQuantity {
        expected,
        found: found.escape_debug().to_string(),
        hint,
    }
}

/// Reads `12.5` and a unit's factor into an exact whole number of the smallest unit.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || (number.contains('.') && !digits(fraction)) || fraction.len() > 12 {
        return None;
    }
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    if leading_zero {
        return None;
    }
    let power = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let units: u128 =
        whole.parse::<u128>().ok()?.checked_mul(power)? + fraction.parse::<u128>().unwrap_or(0);
    let product = units.checked_mul(u128::from(factor))?;
    (product % power == 0).then_some(())?;
    u64::try_from(product / power).ok()
}

fn split_unit(text: &str) -> (&str, &str) {
    let end = text
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(text.len());
    text.split_at(end)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && split_unit(text).1.is_empty()
}

/// The largest unit of a table that divides the value without a rest, with the quotient.
fn largest(value: u64, units: &[(&'static str, u64)]) -> (u64, &'static str) {
    units
        .iter()
        .rev()
        .find(|(_, factor)| value.is_multiple_of(*factor) && (value > 0 || *factor == 1))
        .map_or((value, units[0].0), |(unit, factor)| (value / factor, unit))
}

macro_rules! text_form {
    ($name:ident) => {
        super::written::written! {
            $name, or NotAQuantity;
        }
    };
}

/// A length of time in nanoseconds. Text form: `30s`, `250ms`, `1.5h`; printed exactly.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Nanoseconds(pub u64);

const TIMES: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl Nanoseconds {
    /// Whole seconds as a length of time.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// Whole milliseconds as a length of time.
    #[must_use]
    pub const fn milliseconds(milliseconds: u64) -> Self {
        Self(milliseconds * 1_000_000)
    }

    /// The same length as the standard library's type.
    #[must_use]
    pub const fn duration(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }
}

impl FromStr for Nanoseconds {
    type Err = NotAQuantity;
    fn from_str(text: &str) -> Result<Self, NotAQuantity> {
        let expected = "a duration with a unit such as `30s`, `250ms` or `2min`";
        let (number, unit) = split_unit(text);
        let factor = TIMES
            .iter()
            .find(|(name, _)| *name == unit)
            .map(|(_, factor)| *factor);
        let hint = is_number(text).then(|| format!("{text}s"));
        factor
            .and_then(|factor| scaled(number, factor))
            .map(Self)
            .ok_or_else(|| fault(expected, text, hint))
    }
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, unit) = largest(self.0, &TIMES[..5]);
        write!(f, "{count}{}", if self.0 == 0 { "s" } else { unit })
    }
}

text_form!(Nanoseconds);

/// An amount of memory or data in bytes. Text form: `256MiB`, `20kB`, `64B`; printed exactly.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(pub u64);

const BINARY_SIZES: [(&str, u64); 4] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const DECIMAL_SIZES: [(&str, u64); 3] = [("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];

impl FromStr for Bytes {
    type Err = NotAQuantity;
    fn from_str(text: &str) -> Result<Self, NotAQuantity> {
        let expected = "a size with a unit such as `256MiB`, `1GiB` or `64B`";
        let (number, unit) = split_unit(text);
        let factor = BINARY_SIZES
            .iter()
            .chain(&DECIMAL_SIZES)
            .find(|(name, _)| *name == unit)
            .map(|(_, factor)| *factor);
        let hint = is_number(text).then(|| format!("{text}B"));
        factor
            .and_then(|factor| scaled(number, factor))
            .map(Self)
            .ok_or_else(|| fault(expected, text, hint))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, unit) = largest(self.0, &BINARY_SIZES);
        write!(f, "{count}{unit}")
    }
}

text_form!(Bytes);

/// A number of requests per second, at least 1. Text form: `50000/s`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Rate(u64);

impl Rate {
    /// A rate of so many requests per second; absent for 0.
    #[must_use]
    pub const fn per_second(requests: u64) -> Option<Self> {
        if requests == 0 {
            None
        } else {
            Some(Self(requests))
        }
    }

    /// Requests per second.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Requests that this rate plans for a window of this length, rounded down.
    #[must_use]
    pub fn planned(self, window: Nanoseconds) -> u64 {
        let product = u128::from(self.0) * u128::from(window.0) / 1_000_000_000;
        u64::try_from(product).unwrap_or(u64::MAX)
    }
}

impl FromStr for Rate {
    type Err = NotAQuantity;
    fn from_str(text: &str) -> Result<Self, NotAQuantity> {
        let expected = "a whole number of requests per second, at least 1, such as `50000/s`";
        let hint = is_number(text).then(|| format!("{text}/s"));
        text.strip_suffix("/s")
            .and_then(|number| scaled(number, 1))
            .and_then(Self::per_second)
            .ok_or_else(|| fault(expected, text, hint))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

text_form!(Rate);

/// A part of a whole in millionths. Text form: `95%`, `0.2%`; printed exactly.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Share(pub u64);

impl Share {
    /// So many hundredths.
    #[must_use]
    pub const fn percent(percent: u64) -> Self {
        Self(percent * 10_000)
    }

    /// Millionths of the whole.
    #[must_use]
    pub const fn millionths(self) -> u64 {
        self.0
    }
}

impl FromStr for Share {
    type Err = NotAQuantity;
    fn from_str(text: &str) -> Result<Self, NotAQuantity> {
        let expected = "a share such as `95%` or `0.2%`";
        let hint = is_number(text).then(|| {
            let exact = scaled(text, 1_000_000).map(|millionths| Self(millionths).to_string());
            exact
                .filter(|_| text.contains('.'))
                .unwrap_or_else(|| format!("{text}%"))
        });
        text.strip_suffix('%')
            .and_then(|number| scaled(number, 10_000))
            .map(Self)
            .ok_or_else(|| fault(expected, text, hint))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        if rest == 0 {
            write!(f, "{whole}%")
        } else {
            write!(f, "{whole}.{}%", format!("{rest:04}").trim_end_matches('0'))
        }
    }
}

text_form!(Share);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_print_as_they_are_read() {
        for text in ["30s", "250ms", "1500us", "2min", "0s"] {
            assert_eq!(text.parse::<Nanoseconds>().unwrap().to_string(), text);
        }
        assert_eq!("1.5s".parse::<Nanoseconds>().unwrap().to_string(), "1500ms");
        for text in ["256MiB", "1GiB", "20078B", "0B"] {
            assert_eq!(text.parse::<Bytes>().unwrap().to_string(), text);
        }
        for text in ["95%", "0.2%", "100%", "99.95%"] {
            assert_eq!(text.parse::<Share>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_bare_number_shows_the_fix() {
        let shown = |fault: NotAQuantity| fault.to_string();
        assert!(shown("30".parse::<Nanoseconds>().unwrap_err()).ends_with("write `30s`"));
        assert!(shown("1000".parse::<Rate>().unwrap_err()).ends_with("write `1000/s`"));
        assert!(shown("0.95".parse::<Share>().unwrap_err()).ends_with("write `95%`"));
        assert!(shown("5".parse::<Share>().unwrap_err()).ends_with("write `5%`"));
    }

    #[test]
    fn what_is_not_exact_is_refused() {
        for bad in [
            "",
            "s",
            "-1s",
            "1e3s",
            "1.0000000001ns",
            "010s",
            "1 s",
            "99999999999h",
        ] {
            assert!(bad.parse::<Nanoseconds>().is_err(), "{bad}");
        }
        assert!("0/s".parse::<Rate>().is_err());
        assert!("1.5/s".parse::<Rate>().is_err());
    }

    #[test]
    fn a_rate_plans_whole_requests() {
        let rate: Rate = "1000/s".parse().unwrap();
        assert_eq!(rate.planned(Nanoseconds::milliseconds(2_500)), 2_500);
    }
}
