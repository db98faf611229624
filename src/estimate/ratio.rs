//! Ratios of two samples by exact ranks, without logarithms.
//!
//! Two samples: Hodges and Lehmann's shift of logarithms is the median of all pairwise ratios, and
//! order statistics of these give its interval (Mann, Whitney). Paired: the same with the geometric
//! means of all pairs of the ratios within rounds (Wilcoxon, Walsh, Tukey). A logarithm is never
//! taken: it only orders, and ratios have the same order.

use super::interval::Bounds;
use super::pairwise::Pairwise;
use super::rank::{Null, Nulls};
use super::ranked::Ranked;

/// A positive number that is known to lie between two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// No less.
    pub low: f64,
    /// No more.
    pub high: f64,
}

impl Between {
    /// A number that is known exactly.
    #[must_use]
    pub const fn exactly(value: f64) -> Self {
        Self {
            low: value,
            high: value,
        }
    }
}

/// What two samples say of their ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// The estimate.
    pub value: f64,
    /// The two-sided p-value of a ratio of 1.
    pub p_value: f64,
    /// The smallest p-value that so many values can have.
    pub smallest_p: f64,
    ranked: Ranked,
}

impl Ratio {
    /// The ratio of two independent samples; absent where one is empty or has a value that is not
    /// positive.
    pub fn two_sample(compare: &[Between], against: &[Between], nulls: &Nulls) -> Option<Self> {
        let positive = |sample: &[Between]| sample.iter().all(|value| value.low > 0.0);
        if !positive(compare) || !positive(against) {
            return None;
        }
        let ratios = |over: fn(&Between) -> f64, under: fn(&Between) -> f64| {
            Pairwise::ratios(compare.iter().map(over), against.iter().map(under))
        };
        let (low, high) = (|value: &Between| value.low, |value: &Between| value.high);
        let null = nulls.two_sample(compare.len(), against.len());
        Self::of(
            ratios(low, high),
            ratios(high, low),
            &ratios(low, low),
            null,
        )
    }

    /// The ratio of two samples paired by round.
    pub fn paired(pairs: &[(Between, Between)], nulls: &Nulls) -> Option<Self> {
        let mut all = pairs.iter().flat_map(|(x, y)| [x, y]);
        if !all.all(|value| value.low > 0.0) {
            return None;
        }
        let means = |of: fn(&(Between, Between)) -> f64| Pairwise::means(pairs.iter().map(of));
        let null = nulls.signed(pairs.len());
        let lows = means(|(x, y)| x.low / y.high);
        let highs = means(|(x, y)| x.high / y.low);
        Self::of(lows, highs, &means(|(x, y)| x.low / y.low), null)
    }

    fn of(lows: Pairwise, highs: Pairwise, middles: &Pairwise, null: Null) -> Option<Self> {
        // The geometric mean of two, so that the inverse ratio has the inverse estimate.
        let value = middles.middle(|lower, upper| (lower * upper).sqrt())?;
        let at_least_one = highs.count() - highs.below(1.0);
        let at_most_one = lows.at_most(1.0);
        Some(Self {
            value,
            p_value: null.two_sided(at_least_one.min(at_most_one)),
            smallest_p: null.smallest_p(),
            ranked: Ranked { lows, highs, null },
        })
    }

    /// From the smallest to the largest ratio, with its true coverage.
    #[must_use]
    pub fn widest(&self) -> Option<Bounds> {
        self.ranked.widest()
    }

    /// The narrowest interval that covers the ratio at least as asked; absent where n cannot.
    pub fn interval(&self, asked: f64) -> Option<Bounds> {
        self.ranked.interval(asked)
    }
}

/// Holm 1979: which of a family of p-values are rejected at a level that holds for all together.
pub fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|left, right| {
        let by_value = p_values[*left].total_cmp(&p_values[*right]);
        by_value.then(left.cmp(right))
    });
    let mut rejected = vec![false; p_values.len()];
    for (step, position) in order.iter().enumerate() {
        let left = super::centre::count(p_values.len() - step);
        if p_values[*position] * left > level {
            break;
        }
        rejected[*position] = true;
    }
    rejected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Vec<Between> {
        values.iter().copied().map(Between::exactly).collect()
    }

    #[test]
    fn the_inverse_ratio_has_the_inverse_estimate() {
        let nulls = Nulls::default();
        let (x, y) = (
            sample(&[2.0, 4.0, 8.0, 16.0]),
            sample(&[1.0, 2.0, 4.0, 32.0]),
        );
        let ratio = Ratio::two_sample(&x, &y, &nulls).unwrap();
        let inverse = Ratio::two_sample(&y, &x, &nulls).unwrap();
        assert_eq!((ratio.value, inverse.value), (2.0, 0.5));
        assert_eq!(ratio.p_value, inverse.p_value);
        let (there, back) = (
            ratio.interval(0.95).unwrap(),
            inverse.interval(0.95).unwrap(),
        );
        assert_eq!((there.low, there.high), (1.0 / back.high, 1.0 / back.low));
    }

    #[test]
    fn few_values_reach_only_so_much() {
        let nulls = Nulls::default();
        let three = Ratio::two_sample(&sample(&[1.0, 2.0, 3.0]), &sample(&[4.0, 5.0, 6.0]), &nulls);
        let three = three.unwrap();
        assert_eq!(three.interval(0.95), None);
        assert_eq!(three.interval(0.9).unwrap().coverage, 0.9);
        assert_eq!(three.p_value, 0.1);
    }

    #[test]
    fn bounds_widen_the_interval() {
        let nulls = Nulls::default();
        let unsure: Vec<Between> = [1.0, 2.0, 3.0, 4.0]
            .map(|low| Between {
                low,
                high: low + 1.0,
            })
            .into();
        let ratio = Ratio::two_sample(&unsure, &sample(&[1.0; 4]), &nulls).unwrap();
        let bounds = ratio.interval(0.95).unwrap();
        assert_eq!((bounds.low, bounds.high), (1.0, 5.0));
    }

    #[test]
    fn holm_steps_down_and_stops() {
        assert_eq!(
            holm(&[0.01, 0.04, 0.03, 0.005], 0.05),
            [true, false, false, true]
        );
        assert_eq!(holm(&[0.05], 0.05), [true]);
        assert_eq!(holm(&[], 0.05), [false; 0]);
    }
}
