//! What a formula comes to.

use crate::model::formula::{self, Expression, Operator};
use crate::model::metric::Unit;
use crate::model::{LoadPoint, Metric};

use super::centre::whole;
use super::derived::{Sources, absent, is_held};
use super::lookup::Found;
use super::summary::{Decimal, DerivedRow, Mark};

/// The row of a formula: one number for all candidates.
pub(super) fn row(text: &str, unit: Unit, sources: &Sources<'_>) -> DerivedRow {
    let parsed = match formula::parse(text) {
        Ok(parsed) if parsed.has_unit(unit) => parsed,
        Ok(parsed) => return absent(unit, format!("the formula is {}", parsed.dimension)),
        Err(fault) => return absent(unit, format!("cannot read the formula: {fault}")),
    };
    let mut not_held = Vec::new();
    let value = value(&parsed.expression, sources, &mut not_held);
    match value.and_then(|value| in_unit(value, unit)) {
        Err(because) => absent(unit, because),
        Ok(value) => DerivedRow {
            value: Some(Decimal::from(value)),
            mark: if not_held.is_empty() {
                Mark::Calculated
            } else {
                Mark::Extrapolated
            },
            note: (!not_held.is_empty())
                .then(|| format!("from rates that were not held: {}", not_held.join(", "))),
            ..absent(unit, "")
        },
    }
}

/// A value in nanoseconds and bytes, in the unit of the result.
fn in_unit(value: f64, unit: Unit) -> Result<f64, String> {
    let value = match unit {
        Unit::PerSecond => value * 1e9,
        Unit::Nanoseconds | Unit::Bytes | Unit::NanosecondsPerByte | Unit::Cores | Unit::One => {
            value
        }
    };
    if value.is_finite() {
        Ok(value)
    } else {
        Err("a division by 0".to_owned())
    }
}

/// A number of a unit, in powers of nanoseconds and bytes.
fn from_unit(value: f64, unit: Unit) -> f64 {
    if unit == Unit::PerSecond {
        value / 1e9
    } else {
        value
    }
}

fn value(
    expression: &Expression,
    sources: &Sources<'_>,
    not_held: &mut Vec<String>,
) -> Result<f64, String> {
    match expression {
        Expression::Number {
            digits,
            decimals,
            unit,
        } => {
            let value = whole(*digits) / whole(10_u64.pow(*decimals));
            Ok(from_unit(value, *unit))
        }
        Expression::Negative(inner) => Ok(-value(inner, sources, not_held)?),
        Expression::Value { name, .. } => {
            let found = sources.lookup.find(name)?;
            note_not_held(found, sources, not_held);
            let (number, unit) = number(found)?;
            Ok(from_unit(number, unit))
        }
        Expression::Operation {
            operator,
            left,
            right,
        } => {
            let left = value(left, sources, not_held)?;
            let right = value(right, sources, not_held)?;
            Ok(match operator {
                Operator::Plus => left + right,
                Operator::Minus => left - right,
                Operator::Times => left * right,
                Operator::Over => left / right,
            })
        }
    }
}

fn number(found: Found<'_>) -> Result<(f64, Unit), String> {
    let (value, unit, at_least, because) = match found {
        Found::At(it) => (&it.value, it.unit, it.at_least, &it.because),
        Found::Over(it) => (&it.value, it.unit, it.at_least, &it.because),
    };
    if at_least {
        return Err("the generator ran out at a ceiling: the value is `at least`".to_owned());
    }
    match value {
        Some(value) => Ok((value.get(), unit)),
        None => Err(because
            .clone()
            .unwrap_or_else(|| "a value is absent".to_owned())),
    }
}

/// Notes a cost that comes from a rate that was not held.
fn note_not_held(found: Found<'_>, sources: &Sources<'_>, not_held: &mut Vec<String>) {
    let Found::At(estimate) = found else { return };
    let is_cost = matches!(estimate.metric, Metric::CpuPerRequest | Metric::CoresUsed);
    let is_rate = matches!(estimate.at, LoadPoint::Rate(_));
    if is_cost && is_rate && !is_held(sources, estimate) {
        let place = format!(
            "{} {} at {}",
            estimate.candidate, estimate.scenario, estimate.at
        );
        if !not_held.contains(&place) {
            not_held.push(place);
        }
    }
}
