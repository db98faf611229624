//! Standards among the blocks: their rounds, their time, their keys.

use std::collections::BTreeSet;

use loadlab::model::standards::{Difference, Standards};
use loadlab::model::{Caveat, Experiment, Nanoseconds, Share};
use loadlab::plan::{self, Plan};

use super::planned;
use crate::web_study::machine::{Machine, pin};
use crate::web_study::{experiment, study};

/// The study with three planted servers in its fixed-rate phase.
fn with_standards(share: u64) -> Experiment {
    let study = experiment(&study());
    let phase = study.phases.values().next().unwrap();
    let load = (
        phase.name.clone(),
        "1000/s".parse().unwrap(),
        Share::percent(share),
    );
    let cpu = |by| Difference::Cpu {
        by: Share::percent(by),
    };
    let work = Nanoseconds(150_000);
    let standards = Standards::plant(&study.name, load, work, &[cpu(0), cpu(5)]);
    Experiment {
        standards: Some(standards),
        ..study
    }
}

#[test]
fn standards_stand_among_the_blocks_and_their_time_stands_apart() {
    let without = plan::build(&experiment(&study()), None);
    let experiment = with_standards(25);
    let plan = plan::build(&experiment, None);
    let mut totals = plan.totals.clone();
    let added = totals.standards.take().unwrap();
    assert_eq!(totals, without.totals);
    // A block of theirs: 5 s of warm-up and 60 s of load, 1.8 s beside it, a probe of 10.5 s; 3 rehearsals of 0.5 s.
    assert_eq!(
        (added.rounds, added.blocks, added.measurements),
        (5, 15, 15)
    );
    assert_eq!((added.load_seconds, added.warmup_seconds), (900, 75));
    assert_eq!(added.wall_seconds, 975 + 186);
    assert!(added.wall_seconds * 4 <= plan.totals.whole_seconds());
    let own: Vec<&plan::Block> = plan.blocks.iter().filter(|block| !block.standard).collect();
    assert!(
        own.into_iter().eq(&without.blocks),
        "the order stays as it is"
    );
    let of_round = |round: u32| -> Vec<&str> {
        let blocks = plan.blocks.iter();
        let blocks = blocks
            .filter(|block| block.id.phase.as_str() == "fixed-rate" && block.id.round == round);
        blocks.map(|block| block.id.candidate.as_str()).collect()
    };
    for round in 1..=5 {
        let kinds: Vec<bool> = of_round(round)
            .iter()
            .map(|name| name.starts_with("standard-"))
            .collect();
        let expected = if round < 4 {
            [true, false, true, false, true, false]
        } else {
            [false, true, false, true, false, true]
        };
        assert_eq!(kinds, expected, "round {round}: {:?}", of_round(round));
    }
}

#[test]
fn a_small_share_leaves_rounds_without_standards() {
    let experiment = with_standards(10);
    let plan = plan::build(&experiment, None);
    let added = plan.totals.standards.unwrap();
    assert_eq!((added.rounds, added.blocks), (2, 6));
    assert!(added.wall_seconds * 10 <= plan.totals.whole_seconds());
    let rounds: BTreeSet<u32> = plan
        .blocks
        .iter()
        .filter(|block| block.standard)
        .map(|block| block.id.round)
        .collect();
    assert_eq!(rounds, BTreeSet::from([2, 4]));
    let caveats = plan::caveats(&experiment, &plan);
    let (_, text) = caveats
        .iter()
        .find(|(code, _)| *code == Caveat::FewStandards)
        .unwrap();
    assert_eq!(
        text,
        "standards stand in 2 rounds; a coverage of 95% needs 4: raise `standards.share` above 10% or `repetitions`"
    );
    let shown = plan::display(&experiment, &plan, &caveats);
    assert!(shown.contains("\nstandards: 6 blocks among the blocks above\n  planted: 0% of CPU, 5% of CPU\n  3 planted servers in 2 rounds of phase fixed-rate, each at 1000/s; at most 10% of the time\n"), "{shown}");
    assert!(shown.contains(" for the standards (8 %): "), "{shown}");
}

#[test]
fn blocks_of_standards_have_keys_of_their_own_and_leave_the_others_theirs() {
    let with = with_standards(25);
    let lock = pin(&with, Machine::default());
    assert!(lock.programs.contains_key("loadlab-stub"));
    let plan = plan::build(&with, Some(&lock));
    let without = planned(&study());
    let own = plan.blocks.iter().filter(|block| !block.standard);
    assert!(
        own.map(|block| block.method_key)
            .eq(without.blocks.iter().map(|block| block.method_key))
    );
    let key = |name: &str| {
        let mut blocks = plan.blocks.iter();
        let block = blocks
            .find(|block| block.id.candidate.as_str() == name)
            .unwrap();
        (block.method_key.unwrap(), block.environment_key.unwrap())
    };
    let pairs = with.standards.as_ref().unwrap().planted.open_the_seal();
    assert_eq!(
        key(pairs[0].compare.as_str()),
        key(pairs[0].against.as_str()),
        "identical twins"
    );
    assert_ne!(
        key(pairs[1].compare.as_str()),
        key(pairs[1].against.as_str())
    );
    let text = serde_json::to_string(&plan).unwrap();
    let validator =
        jsonschema::validator_for(&serde_json::from_str(plan::SCHEMA).unwrap()).unwrap();
    assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()));
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}
