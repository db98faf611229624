//! Numbers as they are printed. Rounding happens here and nowhere else, once for each number.
//!
//! The rule: a number is rounded to the place of the second significant digit of its interval's half
//! width (where there is no interval, of half the range of its repetitions); without either it has
//! three significant digits. It keeps at least two significant digits and at most six; as many as it
//! has, up to six, where all repetitions agree. A zero has no sign, and what is no number is never printed.

use crate::estimate::summary::Decimal;
use crate::model::metric::Unit;

/// What stands where there is no number.
pub const NONE: &str = "—";

/// The space between a number and its unit: they are never on two lines.
pub const GAP: char = '\u{a0}';

/// A unit as it is printed, and how many of the summary's units it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Divisor of the summary's value.
    pub factor: f64,
    /// The word, empty for a pure number.
    pub word: &'static str,
}

const NANOSECONDS: [Scale; 4] = [
    Scale {
        factor: 1.0,
        word: "ns",
    },
    Scale {
        factor: 1e3,
        word: "µs",
    },
    Scale {
        factor: 1e6,
        word: "ms",
    },
    Scale {
        factor: 1e9,
        word: "s",
    },
];
const BYTES: [Scale; 4] = [
    Scale {
        factor: 1.0,
        word: "B",
    },
    Scale {
        factor: 1024.0,
        word: "KiB",
    },
    Scale {
        factor: 1_048_576.0,
        word: "MiB",
    },
    Scale {
        factor: 1_073_741_824.0,
        word: "GiB",
    },
];

impl Scale {
    /// The scale in which the largest of some values is easy to read.
    #[must_use]
    pub fn of(unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        let largest = values.into_iter().map(f64::abs).fold(0.0, f64::max);
        let fit = |scales: [Self; 4], first: f64| {
            let readable = |scale: &Self| scale.factor == 1.0 || largest >= scale.factor * first;
            scales.into_iter().rfind(readable).unwrap_or(scales[0])
        };
        match unit {
            Unit::Nanoseconds => fit(NANOSECONDS, 1.0),
            // Answers of tens of thousands of bytes are compared byte by byte.
            Unit::Bytes if largest < 100_000.0 => BYTES[0],
            Unit::Bytes => fit(BYTES, 1.0),
            Unit::PerSecond => Self {
                factor: 1.0,
                word: "/s",
            },
            Unit::Cores => Self {
                factor: 1.0,
                word: "cores",
            },
            Unit::NanosecondsPerByte => Self {
                factor: 1.0,
                word: "ns/B",
            },
            Unit::One => Self {
                factor: 1.0,
                word: "",
            },
        }
    }

    /// A number with this unit.
    #[must_use]
    pub fn with(self, number: &str) -> String {
        match self.word {
            "" => number.to_owned(),
            "/s" => format!("{number}/s"),
            "cores" if number == "1" => format!("1{GAP}core"),
            word => format!("{number}{GAP}{word}"),
        }
    }
}

/// How far a number is rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Digits {
    /// To the second significant digit of this half width, in the value's own unit.
    HalfWidth(f64),
    /// To so many significant digits.
    Significant(i32),
    /// Every repetition agrees: as many of six significant digits as there are.
    Exact,
}

impl Digits {
    /// The digits that follow from the ends of an interval or of a range.
    #[must_use]
    pub fn between(low: f64, high: f64) -> Self {
        let half = (high - low) / 2.0;
        if half > 0.0 {
            Self::HalfWidth(half)
        } else {
            Self::Exact
        }
    }
}

/// The power of ten of a number's first digit: 2 for 123, -1 for 0.5; absent for 0 and what is no number.
fn magnitude(value: f64) -> Option<i32> {
    let value = value.abs();
    if value == 0.0 || !value.is_finite() {
        return None;
    }
    // Powers of ten as literals of the decimal text, so that no logarithm's rounding decides a digit.
    let text = format!("{value:e}");
    text.split_once('e')?.1.parse().ok()
}

/// The number of decimals; negative: rounded to tens, hundreds, ….
fn decimals(value: f64, digits: Digits) -> i32 {
    let first = magnitude(value).unwrap_or(0);
    let wanted = match digits {
        Digits::HalfWidth(half) => magnitude(half).map_or(2 - first, |half| 1 - half),
        Digits::Significant(count) => count - 1 - first,
        Digits::Exact => 5 - first,
    };
    wanted.clamp(1 - first, 5 - first).min(9)
}

/// A number with thousands separators, rounded half to even of its exact value; absent for what is
/// no number.
#[must_use]
pub fn number(value: f64, digits: Digits) -> Option<String> {
    let text = value
        .is_finite()
        .then(|| fixed(value, decimals(value, digits)))?;
    Some(match digits {
        Digits::Exact if text.contains('.') => {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => text,
    })
}

/// A number with so many decimals; negative: rounded to tens, hundreds, ….
pub(crate) fn fixed(value: f64, decimals: i32) -> String {
    let places = usize::try_from(decimals).unwrap_or(0);
    let text = if decimals < 0 {
        let place = 10_f64.powi(-decimals);
        format!("{:.0}", (value / place).round_ties_even() * place)
    } else {
        format!("{value:.places$}")
    };
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) if rest.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) => ("\u{2212}", rest),
        Some(rest) => ("", rest),
        None => ("", text.as_str()),
    };
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text, None), |(a, b)| (a, Some(b)));
    let fraction = fraction
        .map(|digits| format!(".{digits}"))
        .unwrap_or_default();
    format!("{sign}{}{fraction}", grouped(whole))
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with thousands separators.
#[must_use]
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A value with its unit; absent for what is no number.
#[must_use]
pub fn quantity(value: f64, digits: Digits, scale: Scale) -> Option<String> {
    Some(scale.with(&bare(value, digits, scale)?))
}

/// A value in a scale, without the unit.
#[must_use]
pub fn bare(value: f64, digits: Digits, scale: Scale) -> Option<String> {
    let digits = match digits {
        Digits::HalfWidth(half) => Digits::HalfWidth(half / scale.factor),
        other => other,
    };
    number(value / scale.factor, digits)
}

/// A part of a whole as hundredths, two significant digits at least: `73%`, `0.12%`.
#[must_use]
pub fn percent(share: &Decimal) -> String {
    let hundredths = share.get() * 100.0;
    if hundredths == 0.0 {
        return "0%".to_owned();
    }
    let first = magnitude(hundredths).unwrap_or(0);
    number(hundredths, Digits::Significant((first + 1).clamp(2, 3)))
        .map_or_else(|| NONE.to_owned(), |text| format!("{text}%"))
}

/// A coverage: never rounded up to what it does not reach, so `96.8%` and `99.99%`.
#[must_use]
pub fn coverage(share: &Decimal) -> String {
    let value = share.get() * 10_000.0;
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = fixed(value.floor() / 100.0, 2);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}%")
}

/// A length of time for people: `3 min 20 s`, `1 h 4 min`, `0.8 s`.
#[must_use]
pub fn span(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) if milliseconds < 10_000 => {
            format!("{}.{}{GAP}s", seconds, milliseconds % 1000 / 100)
        }
        (0, 0) => format!("{seconds}{GAP}s"),
        (0, _) => format!("{minutes}{GAP}min {}{GAP}s", seconds % 60),
        _ => format!("{}{GAP}h {minutes}{GAP}min", count(hours)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn digits_follow_the_interval() {
        for (value, half, expected) in [
            (64_213.0, 410.0, "64.21\u{a0}µs"),
            (64_213.0, 4_100.0, "64.2\u{a0}µs"),
            (64_213.0, 41_000.0, "64\u{a0}µs"),
            (1_234_567.0, 120.0, "1.23457\u{a0}ms"),
            (950.0, 1.0, "950.0\u{a0}ns"),
        ] {
            let scale = Scale::of(Unit::Nanoseconds, [value]);
            let shown = quantity(value, Digits::HalfWidth(half), scale).unwrap();
            assert_eq!(shown, expected, "{value} ± {half}");
        }
        assert_eq!(
            number(83_526.0, Digits::HalfWidth(400.0)).unwrap(),
            "83,530"
        );
        assert_eq!(number(83_526.0, Digits::Significant(3)).unwrap(), "83,500");
        assert_eq!(
            number(20_078.0, Digits::between(20_078.0, 20_078.0)).unwrap(),
            "20,078"
        );
    }

    #[test]
    fn what_is_no_number_is_not_printed() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(number(value, Digits::Significant(3)), None);
        }
        assert_eq!(number(-0.0, Digits::Significant(3)).unwrap(), "0.00");
        assert_eq!(fixed(-0.000_1, 2), "0.00");
        assert_eq!(fixed(-12.0, 0), "\u{2212}12");
    }

    #[test]
    fn units_are_chosen_for_the_largest() {
        let shown = |unit, value| {
            quantity(value, Digits::Significant(3), Scale::of(unit, [value])).unwrap()
        };
        assert_eq!(shown(Unit::Bytes, 20_078.0), "20,100\u{a0}B");
        assert_eq!(shown(Unit::Bytes, 28_311_552.0), "27.0\u{a0}MiB");
        assert_eq!(shown(Unit::PerSecond, 50_000.0), "50,000/s");
        assert_eq!(shown(Unit::Cores, 3.2), "3.20\u{a0}cores");
        assert_eq!(shown(Unit::One, 2.5), "2.50");
    }

    #[test]
    fn shares_and_spans() {
        let share = |value: f64| percent(&Decimal::from(value));
        assert_eq!(
            (share(0.734), share(0.0), share(0.001_23)),
            ("73%".into(), "0%".into(), "0.12%".into())
        );
        assert_eq!(coverage(&Decimal::from(0.968_75)), "96.87%");
        assert_eq!(coverage(&Decimal::from(0.95)), "95%");
        assert_eq!(span(200_000), "3\u{a0}min 20\u{a0}s");
        assert_eq!(span(800), "0.8\u{a0}s");
    }

    proptest! {
        #[test]
        fn every_number_is_printed_plainly(value in proptest::num::f64::ANY, half in proptest::num::f64::ANY) {
            for digits in [Digits::HalfWidth(half), Digits::Significant(3), Digits::between(value, half)] {
                if let Some(text) = number(value, digits) {
                    prop_assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains('e'), "{text}");
                    prop_assert!(!text.starts_with("\u{2212}0.0") || text.bytes().any(|it| (b'1'..=b'9').contains(&it)), "{text}");
                }
            }
        }
    }
}
