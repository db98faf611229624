//! The formulas against an independent tool, and every interval and verdict rule on simulated draws.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use loadlab::estimate::centre::Sample;
use loadlab::estimate::interval::{median_rank, of_median};
use loadlab::estimate::rank::Nulls;
use loadlab::estimate::ratio::{Between, Ratio, holm};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;

mod summary;

const DRAWS: u32 = 10_000;

fn reference(part: &str) -> Vec<Value> {
    let text = include_str!("../data/reference/ranks.json");
    let all: Value = serde_json::from_str(text).unwrap();
    all[part].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_f64().unwrap())
        .collect()
}

fn exact(values: &[f64]) -> Vec<Between> {
    values.iter().copied().map(Between::exactly).collect()
}

#[track_caller]
fn close(ours: f64, theirs: &Value) {
    let theirs = theirs.as_f64().unwrap();
    assert!(
        (ours / theirs - 1.0).abs() < 1e-12,
        "ours {ours}, theirs {theirs}"
    );
}

#[test]
fn two_sample_ratios_agree_with_scipy() {
    let nulls = Nulls::default();
    for case in reference("two_sample") {
        let (x, y) = (numbers(&case["compare"]), numbers(&case["against"]));
        let ratio = Ratio::two_sample(&exact(&x), &exact(&y), &nulls).unwrap();
        close(ratio.p_value, &case["p_value"]);
        close(ratio.value, &case["median_of_pairwise_ratios"]);
    }
}

#[test]
fn paired_ratios_agree_with_scipy() {
    let nulls = Nulls::default();
    for case in reference("paired") {
        let (x, y) = (numbers(&case["compare"]), numbers(&case["against"]));
        let pairs: Vec<_> = exact(&x).into_iter().zip(exact(&y)).collect();
        let ratio = Ratio::paired(&pairs, &nulls).unwrap();
        close(ratio.p_value, &case["p_value"]);
        close(ratio.value, &case["geometric_walsh_median"]);
    }
}

#[test]
fn coverage_of_the_median_agrees_with_scipy() {
    for case in reference("median") {
        let n = usize::try_from(case["n"].as_u64().unwrap()).unwrap();
        let (rank, coverage) = median_rank(n, case["asked"].as_f64().unwrap()).unwrap();
        assert_eq!(rank as u64, case["rank"].as_u64().unwrap(), "n {n}");
        close(coverage, &case["coverage"]);
    }
}

#[test]
fn centres_agree_with_scipy() {
    for case in reference("centre") {
        let sample = Sample::of(numbers(&case["values"])).unwrap();
        close(sample.median(), &case["median"]);
        close(sample.mean(), &case["mean"]);
        close(sample.trimmed_mean(), &case["trimmed_mean"]);
    }
}

/// Draws with a fixed seed.
struct Draws(Pcg64Mcg);

impl Draws {
    fn seeded(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Uniform between 0 and 1.
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Positive and skewed, as costs are: most near 50, few far above, with the given factor.
    fn costs(&mut self, n: usize, factor: f64) -> Vec<f64> {
        let cost = |uniform: f64| factor * (50.0 + 5.0 * uniform + 1.0 / (1.02 - uniform));
        (0..n).map(|_| cost(self.uniform())).collect()
    }
}

/// The share of draws must be at least what is stated, less three standard errors.
#[track_caller]
fn covers(hits: u32, stated: f64, what: &str) {
    let draws = f64::from(DRAWS);
    let (seen, error) = (
        f64::from(hits) / draws,
        (stated * (1.0 - stated) / draws).sqrt(),
    );
    assert!(
        seen >= stated - 3.0 * error,
        "{what}: {seen} of stated {stated}"
    );
}

#[test]
fn intervals_of_the_median_cover_what_they_state() {
    let mut draws = Draws::seeded(1);
    let truth = 50.0 + 5.0 * 0.5 + 1.0 / 0.52;
    for n in [3, 5, 6, 9, 20] {
        let (mut hits, mut stated) = (0, 0.0);
        for _ in 0..DRAWS {
            let bounds = of_median(&Sample::of(draws.costs(n, 1.0)).unwrap(), 0.95).unwrap();
            hits += u32::from(bounds.low <= truth && truth <= bounds.high);
            stated = bounds.coverage;
        }
        covers(hits, stated, &format!("median of {n}"));
        let error = 3.0 * (stated * (1.0 - stated) / f64::from(DRAWS)).sqrt();
        assert!(
            f64::from(hits) / f64::from(DRAWS) <= stated + error,
            "exact, not only at least"
        );
    }
}

#[test]
fn intervals_of_ratios_cover_what_they_state() {
    let nulls = Nulls::default();
    let truth = 1.3;
    for (seed, n) in [(2, 3), (3, 4), (4, 6), (5, 10)] {
        let mut draws = Draws::seeded(seed);
        let (mut two_sample, mut paired, mut stated) = (0, 0, [0.0; 2]);
        for _ in 0..DRAWS {
            let (x, y) = (exact(&draws.costs(n, truth)), exact(&draws.costs(n, 1.0)));
            let ratio = Ratio::two_sample(&x, &y, &nulls).unwrap();
            let bounds = ratio.interval(0.95).or_else(|| ratio.widest()).unwrap();
            two_sample += u32::from(bounds.low <= truth && truth <= bounds.high);
            stated[0] = bounds.coverage;
            let pairs: Vec<_> = x.into_iter().zip(y).collect();
            let ratio = Ratio::paired(&pairs, &nulls).unwrap();
            let bounds = ratio.interval(0.95).or_else(|| ratio.widest()).unwrap();
            paired += u32::from(bounds.low <= truth && truth <= bounds.high);
            stated[1] = bounds.coverage;
        }
        covers(two_sample, stated[0], &format!("two-sample {n}"));
        covers(paired, stated[1], &format!("paired {n}"));
    }
}

#[test]
fn what_is_the_same_is_called_different_no_more_often_than_stated() {
    let nulls = Nulls::default();
    for (seed, n) in [(6, 4), (7, 6), (8, 8)] {
        let mut draws = Draws::seeded(seed);
        let (mut same, mut same_paired) = (0, 0);
        for _ in 0..DRAWS {
            let (x, y) = (exact(&draws.costs(n, 1.0)), exact(&draws.costs(n, 1.0)));
            let ratio = Ratio::two_sample(&x, &y, &nulls).unwrap();
            same += u32::from(ratio.p_value > 0.05);
            let bounds = ratio.interval(0.95).unwrap();
            let holds_one = bounds.low <= 1.0 && 1.0 <= bounds.high;
            assert_eq!(
                holds_one,
                ratio.p_value > 0.05,
                "the interval and the verdict agree"
            );
            let pairs: Vec<_> = x.into_iter().zip(y).collect();
            same_paired += u32::from(Ratio::paired(&pairs, &nulls).unwrap().p_value > 0.05);
        }
        covers(same, 0.95, &format!("two-sample {n}"));
        covers(same_paired, 0.95, &format!("paired {n}"));
    }
}

#[test]
fn ties_are_never_taken_for_a_difference() {
    let nulls = Nulls::default();
    let mut draws = Draws::seeded(9);
    let mut same = 0;
    for _ in 0..DRAWS {
        let rounded =
            |values: Vec<f64>| -> Vec<f64> { values.iter().map(|it| it.round()).collect() };
        let (x, y) = (rounded(draws.costs(6, 1.0)), rounded(draws.costs(6, 1.0)));
        let ratio = Ratio::two_sample(&exact(&x), &exact(&y), &nulls).unwrap();
        same += u32::from(ratio.p_value > 0.05);
    }
    covers(same, 0.95, "with ties");
    let one = Ratio::two_sample(&exact(&[5.0; 6]), &exact(&[5.0; 6]), &nulls).unwrap();
    assert_eq!((one.value, one.p_value), (1.0, 1.0));
}

#[test]
fn a_family_has_a_false_difference_no_more_often_than_stated() {
    let nulls = Nulls::default();
    let mut draws = Draws::seeded(10);
    let mut clean = 0;
    for _ in 0..DRAWS {
        let first = exact(&draws.costs(8, 1.0));
        let p_value = |draws: &mut Draws| {
            let other = exact(&draws.costs(8, 1.0));
            Ratio::two_sample(&other, &first, &nulls).unwrap().p_value
        };
        let p_values: Vec<f64> = (0..4).map(|_| p_value(&mut draws)).collect();
        clean += u32::from(!holm(&p_values, 0.05).contains(&true));
    }
    covers(clean, 0.95, "four comparisons with one candidate");
}

#[test]
fn a_real_difference_is_found_and_has_its_direction() {
    let nulls = Nulls::default();
    let mut draws = Draws::seeded(11);
    let mut found = 0;
    for _ in 0..1_000 {
        let (x, y) = (exact(&draws.costs(8, 1.5)), exact(&draws.costs(8, 1.0)));
        let ratio = Ratio::two_sample(&x, &y, &nulls).unwrap();
        found += u32::from(ratio.p_value <= 0.05 && ratio.value > 1.0);
    }
    assert!(found > 900, "{found} of 1000");
}
