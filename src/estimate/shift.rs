//! The difference of two samples by exact ranks: Hodges and Lehmann's shift.
//!
//! The median of all pairwise differences, and order statistics of them for its interval (Hodges,
//! Lehmann 1963; the coverage is that of Mann and Whitney's U). For what is known as a difference, such
//! as a delay; for what is known as a ratio there is [`super::ratio`].

use super::interval::Bounds;
use super::pairwise::Pairwise;
use super::rank::Nulls;
use super::ranked::Ranked;
use super::ratio::Between;

/// What two samples say of their difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// The estimate.
    pub value: f64,
    ranked: Ranked,
}

impl Shift {
    /// The first sample less the second; absent where one is empty.
    pub fn two_sample(compare: &[Between], against: &[Between], nulls: &Nulls) -> Option<Self> {
        let differences = |of: fn(&Between) -> f64, less: fn(&Between) -> f64| {
            Pairwise::differences(compare.iter().map(of), against.iter().map(less))
        };
        let (low, high) = (|value: &Between| value.low, |value: &Between| value.high);
        let middles = differences(low, low);
        Some(Self {
            value: middles.middle(|lower, upper| (lower + upper) / 2.0)?,
            ranked: Ranked {
                lows: differences(low, high),
                highs: differences(high, low),
                null: nulls.two_sample(compare.len(), against.len()),
            },
        })
    }

    /// The narrowest interval that covers the difference at least as asked; absent where n cannot.
    pub fn interval(&self, asked: f64) -> Option<Bounds> {
        self.ranked.interval(asked)
    }

    /// From the smallest to the largest difference, with its true coverage.
    #[must_use]
    pub fn widest(&self) -> Option<Bounds> {
        self.ranked.widest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Vec<Between> {
        values.iter().copied().map(Between::exactly).collect()
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
