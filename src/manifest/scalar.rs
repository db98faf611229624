//! What a plain word of the file is: nothing, a boolean, a number or a text.
//!
//! Only what every YAML reader understands alike passes; the rest is refused with what to write.

use super::code::DiagnosticCode;
use super::tree::Value;

/// Why a plain word is refused.
pub(super) struct Refused {
    pub(super) code: DiagnosticCode,
    pub(super) message: String,
    pub(super) help: String,
}

/// Words that YAML 1.1 reads as booleans and YAML 1.2 as texts, and other spellings of the two.
const BOOLEANS: [(&str, bool); 6] = [
    ("true", true),
    ("false", false),
    ("yes", true),
    ("no", false),
    ("on", true),
    ("off", false),
];

pub(super) fn resolve(word: &str) -> Result<Value, Refused> {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" => return Ok(Value::Boolean(true)),
        "false" => return Ok(Value::Boolean(false)),
        _ => {}
    }
    if let Some((_, meant)) = BOOLEANS
        .iter()
        .find(|(known, _)| word.eq_ignore_ascii_case(known))
    {
        return Err(Refused {
            code: DiagnosticCode::AmbiguousBoolean,
            message: format!("`{word}` is a boolean for some readers and a text for others"),
            help: format!("write `{meant}`, or `\"{word}\"` for the word itself"),
        });
    }
    number(word).unwrap_or_else(|| Ok(Value::Text(word.to_owned())))
}

/// The word as a number; absent: it is none.
fn number(word: &str) -> Option<Result<Value, Refused>> {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let refuse = |message: String, help: String| {
        Some(Err(Refused {
            code: DiagnosticCode::AmbiguousNumber,
            message,
            help,
        }))
    };
    let quote = format!("write `\"{word}\"` for the text itself");
    let special = [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"];
    if special.contains(&unsigned) {
        return refuse(format!("`{word}` is no finite number"), quote);
    }
    if digits(unsigned) && unsigned.len() > 1 && unsigned.starts_with('0') {
        let plain = unsigned.trim_start_matches('0');
        let plain = if plain.is_empty() { "0" } else { plain };
        return refuse(
            format!("`{word}` has a leading zero: octal for some readers, decimal for others"),
            format!("write `{plain}`, or `\"{word}\"` for the text itself"),
        );
    }
    if is_radix(unsigned) {
        let message = format!("`{word}` is no decimal number");
        return refuse(message, format!("write it as a decimal number, or {quote}"));
    }
    if digits(unsigned) {
        let fits = |number: &i128| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(number);
        return match word.parse::<i128>().ok().filter(fits) {
            Some(number) => Some(Ok(Value::Integer(number))),
            None => refuse(
                format!("`{}` does not fit into 64 bits", shortened(word)),
                quote,
            ),
        };
    }
    is_decimal(unsigned).then(|| Ok(Value::Decimal(word.to_owned())))
}

fn shortened(word: &str) -> String {
    if word.len() > 40 {
        format!("{}…", &word[..40])
    } else {
        word.to_owned()
    }
}

fn is_radix(word: &str) -> bool {
    let digits = |digits: &str, radix| {
        !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
    };
    let lower = word.to_ascii_lowercase();
    [("0o", 8), ("0x", 16), ("0b", 2)]
        .into_iter()
        .any(|(prefix, radix)| {
            lower
                .strip_prefix(prefix)
                .is_some_and(|rest| digits(rest, radix))
        })
}

/// YAML's core schema: `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`.
fn is_decimal(unsigned: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = unsigned
        .split_once(['e', 'E'])
        .map_or((unsigned, None), |(mantissa, exponent)| {
            (mantissa, Some(exponent))
        });
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let some = !whole.is_empty() || !fraction.is_empty();
    some && digits(whole) && digits(fraction) && exponent_fits
}
