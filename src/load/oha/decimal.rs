//! Seconds in oha's text, as whole nanoseconds, without a float on the way.

/// Reads a JSON number of seconds, such as `0.001234567`, `4.0` or `9.1e-5`, as nanoseconds rounded
/// to the nearest. `None` for `null`, which oha prints where it has no value.
///
/// # Errors
/// When the text is something else, negative, or more than 584 years.
pub(super) fn nanoseconds(text: &str) -> Result<Option<u64>, String> {
    if text == "null" {
        return Ok(None);
    }
    exact(text)
        .map(Some)
        .ok_or_else(|| format!("expected seconds, found `{}`", excerpt(text)))
}

/// The beginning of a text, safe to print.
pub(super) fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    short.escape_debug().to_string()
}

fn exact(text: &str) -> Option<u64> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || number.ends_with('.') {
        return None;
    }
    let significant = format!("{whole}{fraction}");
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let value: u128 = significant.parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?;
    let shift = exponent.checked_sub(places)?.checked_add(9)?;
    let power = 10_u128.checked_pow(shift.unsigned_abs());
    let nanoseconds = match (shift >= 0, power) {
        (true, Some(power)) => value.checked_mul(power)?,
        (true, None) => return None,
        (false, Some(power)) => value / power + u128::from(value % power >= power.div_ceil(2)),
        (false, None) => 0,
    };
    u64::try_from(nanoseconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_nanoseconds_exactly() {
        for (text, expected) in [
            ("0.0", 0),
            ("0", 0),
            ("4.000123456", 4_000_123_456),
            ("4.0001234559999995", 4_000_123_456),
            ("9.1e-5", 91_000),
            ("9.1E-5", 91_000),
            ("1.5e+1", 15_000_000_000),
            ("1e-9", 1),
            ("4.9e-10", 0),
            ("5e-10", 1),
            ("1e-300", 0),
            ("18446744073.709551615", u64::MAX),
        ] {
            assert_eq!(nanoseconds(text), Ok(Some(expected)), "{text}");
        }
        assert_eq!(nanoseconds("null"), Ok(None));
    }

    #[test]
    fn what_is_no_length_of_time_is_refused() {
        for bad in [
            "",
            "-1",
            "-0.5",
            "\"1\"",
            "NaN",
            "1.",
            ".5",
            "1e",
            "1e999999999999",
            "1e300",
            "true",
            "[1]",
            "18446744073.7095517",
            "١",
            "1e2147483647",
            "1.0e-2147483648",
        ] {
            let found = nanoseconds(bad);
            assert!(found.is_err(), "{bad}: {found:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_text_of_any_run_comes_back(nanos in 0_u64..4_000_000_000_000_000) {
            let seconds = std::time::Duration::from_nanos(nanos).as_secs_f64();
            let text = serde_json::to_string(&seconds).unwrap();
            proptest::prop_assert_eq!(nanoseconds(&text), Ok(Some(nanos)));
        }

        #[test]
        fn no_text_is_too_much(text in ".{0,60}") {
            let _ = nanoseconds(&text);
        }
    }
}
