//! What a pilot says: what difference this machine resolves, and how many rounds a question needs.
//!
//! The rounds are found by trying: the deviations of the planted servers' blocks from their own median
//! are drawn again and again, with a fixed seed, for two candidates whose costs differ as asked, and the
//! same exact interval of their ratio that a run would make is asked whether it shows the difference.

use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::centre::{Sample, count, whole};
use super::rank::Nulls;
use super::ratio::{Between, Ratio};
use super::recovered::RecoveredStandards;
use super::summary::Decimal;
use crate::model::Share;
use crate::model::estimator::RatioInterval;
use crate::model::metric::Metric;

/// How often of a hundred a difference must be shown.
const SHOWN: u32 = 90;
/// Made-up runs for each number of rounds that is tried.
const DRAWS: u32 = 400;
/// The most rounds that are tried.
const MOST_ROUNDS: u32 = 512;
const SEED: u64 = 0x1_0ad_1ab;

/// How many rounds show a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundsNeeded {
    /// The difference of CPU for each request.
    #[schemars(with = "String")]
    pub difference: Share,
    /// Rounds that show it in nine of ten runs; absent: not even the most that were tried.
    pub rounds: Option<u32>,
    /// The most that were tried.
    pub tried: u32,
}

/// Deviations of the CPU cost of single blocks from the median of their planted server, as ratios, drawn
/// out as far as the median's own error has drawn them in.
#[must_use]
pub fn deviations(standards: &RecoveredStandards) -> Vec<f64> {
    let mut seen: Vec<(&str, Vec<f64>)> = Vec::new();
    let of_cpu = standards.pairs.iter();
    for pair in of_cpu.filter(|pair| pair.metric == Metric::CpuPerRequest) {
        let sides = [
            (&pair.compare, &pair.values.0),
            (&pair.against, &pair.values.1),
        ];
        for (name, values) in sides {
            if !seen.iter().any(|(known, _)| *known == name.as_str()) {
                seen.push((name.as_str(), values.iter().map(Decimal::get).collect()));
            }
        }
    }
    let of_server = |(_, values): (&str, Vec<f64>)| {
        let n = count(values.len());
        let median = Sample::of(values.iter().copied()).map(|sample| sample.median());
        let drawn_out = if n > 1.0 { (n / (n - 1.0)).sqrt() } else { 1.0 };
        let deviation = move |value: f64| {
            let median = median.filter(|median| *median > 0.0)?;
            Some((1.0 + (value / median - 1.0) * drawn_out).max(f64::MIN_POSITIVE))
        };
        values
            .into_iter()
            .filter_map(deviation)
            .collect::<Vec<f64>>()
    };
    seen.into_iter().flat_map(of_server).collect()
}

/// The robust standard deviation of single blocks: 1.4826 times the median distance from 1; absent:
/// there are none.
#[must_use]
pub fn spread(deviations: &[f64]) -> Option<Decimal> {
    let distances = deviations.iter().map(|it| (it - 1.0).abs());
    let median = Sample::of(distances)?.median();
    Some(Decimal::from(1.482_6 * median))
}

/// The fewest rounds that show a difference of CPU in nine of ten made-up runs with these deviations.
#[must_use]
pub fn rounds_needed(
    deviations: &[f64],
    difference: Share,
    coverage: Share,
    interval: RatioInterval,
) -> RoundsNeeded {
    let trial = Trial {
        deviations,
        factor: 1.0 + whole(difference.millionths()) / 1e6,
        level: whole(1_000_000_u64.saturating_sub(coverage.millionths())) / 1e6,
        interval,
        nulls: Nulls::default(),
    };
    let enough = |rounds: u32| trial.shows(rounds);
    let rounds = if deviations.is_empty() || difference.millionths() == 0 || !enough(MOST_ROUNDS) {
        None
    } else {
        // More rounds never show less, but for the draws' own chance.
        let (mut few, mut many) = (1, MOST_ROUNDS);
        while many - few > 1 {
            let middle = u32::midpoint(few, many);
            if enough(middle) {
                many = middle;
            } else {
                few = middle;
            }
        }
        Some(many)
    };
    RoundsNeeded {
        difference,
        rounds,
        tried: MOST_ROUNDS,
    }
}

struct Trial<'a> {
    deviations: &'a [f64],
    factor: f64,
    level: f64,
    interval: RatioInterval,
    nulls: Nulls,
}

impl Trial<'_> {
    /// Whether so many rounds show the difference often enough.
    fn shows(&self, rounds: u32) -> bool {
        let mut generator = Pcg64Mcg::seed_from_u64(SEED ^ u64::from(rounds));
        let shown = (0..DRAWS).filter(|_| self.shown_once(rounds, &mut generator));
        shown.count() * 100 >= (DRAWS * SHOWN) as usize
    }

    fn shown_once(&self, rounds: u32, generator: &mut Pcg64Mcg) -> bool {
        let mut side = |factor: f64| -> Vec<Between> {
            let draw = |_| {
                let position = generator.next_u64() % self.deviations.len() as u64;
                let drawn = usize::try_from(position).unwrap_or(0);
                let value = factor * self.deviations[drawn];
                Between {
                    low: value,
                    high: value,
                }
            };
            (0..rounds).map(draw).collect()
        };
        let (compare, against) = (side(self.factor), side(1.0));
        let ratio = match self.interval {
            RatioInterval::TwoSample => Ratio::two_sample(&compare, &against, &self.nulls),
            RatioInterval::Paired => {
                let pairs: Vec<_> = compare.into_iter().zip(against).collect();
                Ratio::paired(&pairs, &self.nulls)
            }
        };
        ratio.is_some_and(|ratio| ratio.p_value <= self.level && ratio.value > 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deviations of roughly normal shape with this standard deviation, by the sum of twelve draws.
    fn normal(generator: &mut Pcg64Mcg, n: usize, deviation: f64) -> Vec<f64> {
        let mut one = || {
            let bits = u32::try_from(generator.next_u64() >> 40).unwrap_or(0);
            f64::from(bits) / f64::from(1_u32 << 24)
        };
        let mut draw = || (0..12).map(|_| one()).sum::<f64>() - 6.0;
        (0..n).map(|_| 1.0 + deviation * draw()).collect()
    }

    fn needed(deviations: &[f64], percent: u64) -> Option<u32> {
        let (difference, coverage) = (Share::percent(percent), Share::percent(95));
        rounds_needed(deviations, difference, coverage, RatioInterval::TwoSample).rounds
    }

    #[test]
    fn rounds_show_a_difference_as_often_as_they_say() {
        let mut generator = Pcg64Mcg::seed_from_u64(3);
        let pool = normal(&mut generator, 60, 0.02);
        let rounds = needed(&pool, 5).unwrap();
        // For normal deviations (1.96 + 1.28)^2 x 2 x (2 / 5)^2 is 3.4, ranks need 5 % more.
        assert!((4..=7).contains(&rounds), "{rounds}");
        let trial = Trial {
            deviations: &[],
            factor: 1.05,
            level: 0.05,
            interval: RatioInterval::TwoSample,
            nulls: Nulls::default(),
        };
        let mut shown = 0_u32;
        for _ in 0..10_000 {
            let fresh = normal(&mut generator, 2 * rounds as usize, 0.02);
            let side = |values: &[f64], factor: f64| -> Vec<Between> {
                let values = values.iter().map(|value| value * factor);
                values
                    .map(|value| Between {
                        low: value,
                        high: value,
                    })
                    .collect()
            };
            let (left, right) = fresh.split_at(rounds as usize);
            let ratio =
                Ratio::two_sample(&side(left, trial.factor), &side(right, 1.0), &trial.nulls);
            shown += u32::from(ratio.unwrap().p_value <= trial.level);
        }
        assert!((8_500..=9_990).contains(&shown), "{shown} of 10,000");
    }

    #[test]
    fn a_smaller_difference_and_a_wider_spread_need_more() {
        let mut generator = Pcg64Mcg::seed_from_u64(4);
        let (quiet, noisy) = (
            normal(&mut generator, 60, 0.01),
            normal(&mut generator, 60, 0.05),
        );
        let (five, two) = (needed(&quiet, 5).unwrap(), needed(&quiet, 2).unwrap());
        assert!(five < two, "{five} {two}");
        assert!(two < needed(&noisy, 2).unwrap());
        assert_eq!(needed(&noisy, 0), None, "nothing shows nothing");
        assert_eq!(needed(&[], 5), None);
    }

    #[test]
    fn values_that_never_differ_need_what_the_coverage_needs() {
        assert_eq!(needed(&[1.0], 5), Some(4));
    }
}
