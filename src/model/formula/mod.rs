//! Formulas of declared numbers: an expression over `value(…)`, its units checked.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = factor { ("*" | "/") factor }
//! factor  = "-" factor | "(" sum ")" | number | value
//! number  = digits [ "." digits ] [ "/s" | "ns" | "ms" | "s" | … | "B" | "KiB" | … ]
//! value   = "value" "(" name "=" (text | number) { "," name "=" (text | number) } ")"
//! ```
//!
//! Names inside `value(…)`: `candidate`, `scenario`, `phase`, `at`, `role`, `metric`; texts stand in
//! single or double quotes. Not here: what a formula comes to; estimation computes that.

mod dimension;
mod parser;
mod parts;

use std::ops::Range;

use super::derived::ValueName;
use super::metric::Unit;

pub use dimension::Dimension;

/// A formula whose text was read and whose units fit together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// What it says.
    pub expression: Expression,
    /// What its value is measured in.
    pub dimension: Dimension,
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A literal number: `digits / 10^decimals` in the unit.
    Number {
        /// All digits as a whole number.
        digits: u64,
        /// How many of them stand behind the point.
        decimals: u32,
        /// Its unit.
        unit: Unit,
    },
    /// A named number.
    Value {
        /// Its name.
        name: ValueName,
        /// Where it stands in the text, bytes.
        range: Range<usize>,
    },
    /// The negative of an expression.
    Negative(Box<Self>),
    /// Two expressions and what is done with them.
    Operation {
        /// What is done.
        operator: Operator,
        /// On the left.
        left: Box<Self>,
        /// On the right.
        right: Box<Self>,
    },
}

/// What is done with two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

/// Why a text is no formula.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FormulaFault {
    /// Where in the text, bytes.
    pub range: Range<usize>,
    /// What was found and what was expected.
    pub message: String,
    /// The word there that is none of the words known there; absent where something else is at fault.
    pub unknown: Option<UnknownWord>,
}

/// A word that is none of those that could stand at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// As it was written.
    pub word: String,
    /// What could stand there; of a metric that is a quantile, one as an example.
    pub known: Vec<String>,
}

/// Reads a formula and checks that its units fit together.
///
/// # Errors
/// When the text is no formula, or adds what has different units: the place and what was expected.
pub fn parse(text: &str) -> Result<Formula, FormulaFault> {
    let (expression, dimension) = parser::parse(text)?;
    Ok(Formula {
        expression,
        dimension,
    })
}

impl Formula {
    /// Every named number in the order of the text, with its place.
    #[must_use]
    pub fn values(&self) -> Vec<(&ValueName, Range<usize>)> {
        let mut values = Vec::new();
        collect(&self.expression, &mut values);
        values
    }

    /// Whether its value is in this unit.
    #[must_use]
    pub fn has_unit(&self, unit: Unit) -> bool {
        self.dimension == Dimension::of(unit)
    }
}

fn collect<'a>(expression: &'a Expression, values: &mut Vec<(&'a ValueName, Range<usize>)>) {
    match expression {
        Expression::Number { .. } => {}
        Expression::Value { name, range } => values.push((name, range.clone())),
        Expression::Negative(inner) => collect(inner, values),
        Expression::Operation { left, right, .. } => {
            collect(left, values);
            collect(right, values);
        }
    }
}

#[cfg(test)]
mod tests;
