//! The difference of two samples by exact ranks: Hodges and Lehmann's shift.
//!
//! The median of all pairwise differences, and order statistics of them for its interval (Hodges,
//! Lehmann 1963; the coverage is that of Mann and Whitney's U). For what is known as a difference, such
//! as a delay; for what is known as a ratio there is [`super::ratio`].

use super::interval::Bounds;
use super::rank::{Null, Nulls};
use super::ratio::Between;

/// What two samples say of their difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// The estimate.
    pub value: f64,
    lows: Vec<f64>,
    highs: Vec<f64>,
    null: Null,
}

impl Shift {
    /// The first sample less the second; absent where one is empty.
    pub fn two_sample(compare: &[Between], against: &[Between], nulls: &Nulls) -> Option<Self> {
        let differences = |of: fn(&Between, &Between) -> f64| {
            let pairs = compare
                .iter()
                .flat_map(|x| against.iter().map(move |y| of(x, y)));
            let mut differences: Vec<f64> = pairs.collect();
            differences.sort_unstable_by(f64::total_cmp);
            differences
        };
        let middles = differences(|x, y| x.low - y.low);
        let middle = middles.len() / 2;
        let value = if middles.len() % 2 == 1 {
            *middles.get(middle)?
        } else {
            (middles.get(middle.checked_sub(1)?)? + middles.get(middle)?) / 2.0
        };
        Some(Self {
            value,
            lows: differences(|x, y| x.low - y.high),
            highs: differences(|x, y| x.high - y.low),
            null: nulls.two_sample(compare.len(), against.len()),
        })
    }

    /// The narrowest interval that covers the difference at least as asked; absent where n cannot.
    pub fn interval(&self, asked: f64) -> Option<Bounds> {
        let (k, coverage) = self.null.leave_out(asked)?;
        Some(Bounds {
            low: *self.lows.get(k)?,
            high: *self.highs.get(self.highs.len().checked_sub(k + 1)?)?,
            coverage,
        })
    }

    /// From the smallest to the largest difference, with its true coverage.
    #[must_use]
    pub fn widest(&self) -> Option<Bounds> {
        Some(Bounds {
            low: *self.lows.first()?,
            high: *self.highs.last()?,
            coverage: 1.0 - 2.0 * self.null.at_most(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Vec<Between> {
        let exact = |value: &f64| Between {
            low: *value,
            high: *value,
        };
        values.iter().map(exact).collect()
    }

    #[test]
    fn the_other_way_round_is_the_negative() {
        let nulls = Nulls::default();
        let (x, y) = (sample(&[5.0, 6.0, 8.0, 9.0]), sample(&[1.0, 2.0, 3.0, 4.0]));
        let there = Shift::two_sample(&x, &y, &nulls).unwrap();
        let back = Shift::two_sample(&y, &x, &nulls).unwrap();
        assert_eq!((there.value, back.value), (4.5, -4.5));
        let (there, back) = (there.interval(0.95).unwrap(), back.interval(0.95).unwrap());
        assert_eq!((there.low, there.high), (-back.high, -back.low));
        assert_eq!((there.low, there.high), (1.0, 8.0));
    }

    #[test]
    fn three_values_reach_nine_tenths() {
        let nulls = Nulls::default();
        let three = Shift::two_sample(&sample(&[1.0, 2.0, 3.0]), &sample(&[1.0; 3]), &nulls);
        let three = three.unwrap();
        assert_eq!(three.interval(0.95), None);
        assert_eq!(three.widest().unwrap().coverage, 0.9);
    }
}
