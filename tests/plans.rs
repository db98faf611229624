//! Plans as a whole: totals, keys, selection, and what a person reads.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::collections::BTreeSet;

use loadlab::lock::{Lock, ResolvedProgram, Resolver, Upgrade, pin};
use loadlab::model::candidate::VersionRule;
use loadlab::model::standards::{Difference, Standards};
use loadlab::model::{Caveat, Digest, Experiment, Nanoseconds, Share};
use loadlab::plan::{self, Plan};
use serde_json::{Value, json};

const STUDY: &str = include_str!("data/models/web-study.json");

fn study() -> Value {
    serde_json::from_str(STUDY).unwrap()
}

fn experiment(model: &Value) -> Experiment {
    serde_json::from_value(model.clone()).unwrap()
}

/// Every program has version 1, but those named.
struct Installed(Vec<(&'static str, &'static str)>, &'static str);

impl Resolver for Installed {
    fn program(
        &mut self,
        name: &str,
        rule: Option<&VersionRule>,
    ) -> Result<ResolvedProgram, String> {
        let other = self.0.iter().find(|(program, _)| *program == name);
        let says = other.map_or("1", |(_, version)| version);
        Ok(ResolvedProgram {
            path: format!("/usr/bin/{name}").into(),
            version: rule.map(|_| says.to_owned()),
            sha256: Digest::of(format!("{name} {says}").as_bytes()),
            platform: "linux/x86_64".to_owned(),
        })
    }

    fn generator(&self) -> String {
        self.1.to_owned()
    }
}

fn lock(experiment: &Experiment, installed: Vec<(&'static str, &'static str)>) -> Lock {
    let mut resolver = Installed(installed, loadlab::load::GENERATOR);
    pin(experiment, &mut resolver, None, &Upgrade::None).unwrap()
}

fn planned(model: &Value) -> Plan {
    let experiment = experiment(model);
    plan::build(&experiment, Some(&lock(&experiment, vec![])))
}

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
    let locked = plan::build(&experiment, Some(&lock(&experiment, vec![])));
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

fn blocks(phases: &[&str], candidates: &[&str]) -> BTreeSet<String> {
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
    let table = include_str!("data/key-changes.txt").lines();
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

/// Sets a value, also one that was absent in its object.
fn set(model: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match model.pointer_mut(parent).unwrap() {
        Value::Object(object) => drop(object.insert(key.to_owned(), value)),
        Value::Array(array) => array[key.parse::<usize>().unwrap()] = value,
        other => panic!("{pointer}: {other}"),
    }
}

#[test]
fn a_program_touches_the_blocks_that_it_runs_in() {
    let experiment = experiment(&study());
    let before = plan::build(&experiment, Some(&lock(&experiment, vec![])));
    let all = blocks(&PHASES, &CANDIDATES);
    for (program, environment) in [
        ("php-fpm", blocks(&PHASES, &["php-fpm"])),
        ("frankenphp", blocks(&PHASES, &["frankenphp"])),
        ("postgres", all.clone()),
        ("psql", all.clone()), // says no version: its bytes count
        ("nginx", all.clone()),
    ] {
        let lock = lock(&experiment, vec![(program, "2")]);
        let after = plan::build(&experiment, Some(&lock));
        assert_eq!(
            touched(&before, &after),
            (BTreeSet::new(), environment),
            "{program}"
        );
    }
    for change in ["generator", "protocol"] {
        let mut lock = lock(&experiment, vec![]);
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
    let before = lock(&experiment, vec![]);
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
fn what_a_person_reads() {
    let experiment = experiment(&study());
    let open = plan::build(&experiment, None);
    insta::assert_snapshot!(
        "study",
        plan::display(&experiment, &open, &plan::caveats(&experiment, &open))
    );
    let mut model = study();
    set(&mut model, "/phases/fixed-rate/repetitions", json!(40));
    set(&mut model, "/sharing", json!("declared"));
    set(
        &mut model,
        "/phases/fixed-rate/load/common/warmup",
        json!("0s"),
    );
    let experiment = serde_json::from_value(model).unwrap();
    let plan = plan::build(&experiment, Some(&lock(&experiment, vec![])));
    let part = plan::only(&plan, &["fixed-rate".to_owned()]).unwrap();
    insta::assert_snapshot!("many-rounds", plan::display(&experiment, &part, &[]));
}

#[test]
fn the_expanded_model_reads_back_to_the_same_experiment() {
    let mut model = study();
    let title = json!("é \u{1b}[31m \u{9b} \u{202e} \u{e0041} \n");
    set(&mut model, "/page/title", title);
    let experiment = experiment(&model);
    let text = plan::expanded(&experiment);
    assert!(text.ends_with("}\n"));
    let line = text
        .lines()
        .find(|line| line.contains("\"title\""))
        .unwrap();
    let shown = r#"    "title": "é \u001b[31m \u009b \u202e \udb40\udc41 \n","#;
    assert_eq!(line, shown);
    assert_eq!(
        serde_json::from_str::<Experiment>(&text).unwrap(),
        experiment
    );
}

#[test]
fn plans_are_as_the_schema_says() {
    let schema: Value = serde_json::from_str(plan::SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let experiment = experiment(&study());
    for plan in [planned(&study()), plan::build(&experiment, None)] {
        let text = serde_json::to_string(&plan).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&value)
            .map(|fault| fault.to_string())
            .collect();
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        for pointer in [
            "/seed",
            "/blocks/0/method_key",
            "/blocks/0/measurements/0/at",
            "/totals/wall_seconds",
            "/blocks/0/round",
        ] {
            let mut broken = value.clone();
            set(&mut broken, pointer, json!("none"));
            assert!(!validator.is_valid(&broken), "{pointer}");
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            broken
                .pointer_mut(parent)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .remove(key);
            assert!(!validator.is_valid(&broken), "{pointer} removed");
            set(
                &mut broken,
                pointer,
                value.pointer(pointer).unwrap().clone(),
            );
            assert!(validator.is_valid(&broken));
            set(&mut broken, &format!("{parent}/more"), json!(1));
            assert!(!validator.is_valid(&broken), "{pointer} and more");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let text = |model: &Value| serde_json::to_string(&planned(model)).unwrap();
    assert_eq!(text(&study()), text(&study()));
}

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
    let lock = lock(&with, vec![]);
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
