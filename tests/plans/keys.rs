//! The keys of a block: which change touches which.

use std::collections::BTreeSet;

use loadlab::model::Digest;
use loadlab::plan::{self, Plan};
use serde_json::json;

use super::planned;
use crate::web_study::machine::{Machine, pin};
use crate::web_study::{experiment, set, study};

/// Which blocks' keys a change touches: `method` and `environment` lists of `phase/candidate`.
fn touched(before: &Plan, after: &Plan) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut method, mut environment) = (BTreeSet::new(), BTreeSet::new());
    for block in &before.blocks {
        let Some(other) = after.blocks.iter().find(|other| other.id == block.id) else {
            continue;
        };
        let name = format!("{}/{}", block.id.phase, block.id.candidate);
        if block.method_key != other.method_key {
            method.insert(name.clone());
        }
        if block.environment_key != other.environment_key {
            environment.insert(name);
        }
    }
    (method, environment)
}

pub fn blocks(phases: &[&str], candidates: &[&str]) -> BTreeSet<String> {
    let of_phase = |phase: &&str| {
        let phase = (*phase).to_owned();
        candidates
            .iter()
            .map(move |candidate| format!("{phase}/{candidate}"))
    };
    phases.iter().flat_map(of_phase).collect()
}

const PHASES: [&str; 2] = ["fixed-rate", "ceiling"];

const CANDIDATES: [&str; 3] = ["go", "php-fpm", "frankenphp"];

#[test]
fn a_change_touches_exactly_the_keys_it_should() {
    let before = planned(&study());
    let table = include_str!("../data/key-changes.txt").lines();
    let mut changes = 0;
    for line in table.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let [pointer, value, method, environment] = line.split(" | ").collect::<Vec<_>>()[..]
        else {
            panic!("four columns: {line}");
        };
        let mut model = study();
        set(&mut model, pointer, serde_json::from_str(value).unwrap());
        assert_ne!(model, study(), "{pointer} changes nothing");
        let expected = (named_blocks(method), named_blocks(environment));
        assert_eq!(touched(&before, &planned(&model)), expected, "{line}");
        changes += 1;
    }
    assert!(changes > 50, "{changes}");
}

/// The blocks that a word of the table stands for.
fn named_blocks(word: &str) -> BTreeSet<String> {
    match word {
        "-" => BTreeSet::new(),
        "all" => blocks(&PHASES, &CANDIDATES),
        phase if PHASES.contains(&phase) => blocks(&[phase], &CANDIDATES),
        candidate if CANDIDATES.contains(&candidate) => blocks(&PHASES, &[candidate]),
        other => panic!("{other}"),
    }
}

#[test]
fn a_program_touches_the_blocks_that_it_runs_in() {
    let experiment = experiment(&study());
    let before = plan::build(&experiment, Some(&pin(&experiment, Machine::default())));
    let all = blocks(&PHASES, &CANDIDATES);
    for (program, environment) in [
        ("php-fpm", blocks(&PHASES, &["php-fpm"])),
        ("frankenphp", blocks(&PHASES, &["frankenphp"])),
        ("postgres", all.clone()),
        ("psql", all.clone()), // says no version: its bytes count
        ("nginx", all.clone()),
    ] {
        let newer = Machine {
            versions: [(program, "2")].into(),
            ..Machine::default()
        };
        let lock = pin(&experiment, newer);
        let after = plan::build(&experiment, Some(&lock));
        assert_eq!(
            touched(&before, &after),
            (BTreeSet::new(), environment),
            "{program}"
        );
    }
    for change in ["generator", "protocol"] {
        let mut lock = pin(&experiment, Machine::default());
        match change {
            "generator" => lock.rules.generator = "oha 9.9.9".to_owned(),
            _ => lock.rules.protocol = 9,
        }
        let after = plan::build(&experiment, Some(&lock));
        assert_eq!(
            touched(&before, &after),
            (BTreeSet::new(), all.clone()),
            "{change}"
        );
    }
}

#[test]
fn other_bytes_of_the_same_version_touch_no_key() {
    let experiment = experiment(&study());
    let before = pin(&experiment, Machine::default());
    let mut after = before.clone();
    let pin = after.programs.get_mut("postgres").unwrap();
    pin.sha256
        .insert("linux/x86_64".to_owned(), Digest::of(b"rebuilt"));
    pin.sha256
        .insert("linux/aarch64".to_owned(), Digest::of(b"elsewhere"));
    assert_eq!(
        plan::build(&experiment, Some(&before)),
        plan::build(&experiment, Some(&after))
    );
}

#[test]
fn the_names_of_phase_and_candidate_stand_beside_the_keys() {
    let plan = planned(&study());
    let mut model = study();
    let text = model
        .to_string()
        .replace("\"php-fpm\"", "\"fpm\"")
        .replace("\"ceiling\",\"title\"", "\"top\",\"title\"");
    model = serde_json::from_str(&text).unwrap();
    set(
        &mut model,
        "/candidates/fpm/definition/members/main/program/command/0",
        json!("php-fpm"),
    );
    let renamed = planned(&model);
    let key = |plan: &Plan, candidate: &str| {
        let mut blocks = plan.blocks.iter();
        blocks
            .find(|block| block.id.candidate.as_str() == candidate)
            .unwrap()
            .method_key
    };
    assert_eq!(key(&plan, "php-fpm"), key(&renamed, "fpm"));
    assert_ne!(key(&plan, "php-fpm"), key(&plan, "frankenphp"));
}
