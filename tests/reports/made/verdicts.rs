//! Made-up comparisons, a declared number, the probe, an exclusion and caveats.

use std::collections::BTreeMap;

use loadlab::estimate::summary::{
    CaveatNote, ComparisonResult, DerivedResult, DerivedRow, Exclusion, Interval, Mark,
    ProbeSummary, Verdict,
};
use loadlab::model::derived::{Comparison, DerivedRule};
use loadlab::model::{BlockId, Caveat, Experiment, GuardCode, Metric, Unit};
use loadlab::record::event::Attempt;

use super::named;
use super::numbers::decimal;

pub(super) fn comparisons(experiment: &Experiment) -> Vec<ComparisonResult> {
    let comparison = |compare: &str, against: &str| Comparison {
        metric: Metric::CpuPerRequest,
        phase: named("fixed-rate"),
        scenario: Some(named("page")),
        at: Some(named("1000/s")),
        role: None,
        compare: named(compare),
        against: named(against),
        equivalent_within: None,
    };
    assert!(
        experiment
            .phases
            .contains_key(&named::<loadlab::model::PhaseName>("fixed-rate"))
    );
    let result = |comparison, primary, compare: f64, against: f64| ComparisonResult {
        comparison,
        primary,
        compare_value: Some(decimal(compare)),
        against_value: Some(decimal(against)),
        achieved: (Some(decimal(999.6)), Some(decimal(999.9))),
        n: (6, 6),
        ratio: Some(decimal(compare / against)),
        interval: Some(Interval {
            low: decimal(compare / against * 0.98),
            high: decimal(compare / against * 1.021),
            coverage: decimal(0.958_9),
            kind: "exact two-sample ranks".to_owned(),
        }),
        verdict: Some(Verdict::Higher),
        because: None,
        corrected_for: u64::from(!primary) + 1,
        p_value: (!primary).then(|| decimal(0.002_164)),
    };
    vec![
        result(comparison("level-6", "level-1"), true, 362_000.0, 158_000.0),
        result(comparison("level-1", "plain"), false, 158_000.0, 64_000.0),
        ComparisonResult {
            interval: None,
            verdict: None,
            because: Some("the achieved rates are unequal".to_owned()),
            ..result(comparison("level-6", "plain"), false, 362_000.0, 64_000.0)
        },
    ]
}

pub(super) fn derived() -> DerivedResult {
    DerivedResult {
        name: named("price_of_a_byte"),
        title: "CPU for each byte that level 6 saves over level 1".to_owned(),
        rule: DerivedRule::Formula {
            formula: "(value(candidate=\"level-6\", metric=\"cpu_per_request\") - value(candidate=\"level-1\", metric=\"cpu_per_request\")) / …".to_owned(),
            unit: Unit::NanosecondsPerByte,
        },
        rows: vec![DerivedRow {
            candidate: None,
            scenario: None,
            value: Some(decimal(309.09)),
            with_best_single: None,
            relative: None,
            agrees: None,
            unit: Unit::NanosecondsPerByte,
            mark: Mark::Calculated,
            note: Some("assumes that both answers are the same page".to_owned()),
        }],
    }
}

pub(super) fn probe() -> ProbeSummary {
    let three = |low, median, high| [decimal(low), decimal(median), decimal(high)];
    ProbeSummary {
        readings: 59,
        achieved: Some(three(3_998.0, 4_000.0, 4_000.0)),
        cpu_per_request: Some(three(28_100.0, 29_300.0, 31_900.0)),
        p99: Some(three(310_000.0, 355_000.0, 420_000.0)),
        fixed_work: BTreeMap::from([(0, three(0.99, 1.0, 1.04))]),
        ceiling: Some(decimal(61_200.0)),
        resolves: Some(decimal(1.062)),
        resolves_because: "59 readings of one nginx; with six repetitions a side, 95 % of made-up pairs differ by less.".to_owned(),
    }
}

pub(super) fn exclusion() -> Exclusion {
    Exclusion {
        attempt: Attempt {
            block: BlockId {
                phase: named("fixed-rate"),
                round: 2,
                candidate: named("plain"),
            },
            attempt: 1,
        },
        measurement: None,
        code: GuardCode::ForeignLoad,
        evidence: "0.31 cores of other work on CPU 0, at most 0.05".to_owned(),
        by: None,
        on: None,
    }
}

pub(super) fn caveats() -> Vec<CaveatNote> {
    let note = |code, detail: &str| CaveatNote {
        code,
        detail: detail.to_owned(),
    };
    vec![
        note(Caveat::SharedCores, "candidate and load share CPU 1"),
        note(Caveat::StealUnknown, "kvm, no steal in 402 s"),
        note(Caveat::BodyUnseen, "samples before and after each window"),
        note(Caveat::CeilingOfRig, "gzip off at 256 connections"),
        note(Caveat::CeilingOfRig, "gzip off at 64 connections"),
    ]
}
