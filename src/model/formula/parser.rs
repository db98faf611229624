//! Reads the text of a formula by recursive descent, and checks dimensions on the way.

use std::ops::Range;

use super::parts::Parts;
use super::{Dimension, Expression, FormulaFault, Operator};
use crate::model::metric::Unit;

/// The longest text that is read, bytes.
const LONGEST: usize = 16 * 1024;
/// The deepest nesting that is read.
const DEEPEST: u32 = 64;

/// Units that may follow a number without a space, with what they are in the internal unit.
const SUFFIXES: [(&str, Unit, u64); 14] = [
    ("ns", Unit::Nanoseconds, 1),
    ("us", Unit::Nanoseconds, 1_000),
    ("ms", Unit::Nanoseconds, 1_000_000),
    ("s", Unit::Nanoseconds, 1_000_000_000),
    ("min", Unit::Nanoseconds, 60_000_000_000),
    ("h", Unit::Nanoseconds, 3_600_000_000_000),
    ("B", Unit::Bytes, 1),
    ("KiB", Unit::Bytes, 1 << 10),
    ("MiB", Unit::Bytes, 1 << 20),
    ("GiB", Unit::Bytes, 1 << 30),
    ("kB", Unit::Bytes, 1_000),
    ("MB", Unit::Bytes, 1_000_000),
    ("GB", Unit::Bytes, 1_000_000_000),
    ("cores", Unit::Cores, 1),
];

type Read<T> = Result<T, FormulaFault>;
type Typed = (Expression, Dimension);

pub(super) fn parse(text: &str) -> Read<Typed> {
    if text.len() > LONGEST {
        return Err(FormulaFault {
            range: LONGEST..text.len(),
            message: format!("expected at most {LONGEST} bytes, found {}", text.len()),
            unknown: None,
        });
    }
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
    };
    let typed = parser.sum()?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.unexpected("`+`, `-`, `*`, `/` or the end"));
    }
    Ok(typed)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes a character after white space, if it is there.
    fn take(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Read<()> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{wanted}`")))
        }
    }

    /// Takes the longest run of characters that belong to a word, a number or a name.
    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest
            .find(|character| !belongs(character))
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn unexpected(&mut self, expected: &str) -> FormulaFault {
        self.skip_space();
        let (found, length) = self.rest().chars().next().map_or_else(
            || ("the end".to_owned(), 0),
            |character| {
                (
                    format!("`{}`", character.escape_debug()),
                    character.len_utf8(),
                )
            },
        );
        Self::fault(
            self.at..self.at + length,
            format!("expected {expected}, found {found}"),
        )
    }

    const fn fault(range: Range<usize>, message: String) -> FormulaFault {
        FormulaFault {
            range,
            message,
            unknown: None,
        }
    }

    fn sum(&mut self) -> Read<Typed> {
        self.skip_space();
        let start = self.at;
        let (mut left, dimension) = self.product()?;
        loop {
            let operator = if self.take('+') {
                Operator::Plus
            } else if self.take('-') {
                Operator::Minus
            } else {
                return Ok((left, dimension));
            };
            let (right, other) = self.product()?;
            if other != dimension {
                let word = if operator == Operator::Plus {
                    "add"
                } else {
                    "subtract"
                };
                let message = format!("cannot {word} {dimension} and {other}");
                return Err(Self::fault(start..self.at, message));
            }
            left = operation(operator, left, right);
        }
    }

    fn product(&mut self) -> Read<Typed> {
        let (mut left, mut dimension) = self.factor()?;
        loop {
            let operator = if self.take('*') {
                Operator::Times
            } else if self.take('/') {
                Operator::Over
            } else {
                return Ok((left, dimension));
            };
            let (right, other) = self.factor()?;
            dimension = if operator == Operator::Times {
                dimension.times(other)
            } else {
                dimension.over(other)
            };
            left = operation(operator, left, right);
        }
    }

    fn factor(&mut self) -> Read<Typed> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("nested deeper than {DEEPEST} levels");
            return Err(Self::fault(self.at..self.at, message));
        }
        let typed = self.factor_inside()?;
        self.depth -= 1;
        Ok(typed)
    }

    fn factor_inside(&mut self) -> Read<Typed> {
        if self.take('-') {
            let (inner, dimension) = self.factor()?;
            return Ok((Expression::Negative(Box::new(inner)), dimension));
        }
        if self.take('(') {
            let typed = self.sum()?;
            self.expect(')')?;
            return Ok(typed);
        }
        match self.rest().chars().next() {
            Some(first) if first.is_ascii_digit() => self.number(),
            Some(first) if first.is_ascii_alphabetic() => self.value(),
            _ => Err(self.unexpected("a number, `value(…)`, `-` or `(`")),
        }
    }

    fn number(&mut self) -> Read<Typed> {
        let start = self.at;
        let literal = self.take_while(|it| it.is_ascii_digit() || it == '.');
        let (whole, fraction) = literal.split_once('.').unwrap_or((literal, ""));
        let is_plain = !fraction.contains('.') && !literal.ends_with('.');
        let digits = format!("{whole}{fraction}")
            .parse()
            .ok()
            .filter(|_| is_plain);
        let digits: Option<u64> = digits.filter(|_| fraction.len() <= 18);
        let Some(digits) = digits else {
            let message = format!("expected a number such as `2` or `0.5`, found `{literal}`");
            return Err(Self::fault(start..self.at, message));
        };
        let (unit, factor) = self.suffix()?;
        let Some(digits) = digits.checked_mul(factor) else {
            return Err(Self::fault(
                start..self.at,
                "the number is too large".to_owned(),
            ));
        };
        let number = Expression::Number {
            digits,
            decimals: u32::try_from(fraction.len()).unwrap_or(0),
            unit,
        };
        Ok((number, Dimension::of(unit)))
    }

    /// A unit that follows a number without a space.
    fn suffix(&mut self) -> Read<(Unit, u64)> {
        let start = self.at;
        let is_rate = self.rest().strip_prefix("/s").is_some_and(|after| {
            !after.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
        });
        if is_rate {
            self.at += 2;
            return Ok((Unit::PerSecond, 1));
        }
        let word = self.take_while(|it| it.is_ascii_alphabetic());
        if word.is_empty() {
            return Ok((Unit::One, 1));
        }
        let known = SUFFIXES.iter().find(|(name, ..)| *name == word);
        known
            .map(|(_, unit, factor)| (*unit, *factor))
            .ok_or_else(|| {
                let names = SUFFIXES.map(|(name, ..)| name).join(", ");
                let message = format!("expected a unit ({names} or /s), found `{word}`");
                Self::fault(start..self.at, message)
            })
    }

    fn value(&mut self) -> Read<Typed> {
        let start = self.at;
        let word = self.take_while(|it| it.is_ascii_alphanumeric() || it == '_');
        if word != "value" {
            let message = format!("expected `value(…)`, found `{word}`");
            return Err(Self::fault(start..self.at, message));
        }
        self.expect('(')?;
        let mut parts = Parts::default();
        loop {
            self.part(&mut parts)?;
            if self.take(',') {
                continue;
            }
            self.expect(')')?;
            break;
        }
        let range = start..self.at;
        let name = parts.into_name().ok_or_else(|| {
            Self::fault(range.clone(), "expected `metric=` in `value(…)`".to_owned())
        })?;
        let dimension = Dimension::of(name.metric.unit());
        Ok((Expression::Value { name, range }, dimension))
    }

    fn part(&mut self, parts: &mut Parts) -> Read<()> {
        self.skip_space();
        let start = self.at;
        let name = self.take_while(|it| it.is_ascii_alphanumeric() || it == '_');
        let name_range = start..self.at;
        self.expect('=')?;
        self.skip_space();
        let start = self.at;
        let text = self.argument()?;
        let text_range = start..self.at;
        parts.take((name, name_range), (&text, text_range))
    }

    fn argument(&mut self) -> Read<String> {
        let Some(quote) = self
            .rest()
            .chars()
            .next()
            .filter(|it| matches!(it, '"' | '\''))
        else {
            let number = self.take_while(|it| it.is_ascii_digit());
            return if number.is_empty() {
                Err(self.unexpected("a text in quotes or a whole number"))
            } else {
                Ok(number.to_owned())
            };
        };
        let start = self.at;
        self.at += 1;
        let text = self.take_while(|it| it != quote);
        if self.take(quote) {
            Ok(text.to_owned())
        } else {
            Err(Self::fault(
                start..self.at,
                format!("the text has no closing {quote}"),
            ))
        }
    }
}

fn operation(operator: Operator, left: Expression, right: Expression) -> Expression {
    Expression::Operation {
        operator,
        left: Box::new(left),
        right: Box::new(right),
    }
}
