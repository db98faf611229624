//! Exact null distributions of rank statistics, counted in whole numbers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::centre::count;

/// Up to this many values together the counts of orders fit whole numbers.
const EXACT: usize = 120;

/// `P(S <= k)` of a symmetric rank statistic S from 0 to its largest value.
#[derive(Debug, Clone, PartialEq)]
pub enum Null {
    /// Counted.
    Exact(Rc<Vec<f64>>),
    /// Normal approximation with continuity correction, for samples too large to count.
    Normal {
        /// The mean of the statistic.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
        /// Its largest value.
        largest: usize,
    },
}

impl Null {
    /// `P(S <= k)`.
    pub fn at_most(&self, k: usize) -> f64 {
        match self {
            Self::Exact(tails) => tails.get(k).copied().unwrap_or(1.0),
            Self::Normal {
                mean, deviation, ..
            } => {
                let z = (count(k) + 0.5 - mean) / deviation;
                0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
            }
        }
    }

    /// The two-sided p-value of a statistic that is k from its nearer end.
    pub fn two_sided(&self, k: usize) -> f64 {
        (2.0 * self.at_most(k)).min(1.0)
    }

    /// The smallest p-value that such samples can have.
    pub fn smallest_p(&self) -> f64 {
        self.two_sided(0)
    }

    /// How many values may be left out at each end of the sorted ones (pairwise ratios, Walsh
    /// averages) so that the rest covers at least as asked, with the true coverage
    /// `1 - 2 P(S <= k)`. Absent where none does.
    pub fn leave_out(&self, asked: f64) -> Option<(usize, f64)> {
        let largest = match self {
            Self::Exact(tails) => tails.len() - 1,
            Self::Normal { largest, .. } => *largest,
        };
        let covered = |k: usize| 1.0 - 2.0 * self.at_most(k);
        if covered(0) < asked {
            return None;
        }
        let (mut reaching, mut beyond) = (0, largest / 2 + 1);
        while reaching + 1 < beyond {
            let middle = usize::midpoint(reaching, beyond);
            if covered(middle) >= asked {
                reaching = middle;
            } else {
                beyond = middle;
            }
        }
        Some((reaching, covered(reaching)))
    }
}

/// Distributions that were counted, so that each is counted once.
#[derive(Debug, Default)]
pub struct Nulls {
    two_sample: RefCell<BTreeMap<(usize, usize), Null>>,
    signed: RefCell<BTreeMap<usize, Null>>,
}

impl Nulls {
    /// Mann and Whitney's U of samples of n and m values.
    pub fn two_sample(&self, n: usize, m: usize) -> Null {
        let key = (n.min(m), n.max(m));
        let mut known = self.two_sample.borrow_mut();
        known
            .entry(key)
            .or_insert_with(|| mann_whitney(key.0, key.1))
            .clone()
    }

    /// Wilcoxon's signed rank sum of n values.
    pub fn signed(&self, n: usize) -> Null {
        let mut known = self.signed.borrow_mut();
        known.entry(n).or_insert_with(|| wilcoxon(n)).clone()
    }
}

/// Mann, Whitney 1947: the number of orders with U = u is the coefficient of q^u in the Gaussian
/// binomial, the product over i of `(1 - q^(m+i)) / (1 - q^i)`.
fn mann_whitney(n: usize, m: usize) -> Null {
    let largest = n * m;
    if n + m > EXACT {
        let (n, m) = (count(n), count(m));
        return Null::Normal {
            mean: n * m / 2.0,
            deviation: (n * m * (n + m + 1.0) / 12.0).sqrt(),
            largest,
        };
    }
    let mut ways = vec![0_i128; largest + 1];
    ways[0] = 1;
    for i in 1..=n {
        for u in (m + i..=largest).rev() {
            ways[u] -= ways[u - m - i];
        }
        for u in i..=largest {
            ways[u] += ways[u - i];
        }
    }
    Null::Exact(Rc::new(tails(&ways)))
}

/// Wilcoxon 1945: the number of subsets of the ranks 1 to n with the sum t.
fn wilcoxon(n: usize) -> Null {
    let largest = n * (n + 1) / 2;
    if n > EXACT {
        let n = count(n);
        return Null::Normal {
            mean: n * (n + 1.0) / 4.0,
            deviation: (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt(),
            largest,
        };
    }
    let mut ways = vec![0_i128; largest + 1];
    ways[0] = 1;
    for rank in 1..=n {
        for sum in (rank..=largest).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    Null::Exact(Rc::new(tails(&ways)))
}

#[allow(clippy::cast_precision_loss)]
fn tails(ways: &[i128]) -> Vec<f64> {
    let all: i128 = ways.iter().sum();
    let mut sum = 0;
    let mut tail = |ways: &i128| {
        sum += ways;
        sum as f64 / all as f64
    };
    ways.iter().map(&mut tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_cover_what_the_method_says() {
        let nulls = Nulls::default();
        let best = |null: Null| 1.0 - null.smallest_p();
        let two_sample = [3, 4, 5].map(|n| best(nulls.two_sample(n, n)));
        assert_eq!(
            two_sample,
            [
                1.0 - 2.0 / 20.0,
                1.0 - 2.0 * (1.0 / 70.0),
                1.0 - 2.0 * (1.0 / 252.0)
            ]
        );
        assert_eq!(best(nulls.signed(5)), 0.9375);
    }

    #[test]
    fn the_largest_exact_sizes_do_not_overflow() {
        let nulls = Nulls::default();
        for null in [nulls.two_sample(60, 60), nulls.signed(120)] {
            let Null::Exact(tails) = null else {
                panic!("expected an exact distribution");
            };
            assert_eq!(tails.last(), Some(&1.0));
            assert!(tails.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }

    #[test]
    fn beyond_them_the_normal_distribution_is_close() {
        let nulls = Nulls::default();
        let (exact, normal) = (nulls.two_sample(60, 60), nulls.two_sample(60, 61));
        let (exact, _) = exact.leave_out(0.95).unwrap();
        let (normal, covered) = normal.leave_out(0.95).unwrap();
        assert!(normal.abs_diff(exact) < 40, "{exact} {normal}");
        assert!((0.95..0.951).contains(&covered));
    }
}
