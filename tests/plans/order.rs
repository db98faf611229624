//! What a plan holds: totals, the order of blocks, the seed, a part of it, caveats.

use std::collections::BTreeSet;

use loadlab::plan::{self, Plan};
use serde_json::{Value, json};

use super::planned;
use crate::web_study::machine::{Machine, pin};
use crate::web_study::{experiment, set, study};

#[test]
fn the_study_adds_up() {
    let plan = plan::build(&experiment(&study()), None);
    let totals = &plan.totals;
    assert_eq!((totals.blocks, totals.measurements), (24, 153));
    assert_eq!((totals.load_seconds, totals.warmup_seconds), (4_320, 360));
    // Probes: 24 + 3 calibrations of 10.5 s; blocks: 24 x 0.5 s + 72 x 1 s quiet + 153 x 0.3 s; rehearsal 1.5 s.
    assert_eq!(totals.wall_seconds, 4_320 + 360 + 415);
}

#[test]
fn a_plan_without_a_lock_has_the_order_of_the_locked_one() {
    let experiment = experiment(&study());
    let locked = plan::build(&experiment, Some(&pin(&experiment, Machine::default())));
    let open = plan::build(&experiment, None);
    assert!(
        locked
            .blocks
            .iter()
            .all(|block| block.method_key.is_some() && block.environment_key.is_some())
    );
    assert!(
        open.blocks
            .iter()
            .all(|block| block.method_key.is_none() && block.environment_key.is_none())
    );
    assert_eq!(open.seed, locked.seed);
    let order = |plan: &Plan| {
        plan.blocks
            .iter()
            .map(|block| block.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(order(&open), order(&locked));
    assert_eq!(open.totals, locked.totals);
}

#[test]
fn phases_follow_the_manifest_and_rounds_follow_one_another() {
    let plan = plan::build(&experiment(&study()), None);
    let rounds: Vec<(String, u32)> = plan
        .blocks
        .chunks(3)
        .map(|blocks| {
            let names: BTreeSet<String> = blocks
                .iter()
                .map(|block| block.id.candidate.to_string())
                .collect();
            assert_eq!(names.len(), 3);
            assert!(
                blocks
                    .iter()
                    .all(|block| block.id.round == blocks[0].id.round)
            );
            (blocks[0].id.phase.to_string(), blocks[0].id.round)
        })
        .collect();
    let fixed = (1..=5).map(|round| ("fixed-rate".to_owned(), round));
    let ceiling = (1..=3).map(|round| ("ceiling".to_owned(), round));
    assert_eq!(rounds, fixed.chain(ceiling).collect::<Vec<_>>());
}

#[test]
fn each_scenario_is_warmed_up_once_a_block() {
    let plan = plan::build(&experiment(&study()), None);
    let block = plan.blocks.last().unwrap();
    let lines: Vec<String> = block
        .measurements
        .iter()
        .map(|each| {
            format!(
                "{} {:?} {} {}",
                each.id,
                each.warmup.map(|time| time.to_string()),
                each.duration,
                each.connections
            )
        })
        .collect();
    assert_eq!(lines[0], "token-check.16-connections Some(\"5s\") 15s 16");
    assert_eq!(lines[1], "token-check.64-connections None 15s 64");
    assert_eq!(lines[4], "read.16-connections Some(\"5s\") 15s 16");
    assert_eq!(lines.len(), 12);
    let first = &plan.blocks[0].measurements[0];
    assert_eq!(first.id.to_string(), "token-check.50000-per-s");
    assert_eq!(
        (first.rate.unwrap().get(), first.connections),
        (50_000, 256)
    );
}

#[test]
fn the_seed_changes_with_what_all_blocks_share() {
    let seed = |pointer: &str, value: Value| {
        let mut model = study();
        set(&mut model, pointer, value);
        planned(&model).seed
    };
    let before = planned(&study()).seed;
    assert!(before < 1 << 53);
    assert_ne!(before, seed("/name", json!("other")));
    assert_ne!(before, seed("/budgets/candidate/cores", json!(3)));
    assert_ne!(before, seed("/order/rule", json!("random")));
    assert_eq!(before, seed("/phases/fixed-rate/repetitions", json!(6)));
    assert_eq!(
        before,
        seed("/candidates/go/definition/values/a", json!("1"))
    );
    assert_eq!(before, seed("/cores/candidate", json!("4-7")));
    assert_eq!(42, seed("/order/seed", json!(42)));
}

#[test]
fn caveats_are_known_before_anything_runs() {
    let shown = |model: &Value| {
        let experiment = experiment(model);
        let caveats = plan::caveats(&experiment, &plan::build(&experiment, None));
        caveats
            .iter()
            .map(|(code, text)| format!("{code}: {text}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        shown(&study()),
        [
            "incomplete_balance: phase `fixed-rate` has 5 rounds of 3 candidates; a balanced order needs 6",
            "shared_process: phase `fixed-rate` measures 3 scenarios in each block",
            "incomplete_balance: phase `ceiling` has 3 rounds of 3 candidates; a balanced order needs 6",
            "shared_process: phase `ceiling` measures 3 scenarios in each block",
        ]
    );
    let mut model = study();
    set(&mut model, "/order/rule", json!("rotated"));
    set(&mut model, "/sharing", json!("declared"));
    set(&mut model, "/scale", json!("10%"));
    set(&mut model, "/phases/ceiling/candidates", json!(["go"]));
    set(
        &mut model,
        "/phases/ceiling/load/scenarios",
        json!(["read"]),
    );
    assert_eq!(
        shown(&model),
        [
            "shared_cores: roles may share CPUs: candidate 0-3, postgres 4-7, load 8-11, probe 0-3",
            "scaled: durations and rates are 10% of the experiment's own",
            "plain_rotation: phase `fixed-rate` rotates its candidates",
            "shared_process: phase `fixed-rate` measures 3 scenarios in each block",
        ]
    );
    set(&mut model, "/phases/fixed-rate/repetitions", json!(6));
    set(&mut model, "/order/rule", json!("balanced"));
    assert_eq!(shown(&model).len(), 3);
}

#[test]
fn a_part_of_a_plan() {
    let plan = planned(&study());
    let part = |patterns: &[&str]| {
        let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
        plan::only(&plan, &patterns)
    };
    assert_eq!(part(&[]).unwrap(), plan);
    let ceiling = part(&["ceiling"]).unwrap();
    assert_eq!(
        (ceiling.totals.blocks, ceiling.totals.measurements),
        (9, 108)
    );
    assert_eq!(
        (ceiling.totals.load_seconds, ceiling.totals.warmup_seconds),
        (1_620, 135)
    );
    assert!(
        ceiling.totals.wall_seconds > 1_755
            && ceiling.totals.wall_seconds < plan.totals.wall_seconds
    );
    assert_eq!(part(&["go", "php-fpm"]).unwrap().totals.blocks, 16);
    assert_eq!(part(&["*.r01.*"]).unwrap().totals.blocks, 6);
    assert_eq!(part(&["fixed-rate.r0?.go"]).unwrap().totals.blocks, 5);
    assert_eq!(part(&["*"]).unwrap(), plan);
    let order: Vec<String> = part(&["go", "ceiling"])
        .unwrap()
        .blocks
        .iter()
        .map(|each| each.id.to_string())
        .collect();
    let whole: Vec<String> = plan
        .blocks
        .iter()
        .map(|each| each.id.to_string())
        .filter(|id| order.contains(id))
        .collect();
    assert_eq!(order, whole);
    insta::assert_snapshot!(part(&["go", "nod\u{1b}e.js"]).unwrap_err());
    // Nothing in a pattern but * and ? is special.
    assert!(part(&["g."]).is_err());
    assert!(part(&["(go|php-fpm)"]).is_err());
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let text = |model: &Value| serde_json::to_string(&planned(model)).unwrap();
    assert_eq!(text(&study()), text(&study()));
}
