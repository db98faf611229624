use super::*;
use crate::estimate::ratio::Between;
use crate::estimate::summary::{Summary, Verdict};
use crate::record::sample::Sample;

fn sample(standards: &[u64], noise: u64) -> Sample {
    Sample {
        standards: standards.iter().copied().map(Share::percent).collect(),
        noise,
        ..Sample::default()
    }
}

fn summary(sample: &Sample) -> Summary {
    crate::estimate::estimate(&sample.records(), &sample.experiment(), &sample.plan(), &[])
}

fn recovered(summary: &Summary) -> &RecoveredStandards {
    summary.standards.as_ref().unwrap()
}

#[test]
fn what_was_planted_comes_back_and_what_was_not_does_not() {
    let summary = summary(&sample(&[0, 5, 20], 5_000));
    let standards = recovered(&summary);
    let words: Vec<(Found, Option<bool>, (u64, u64))> = standards
        .pairs
        .iter()
        .map(|pair| (pair.found, pair.agrees, pair.n))
        .collect();
    assert_eq!(
        words,
        [
            (Found::NothingFound, Some(true), (6, 6)),
            (Found::Found, Some(true), (6, 6)),
            (Found::Found, Some(true), (6, 6)),
        ]
    );
    let resolves = standards.resolves.as_ref().unwrap().get();
    assert!((1.001..1.01).contains(&resolves), "{resolves}");
    assert!(
        standards
            .resolves_because
            .starts_with("the widest of 3 planted differences of CPU")
    );
    let codes: Vec<_> = summary.caveats.iter().map(|note| note.code).collect();
    assert!(!codes.contains(&Caveat::StandardsMissed) && !codes.contains(&Caveat::FewStandards));
}

#[test]
fn a_planted_difference_that_is_lost_in_the_noise_is_said_to_be() {
    let summary = summary(&sample(&[0, 1], 60_000));
    let standards = recovered(&summary);
    assert_eq!(standards.pairs[1].found, Found::NotFound);
    let resolves = standards.resolves.as_ref().unwrap().get();
    assert!(
        resolves >= 1.01,
        "never below what was not found: {resolves}"
    );
    let missed = summary
        .caveats
        .iter()
        .find(|note| note.code == Caveat::StandardsMissed);
    assert!(
        missed
            .unwrap()
            .detail
            .starts_with("1% of CPU was not found (planted 1.01, came back ")
    );
}

#[test]
fn candidates_nearer_than_what_is_resolved_get_no_rank() {
    let mut taken_back = 0;
    let mut left = 0;
    for seed in 1..=60 {
        let mut with = sample(&[0, 20], 12_000);
        with.seed = seed;
        with.candidates[0].cpu_per_request_ns = 100_000;
        with.candidates[1].cpu_per_request_ns = 102_000;
        let without = Sample {
            standards: Vec::new(),
            ..with.clone()
        };
        let (with, without) = (summary(&with), summary(&without));
        let resolves = recovered(&with).resolves.as_ref().unwrap().get();
        let (gated, alone) = (&with.comparisons[0], &without.comparisons[0]);
        assert_eq!(
            (&gated.ratio, &gated.interval),
            (&alone.ratio, &alone.interval)
        );
        let ratio = alone.ratio.as_ref().unwrap().get();
        let is_ranked = matches!(alone.verdict, Some(Verdict::Lower | Verdict::Higher));
        if is_ranked && ratio.max(1.0 / ratio) < resolves {
            taken_back += 1;
            assert_eq!(gated.verdict, Some(Verdict::BelowResolution));
            let because = gated.because.as_ref().unwrap();
            assert!(because.starts_with("the standards of this run resolve a ratio of 1.0"));
        } else {
            left += u32::from(is_ranked);
            assert_eq!(gated.verdict, alone.verdict);
        }
    }
    assert!(taken_back > 5 && left > 5, "{taken_back} {left}");
}

#[test]
fn too_few_rounds_say_nothing() {
    let few = Sample {
        rounds: 3,
        ..sample(&[0, 20], 5_000)
    };
    let summary = summary(&few);
    let standards = recovered(&summary);
    assert!(
        standards
            .pairs
            .iter()
            .all(|pair| pair.found == Found::Silent)
    );
    assert_eq!(standards.resolves, None);
    assert_eq!(
        standards.pairs[1].because.as_deref(),
        Some("n of 3 and 3 cannot reach the declared coverage")
    );
    let few = summary
        .caveats
        .iter()
        .find(|note| note.code == Caveat::FewStandards);
    assert!(few.is_some());
}

#[test]
fn planted_servers_are_no_candidates() {
    let with = sample(&[0, 5], 5_000);
    let without = Sample {
        standards: Vec::new(),
        ..with.clone()
    };
    let (with, without) = (summary(&with), summary(&without));
    assert_eq!(with.cells, without.cells);
    assert_eq!(with.estimates, without.estimates);
    assert_eq!(with.counts, without.counts);
    assert_eq!(with.derived, without.derived);
    let text = serde_json::to_string(&with.timeline).unwrap();
    assert!(!text.contains("standard-"));
}

/// The blinding: the same records with another truth give the same numbers.
#[test]
fn nothing_but_the_comparison_with_the_truth_knows_what_was_planted() {
    let sample = sample(&[0, 5, 20], 5_000);
    let (records, plan, honest) = (sample.records(), sample.plan(), sample.experiment());
    let mut lied = honest.clone();
    let standards = lied.standards.as_mut().unwrap();
    let pairs = standards.planted.open_the_seal().iter();
    let other = |pair: &Pair| Pair {
        difference: Difference::Cpu {
            by: Share::percent(40),
        },
        ..pair.clone()
    };
    let pairs: Vec<Pair> = pairs.map(other).collect();
    standards.planted = crate::model::standards::Sealed::of(pairs);
    let estimate = |experiment| crate::estimate::estimate(&records, experiment, &plan, &[]);
    let (honest, lied) = (estimate(&honest), estimate(&lied));
    for (told, false_told) in recovered(&honest).pairs.iter().zip(&recovered(&lied).pairs) {
        assert_eq!(told.recovered, false_told.recovered);
        assert_eq!(told.interval, false_told.interval);
        assert_eq!(told.values, false_told.values);
        assert_ne!(told.planted, false_told.planted);
        assert_eq!(false_told.agrees, Some(false));
    }
    assert_eq!(honest.estimates, lied.estimates);
    assert_eq!(honest.exclusions, lied.exclusions);
    assert_eq!(honest.timeline, lied.timeline);
}

const DRAWS: u32 = 10_000;

/// Costs with a fixed seed: skewed, most near the smallest, few far above.
struct Draws(rand_pcg::Pcg64Mcg);

impl Draws {
    fn costs(&mut self, n: usize, factor: f64) -> Vec<Between> {
        use rand::Rng as _;
        let mut uniform =
            || f64::from(u32::try_from(self.0.next_u64() >> 40).unwrap()) / f64::from(1_u32 << 24);
        let mut cost =
            || Between::exactly(factor * (50.0 + 5.0 * uniform() + 0.2 / (1.02 - uniform())));
        (0..n).map(|_| cost()).collect()
    }

    fn ratio(&mut self, n: usize, factor: f64, nulls: &Nulls) -> crate::estimate::ratio::Ratio {
        let (compare, against) = (self.costs(n, factor), self.costs(n, 1.0));
        crate::estimate::ratio::Ratio::two_sample(&compare, &against, nulls).unwrap()
    }
}

fn cpu(percent: u64) -> Truth {
    Truth::of(Difference::Cpu {
        by: Share::percent(percent),
    })
}

/// At most as often as may be, plus three standard errors.
#[track_caller]
fn at_most(times: u32, rate: f64) {
    let draws = f64::from(DRAWS);
    let error = (rate * (1.0 - rate) / draws).sqrt();
    let seen = f64::from(times) / draws;
    assert!(seen <= rate + 3.0 * error, "{seen}, may be {rate}");
}

#[test]
fn words_on_planted_pairs_are_wrong_no_more_often_than_stated() {
    let nulls = Nulls::default();
    for (seed, n) in [(1, 4), (2, 6), (3, 10)] {
        let mut draws = Draws(rand::SeedableRng::seed_from_u64(seed));
        let (mut alarms, mut disagree, mut backwards) = (0, 0, 0);
        for _ in 0..DRAWS {
            let bounds = draws.ratio(n, 1.0, &nulls).interval(0.95).unwrap();
            alarms += u32::from(cpu(0).found(bounds) == Found::FalseAlarm);
            let bounds = draws.ratio(n, 1.05, &nulls).interval(0.95).unwrap();
            let truth = cpu(5);
            let agrees = bounds.low <= truth.high && bounds.high >= truth.low;
            disagree += u32::from(!agrees);
            backwards += u32::from(truth.found(bounds) == Found::Found && bounds.high < 1.0);
        }
        at_most(alarms, 0.05);
        at_most(disagree, 0.05);
        assert_eq!(backwards, 0);
    }
}

#[test]
fn a_shift_covers_what_it_states() {
    let nulls = Nulls::default();
    for (seed, n) in [(4, 4), (5, 6), (6, 10)] {
        let mut draws = Draws(rand::SeedableRng::seed_from_u64(seed));
        let (mut missed, mut stated) = (0, 0.0);
        for _ in 0..DRAWS {
            let (mut compare, against) = (draws.costs(n, 1.0), draws.costs(n, 1.0));
            for value in &mut compare {
                value.low += 7.0;
                value.high += 7.0;
            }
            let shift = Shift::two_sample(&compare, &against, &nulls).unwrap();
            let bounds = shift.interval(0.95).unwrap();
            stated = bounds.coverage;
            missed += u32::from(bounds.low > 7.0 || bounds.high < 7.0);
        }
        at_most(missed, 1.0 - stated);
    }
}

/// A rank is given wrongly no more often than without standards, what is resolved is never smaller than
/// a planted difference that was not found, and differences far above it are ranked.
#[test]
fn what_is_resolved_ranks_nothing_that_is_the_same() {
    let nulls = Nulls::default();
    let mut draws = Draws(rand::SeedableRng::seed_from_u64(7));
    let (mut ranked, mut far) = (0, 0);
    for _ in 0..DRAWS {
        let away = |ratio: f64, bounds: Bounds| (bounds.high / ratio).max(ratio / bounds.low);
        let none = draws.ratio(4, 1.0, &nulls).interval(0.95).unwrap();
        let five = draws.ratio(4, 1.05, &nulls).interval(0.95).unwrap();
        let resolves = away(1.0, none).max(away(1.05, five));
        if cpu(5).found(five) == Found::NotFound {
            assert!(resolves >= 1.05);
        }
        let shown = |draws: &mut Draws, factor: f64| {
            let ratio = draws.ratio(6, factor, &nulls);
            ratio.p_value <= 0.05 && ratio.value.max(1.0 / ratio.value) >= resolves
        };
        ranked += u32::from(shown(&mut draws, 1.0));
        far += u32::from(shown(&mut draws, resolves * 1.05));
    }
    at_most(ranked, 0.05);
    at_most(DRAWS - far, 0.1);
}

/// Holm over the comparisons of one run, on whole made-up runs of six equal candidates.
#[test]
fn a_run_of_equals_shows_a_difference_no_more_often_than_stated() {
    const RUNS: u32 = 300;
    let names = ["a", "b", "c", "d", "e", "f"];
    let (mut corrected, mut alone) = (0, 0);
    for seed in 0..RUNS {
        let mut sample = Sample {
            seed: u64::from(seed) + 1_000,
            ..Sample::default()
        };
        let one = sample.candidates[0].clone();
        let twin = |name| crate::record::sample::SampleCandidate {
            name,
            ..one.clone()
        };
        sample.candidates = names.into_iter().map(twin).collect();
        let experiment = Experiment {
            primary: None,
            ..sample.experiment()
        };
        let (records, plan) = (sample.records(), sample.plan());
        let summary = crate::estimate::estimate(&records, &experiment, &plan, &[]);
        assert_eq!(summary.comparisons.len(), 5);
        let family = summary.comparisons.iter();
        let shown = |verdict| matches!(verdict, Some(Verdict::Lower | Verdict::Higher));
        corrected += u32::from(family.clone().any(|it| shown(it.verdict)));
        alone += u32::from(
            family
                .clone()
                .any(|it| it.p_value.as_ref().unwrap().get() <= 0.05),
        );
    }
    let (runs, level) = (f64::from(RUNS), 0.05_f64);
    let may_be = runs * level + 3.0 * (runs * level * (1.0 - level)).sqrt();
    assert!(f64::from(corrected) <= may_be, "{corrected} of {RUNS} runs");
    assert!(
        f64::from(alone) > may_be,
        "uncorrected {alone} of {RUNS}: the test would not see it"
    );
}
