//! How several values become one. Values are sorted first, so their order never matters.

use crate::model::Centre;

/// A sample, sorted ascending; never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// The sample of these values; absent for none. Values are finite.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        (!values.is_empty()).then_some(Self(values))
    }

    /// The values in ascending order.
    #[must_use]
    pub fn sorted(&self) -> &[f64] {
        &self.0
    }

    /// The smallest value.
    #[must_use]
    pub fn smallest(&self) -> f64 {
        self.0[0]
    }

    /// The largest value.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.0[self.0.len() - 1]
    }

    /// The middle value; the mean of the two middle ones for an even n.
    pub fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        if self.0.len() % 2 == 1 {
            self.0[middle]
        } else {
            f64::midpoint(self.0[middle - 1], self.0[middle])
        }
    }

    /// The arithmetic mean, summed in ascending order.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(&self.0)
    }

    /// The mean without the smallest and the largest fifth of the values, rounded down.
    pub fn trimmed_mean(&self) -> f64 {
        let fifth = self.0.len() / 5;
        mean(&self.0[fifth..self.0.len() - fifth])
    }

    /// The number that a rule makes of the sample; absent for a range.
    pub fn centre(&self, rule: Centre, more_is_better: bool) -> Option<f64> {
        Some(match rule {
            Centre::Median => self.median(),
            Centre::Best if more_is_better => self.largest(),
            Centre::Best | Centre::Min => self.smallest(),
            Centre::Max => self.largest(),
            Centre::Mean => self.mean(),
            Centre::TrimmedMean => self.trimmed_mean(),
            Centre::Range => return None,
        })
    }
}

/// The arithmetic mean, summed in the order given.
fn mean(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    sum / count(values.len())
}

/// A count as a double; exact up to 2^53.
#[allow(clippy::cast_precision_loss)]
pub const fn count(values: usize) -> f64 {
    values as f64
}

/// A whole number as a double: the nearest one, exact up to 2^53.
#[allow(clippy::cast_precision_loss)]
pub const fn whole(value: u64) -> f64 {
    value as f64
}
