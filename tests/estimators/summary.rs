//! Whole summaries of made-up runs.

use loadlab::estimate::{estimate, summary};
use loadlab::model::{Caveat, Experiment, Outcome};
use loadlab::plan::Plan;
use loadlab::record::event::Event;
use loadlab::record::sample::{Fault, Sample};
use loadlab::record::{LedgerLine, Line, Records};

fn run(sample: &Sample, ledger: &[LedgerLine]) -> summary::Summary {
    estimate(
        &sample.records(),
        &sample.experiment(),
        &sample.plan(),
        ledger,
    )
}

#[test]
fn the_committed_schema_is_current_and_a_summary_fits_it() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/summary.v1.json");
    let schema = summary::schema();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(path, &schema).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        schema,
        "run with INSTA_UPDATE=always"
    );
    let schema = serde_json::from_str(&schema).unwrap();
    let instance = serde_json::to_value(run(&Sample::default(), &[])).unwrap();
    jsonschema::validate(&schema, &instance).unwrap();
}

#[test]
fn a_clean_run_has_the_planted_costs() {
    let summary = run(&Sample::default(), &[]);
    assert!(summary.complete && summary.exclusions.is_empty());
    let primary = &summary.comparisons[0];
    assert!(primary.primary);
    assert_eq!(primary.n, (6, 6));
    assert_eq!(primary.verdict, Some(summary::Verdict::Higher));
    let ratio = primary.ratio.as_ref().unwrap().get();
    assert!((4.8..5.2).contains(&ratio), "{ratio}");
    insta::assert_json_snapshot!("clean_run", summary);
}

#[test]
fn an_invalid_attempt_is_replaced_and_listed() {
    let steal = Fault::Breach(loadlab::model::GuardCode::Steal);
    let sample = Sample::default().with_fault("fixed-rate.r02.gzip.a1", steal);
    let summary = run(&sample, &[]);
    assert!(summary.complete);
    let excluded: Vec<_> = summary
        .exclusions
        .iter()
        .map(|it| (it.attempt.to_string(), it.code.code()))
        .collect();
    assert_eq!(excluded, [("fixed-rate.r02.gzip.a1".to_owned(), "steal")]);
    let counts: Vec<_> = summary
        .counts
        .iter()
        .map(|it| (it.planned, it.kept, it.excluded, it.tried_again))
        .collect();
    assert_eq!(counts, [(6, 6, 0, 0), (6, 6, 1, 1)]);
    let attempts: Vec<u32> = summary
        .estimates
        .iter()
        .find(|it| it.candidate.as_str() == "gzip")
        .map(|it| it.values.iter().map(|value| value.attempt).collect())
        .unwrap();
    assert_eq!(attempts, [1, 2, 1, 1, 1, 1]);
}

/// The caveats of a run that began without knowing of steal.
fn begun_without_steal(sample: &Sample) -> Vec<&'static str> {
    let unknown = (Caveat::StealUnknown, "a virtual machine".to_owned());
    let mut lines = sample.records().lines().to_vec();
    let Event::Opened(opened) = &mut lines[0].event else {
        panic!("the first line opens")
    };
    opened.caveats.push(unknown);
    let (experiment, plan) = (sample.experiment(), sample.plan());
    let summary = estimate(&Records::new(lines), &experiment, &plan, &[]);
    summary.caveats.iter().map(|it| it.code.code()).collect()
}

#[test]
fn steal_is_unknown_until_some_is_seen() {
    assert_eq!(begun_without_steal(&Sample::default()), ["steal_unknown"]);
    let steal = Fault::Breach(loadlab::model::GuardCode::Steal);
    let seen = Sample::default().with_fault("fixed-rate.r02.gzip.a1", steal);
    assert_eq!(begun_without_steal(&seen), Vec::<&str>::new());
}

#[test]
fn a_higher_threshold_lets_an_attempt_count_again_and_says_so() {
    let steal = Fault::Breach(loadlab::model::GuardCode::Steal);
    let sample = Sample::default().with_fault("fixed-rate.r02.gzip.a1", steal);
    let mut rules = sample.experiment();
    rules.guards.steal_invalid = loadlab::model::Share::percent(50);
    let summary = estimate(&sample.records(), &rules, &sample.plan(), &[]);
    assert!(summary.exclusions.is_empty());
    let codes: Vec<_> = summary.caveats.iter().map(|it| it.code.code()).collect();
    assert!(codes.contains(&"judged_after"), "{codes:?}");
}

#[test]
fn a_person_can_exclude_a_block_or_a_measurement() {
    let sample = Sample::default();
    let records = sample.records();
    let attempt = records.attempts().keys().next().copied().unwrap().clone();
    let id = sample.plan().blocks[0].measurements[0].id.clone();
    for measurement in [None, Some(id)] {
        let line = LedgerLine {
            attempt: attempt.clone(),
            measurement: measurement.clone(),
            because: "the door was open".to_owned(),
            by: "A person".to_owned(),
            on: "2026-09-16".to_owned(),
        };
        let summary = run(&sample, &[line]);
        assert_eq!(summary.exclusions.len(), 1);
        assert_eq!(summary.complete, measurement.is_some());
        let candidate = &attempt.block.candidate;
        let n = summary
            .estimates
            .iter()
            .find(|it| it.candidate == *candidate)
            .unwrap()
            .n;
        assert_eq!(n, 5);
        assert!(summary.timeline.iter().any(|row| !row.kept));
    }
}

#[test]
fn what_is_not_held_has_no_response_time_but_a_cost() {
    let fault = Fault::Outcome(Outcome::NotHeld);
    let mut sample = Sample::default();
    for round in 1..=6 {
        sample = sample.with_fault(&format!("fixed-rate.r{round:02}.gzip.a1"), fault);
    }
    let summary = run(&sample, &[]);
    let gzip = |metric: &str| {
        let ours = |it: &&summary::Estimate| {
            it.candidate.as_str() == "gzip" && it.metric.to_string() == metric
        };
        summary.estimates.iter().find(ours).unwrap()
    };
    assert_eq!(gzip("cpu_per_request").n, 6);
    assert_eq!(gzip("p99").n, 0);
    assert_eq!(
        gzip("p99").because.as_deref(),
        Some("not_held: the response time is queueing")
    );
    let primary = &summary.comparisons[0];
    assert!(primary.ratio.is_some() && primary.verdict.is_none());
    assert_eq!(
        primary.because.as_deref(),
        Some("achieved 900/s and 1000/s")
    );
}

fn under(sample: &Sample, change: impl Fn(&mut Experiment)) -> summary::Summary {
    let mut rules = sample.experiment();
    change(&mut rules);
    estimate(&sample.records(), &rules, &sample.plan(), &[])
}

#[test]
fn three_repetitions_have_a_range_and_a_verdict_only_at_what_they_reach() {
    let sample = Sample {
        rounds: 3,
        ..Sample::default()
    };
    let at_95 = run(&sample, &[]);
    let primary = &at_95.comparisons[0];
    assert_eq!(primary.verdict, None);
    assert_eq!(
        primary.because.as_deref(),
        Some("n of 3 and 3 reach a coverage of 90.0 %, declared are 95%")
    );
    assert_eq!(primary.interval.as_ref().unwrap().coverage.get(), 0.9);
    assert!(
        at_95
            .caveats
            .iter()
            .any(|it| it.code.code() == "few_repetitions")
    );
    let at_90 = under(&sample, |rules| {
        rules.coverage = loadlab::model::Share::percent(90);
    });
    assert_eq!(at_90.comparisons[0].verdict, Some(summary::Verdict::Higher));
}

#[test]
fn what_spreads_beyond_the_bound_is_context() {
    let bound = |percent| {
        let sample = Sample::default();
        let summary = under(&sample, |rules| {
            rules.spread_bound = Some(loadlab::model::Share::percent(percent));
        });
        (
            summary.comparisons[0].ratio.is_some(),
            summary.comparisons[0].because.clone(),
        )
    };
    assert_eq!(bound(200), (true, None));
    let because = "context only: the largest value of gzip over the smallest is above 101%";
    assert_eq!(bound(101), (false, Some(because.to_owned())));
}

#[test]
fn the_same_candidate_twice_is_equivalent_and_never_different() {
    let mut sample = Sample::default();
    sample.candidates[1].cpu_per_request_ns = sample.candidates[0].cpu_per_request_ns;
    let plain = run(&sample, &[]);
    assert_eq!(
        plain.comparisons[0].verdict,
        Some(summary::Verdict::NoDifferenceShown)
    );
    let asked = under(&sample, |rules| {
        let primary = rules.primary.as_mut().unwrap();
        primary.equivalent_within = Some(loadlab::model::Share::percent(10));
    });
    assert_eq!(
        asked.comparisons[0].verdict,
        Some(summary::Verdict::EquivalentWithin)
    );
}

#[test]
fn the_family_is_corrected_apart_from_the_primary_one() {
    let mut sample = Sample {
        rounds: 6,
        rates: vec![1_000, 2_000],
        ..Sample::default()
    };
    let mut third = sample.candidates[0].clone();
    third.name = "brotli";
    sample.candidates.push(third);
    let summary = run(&sample, &[]);
    let shown: Vec<_> = summary
        .comparisons
        .iter()
        .map(|it| {
            (
                it.comparison.compare.to_string(),
                it.comparison.at.unwrap().to_string(),
                it.primary,
                it.corrected_for,
            )
        })
        .collect();
    let of =
        |name: &str, at: &str, primary, family| (name.to_owned(), at.to_owned(), primary, family);
    let expected = [
        of("gzip", "1000/s", true, 1),
        of("brotli", "1000/s", false, 3),
        of("gzip", "2000/s", false, 3),
        of("brotli", "2000/s", false, 3),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn a_ceiling_is_the_best_load_point_and_gets_no_verdict_from_the_data_that_chose_it() {
    let summary = run(&Sample::default().with_ceiling(&[1, 8, 32]), &[]);
    let ceiling = &summary.over_points[0];
    assert_eq!(ceiling.at.unwrap().to_string(), "32");
    assert_eq!(ceiling.best_median.as_ref().unwrap().0.to_string(), "32");
    let comparison = summary
        .comparisons
        .iter()
        .find(|it| it.comparison.phase.as_str() == "ceiling")
        .unwrap();
    assert!(comparison.ratio.is_some() && comparison.verdict.is_none());
    assert_eq!(
        comparison.because.as_deref(),
        Some("each load point was chosen by the data that would be judged")
    );
}

/// The same events in another order of blocks.
fn shuffled(records: &Records, keys: &[u64]) -> Records {
    let (mut tries, others): (Vec<Line>, Vec<Line>) = records
        .lines()
        .iter()
        .cloned()
        .partition(|line| line.event.attempt().is_some());
    let names: Vec<_> = records.attempts().into_keys().collect();
    tries.sort_by_key(|line| {
        let at = names
            .iter()
            .position(|name| Some(*name) == line.event.attempt())
            .unwrap();
        (keys[at % keys.len()], at)
    });
    Records::new(others.into_iter().chain(tries).collect())
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 16, failure_persistence: None, ..Default::default() })]
    #[test]
    fn the_order_of_blocks_does_not_matter(keys in proptest::collection::vec(0_u64..1000, 24)) {
        let sample = Sample { rounds: 3, ..Sample::default() }.with_ceiling(&[1, 8]);
        let (records, rules, plan) = (sample.records(), sample.experiment(), sample.plan());
        let text = |records: &Records, plan: &Plan, rules: &Experiment| {
            let mut summary = estimate(records, rules, plan, &[]);
            summary.time.wall_ms = 0;
            serde_json::to_string(&summary).unwrap()
        };
        let (ours, theirs) = (text(&records, &plan, &rules), text(&shuffled(&records, &keys), &plan, &rules));
        proptest::prop_assert_eq!(&ours, &theirs);
    }
}
