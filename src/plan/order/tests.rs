use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::model::phase::{LoadCommon, LoadShape};
use crate::model::unit::Nanoseconds;

fn phase(name: &str, candidates: usize, repetitions: u32) -> Phase {
    let zero = Nanoseconds(0);
    Phase {
        name: name.parse().unwrap(),
        title: String::new(),
        load: LoadShape::Ceiling {
            scenarios: Vec::new(),
            connections: Vec::new(),
            common: LoadCommon {
                warmup: zero,
                duration: zero,
                timeout: zero,
                quiet: zero,
                keep_requests: 0,
            },
        },
        repetitions,
        candidates: (0..candidates)
            .map(|index| format!("c{index}").parse().unwrap())
            .collect(),
        estimate: indexmap::IndexMap::new(),
        accept: None,
    }
}

fn shown(phase: &Phase, rule: OrderRule, seed: u64) -> Vec<String> {
    rounds(phase, rule, seed)
        .iter()
        .map(|round| {
            let names: Vec<&str> = round.iter().map(|name| name.as_str()).collect();
            names.join(" ")
        })
        .collect()
}

type Counts<T> = BTreeMap<(String, T), u32>;

/// How often each candidate directly follows each other one, and stands at each position.
fn counts(rounds: &[Vec<&CandidateName>]) -> (Counts<String>, Counts<usize>) {
    let (mut follows, mut stands) = (BTreeMap::new(), BTreeMap::new());
    for round in rounds {
        for (position, candidate) in round.iter().enumerate() {
            *stands.entry((candidate.to_string(), position)).or_default() += 1;
        }
        for pair in round.windows(2) {
            let pair = (pair[0].to_string(), pair[1].to_string());
            *follows.entry(pair).or_default() += 1;
        }
    }
    (follows, stands)
}

#[test]
fn a_complete_design_balances_exactly() {
    for (count, needed) in [
        (1, 1),
        (2, 2),
        (3, 6),
        (4, 4),
        (5, 10),
        (6, 6),
        (7, 14),
        (10, 10),
    ] {
        for cycles in [1_u32, 2] {
            let phase = phase("p", count, needed * cycles);
            assert_eq!(balance(&phase), Balance::Complete);
            let rounds = rounds(&phase, OrderRule::Balanced, 7);
            let (follows, stands) = counts(&rounds);
            let each_pair = u64::from(needed * cycles) / count as u64;
            assert_eq!(follows.len(), count * (count - 1), "{count}");
            assert!(
                follows.values().all(|times| u64::from(*times) == each_pair),
                "{follows:?}"
            );
            assert_eq!(stands.len(), count * count);
            assert!(
                stands.values().all(|times| u64::from(*times) == each_pair),
                "{stands:?}"
            );
        }
    }
}

#[test]
fn fewer_rounds_say_how_many_are_needed() {
    for (candidates, repetitions, needed) in
        [(3, 5, 6), (3, 7, 12), (4, 3, 4), (2, 5, 6), (3, 3, 6)]
    {
        let rounds_needed = needed;
        let found = balance(&phase("p", candidates, repetitions));
        assert_eq!(found, Balance::Incomplete { rounds_needed });
    }
}

#[test]
fn as_many_rounds_as_candidates_already_balance_the_positions() {
    let (_, stands) = counts(&rounds(&phase("p", 5, 5), OrderRule::Balanced, 3));
    assert_eq!(stands.len(), 25);
    assert!(stands.values().all(|times| *times == 1));
}

/// Orders are part of published entries: these texts may never change.
#[test]
fn orders_are_stable() {
    let mut text = String::new();
    for (rule, candidates) in [
        (OrderRule::Balanced, 4),
        (OrderRule::Balanced, 3),
        (OrderRule::Random, 4),
        (OrderRule::Rotated, 3),
    ] {
        let rounds = shown(&phase("fixed-rate", candidates, 6), rule, 1);
        text += &format!("{rule:?} {candidates}\n{}\n\n", rounds.join("\n"));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_seed_and_the_phase_deal_the_labels() {
    let (here, there) = (phase("a", 5, 10), phase("b", 5, 10));
    for rule in [OrderRule::Balanced, OrderRule::Random] {
        assert_eq!(rounds(&here, rule, 1), rounds(&here, rule, 1));
        assert_ne!(rounds(&here, rule, 1), rounds(&here, rule, 2));
        assert_ne!(shown(&here, rule, 1), shown(&there, rule, 1));
    }
    assert_eq!(
        rounds(&here, OrderRule::Rotated, 1),
        rounds(&here, OrderRule::Rotated, 2)
    );
}

#[test]
fn a_random_order_is_uniform() {
    let phase = phase("p", 3, 6_000);
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for order in shown(&phase, OrderRule::Random, 11) {
        *seen.entry(order).or_default() += 1;
    }
    assert_eq!(seen.len(), 6);
    // 1,000 expected of each, standard deviation 29: five of them either way.
    assert!(
        seen.values().all(|times| (855..=1_145).contains(times)),
        "{seen:?}"
    );
}

proptest! {
    #[test]
    fn each_candidate_stands_once_in_each_round(
        candidates in 1_usize..12, repetitions in 1_u32..30, seed in any::<u64>(), rule in 0_usize..3,
    ) {
        let rule = [OrderRule::Balanced, OrderRule::Random, OrderRule::Rotated][rule];
        let phase = phase("p", candidates, repetitions);
        let rounds = rounds(&phase, rule, seed);
        prop_assert_eq!(rounds.len(), repetitions as usize);
        for mut round in rounds {
            round.sort();
            let mut all: Vec<_> = phase.candidates.iter().collect();
            all.sort();
            prop_assert_eq!(round, all);
        }
    }

    #[test]
    fn more_repetitions_keep_the_earlier_rounds(
        candidates in 1_usize..8, repetitions in 1_u32..12, seed in any::<u64>(),
    ) {
        for rule in [OrderRule::Balanced, OrderRule::Random, OrderRule::Rotated] {
            let (few, more) = (phase("p", candidates, repetitions), phase("p", candidates, repetitions + 5));
            let more = rounds(&more, rule, seed);
            prop_assert_eq!(&rounds(&few, rule, seed), &more[..repetitions as usize]);
        }
    }
}
