//! Intervals of the median by order statistics, with their true coverage.

use super::centre::{Sample, count, whole};

/// Up to this many values binomial coefficients are exact whole numbers.
const EXACT: usize = 100;

/// An interval in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// True coverage, 1 is certain.
    pub coverage: f64,
}

/// The narrowest symmetric pair of order statistics whose coverage of the median is at least what
/// is asked; the smallest and the largest value where none is. Absent for fewer than two values.
pub fn of_median(sample: &Sample, asked: f64) -> Option<Bounds> {
    let sorted = sample.sorted();
    let (rank, coverage) = median_rank(sorted.len(), asked)?;
    Some(Bounds {
        low: sorted[rank - 1],
        high: sorted[sorted.len() - rank],
        coverage,
    })
}

/// The largest rank l, from 1, for which the l-th smallest and the l-th largest of n values cover
/// the median at least as asked, with the true coverage `1 - 2 P(Bin(n, 1/2) < l)`; rank 1 where
/// none does.
pub fn median_rank(n: usize, asked: f64) -> Option<(usize, f64)> {
    if n < 2 {
        return None;
    }
    let tails = binomial_tails(n);
    let coverage = |rank: usize| 1.0 - 2.0 * tails[rank - 1];
    let reaching = (1..=n / 2).rev().find(|rank| coverage(*rank) >= asked);
    let rank = reaching.unwrap_or(1);
    Some((rank, coverage(rank)))
}

/// `P(Bin(n, 1/2) <= k)` for k from 0 to half of n.
fn binomial_tails(n: usize) -> Vec<f64> {
    let weights = if n <= EXACT {
        exact_tails(n)
    } else {
        scaled_tails(n)
    };
    weights.into_iter().take(n / 2 + 1).collect()
}

#[allow(clippy::cast_precision_loss)]
fn exact_tails(n: usize) -> Vec<f64> {
    let (mut coefficient, mut sum) = (1_u128, 0_u128);
    let mut tails = Vec::with_capacity(n + 1);
    let all = (1_u128 << n) as f64;
    for k in 0..=n {
        sum += coefficient;
        tails.push(sum as f64 / all);
        coefficient = coefficient * (n - k) as u128 / (k as u128 + 1);
    }
    tails
}

/// Coefficients relative to the middle one, each from its neighbour, so that none overflows.
fn scaled_tails(n: usize) -> Vec<f64> {
    let middle = n / 2;
    let mut weights = vec![0.0; n + 1];
    weights[middle] = 1.0;
    for k in (0..middle).rev() {
        weights[k] = weights[k + 1] * (count(k + 1) / count(n - k));
    }
    for k in middle + 1..=n {
        weights[k] = weights[k - 1] * (count(n + 1 - k) / count(k));
    }
    let all: f64 = weights.iter().sum();
    let mut sum = 0.0;
    weights
        .into_iter()
        .map(|weight| {
            sum += weight;
            sum / all
        })
        .collect()
}

/// A declared coverage as a number.
pub fn coverage(share: crate::model::Share) -> f64 {
    whole(share.millionths()) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_values_cover_what_the_formula_says() {
        for (n, covered) in [(2, 0.5), (3, 0.75), (5, 0.9375), (6, 0.968_75)] {
            assert_eq!(median_rank(n, 0.99), Some((1, covered)));
        }
        assert_eq!(median_rank(1, 0.5), None);
    }

    #[test]
    fn the_narrowest_pair_that_reaches_is_taken() {
        assert_eq!(median_rank(9, 0.95).unwrap().0, 2);
        assert_eq!(median_rank(20, 0.95).unwrap().0, 6);
    }

    #[test]
    fn both_ways_to_count_agree() {
        for n in [2, 7, 50, 99] {
            for (exact, scaled) in exact_tails(n).iter().zip(scaled_tails(n)) {
                assert!((exact - scaled).abs() < 1e-14, "{n}: {exact} {scaled}");
            }
        }
    }
}
