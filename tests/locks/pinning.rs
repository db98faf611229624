//! What is pinned, and how pins are moved.

use std::collections::{BTreeMap, BTreeSet};

use loadlab::lock::programs::{PROBE, STUB};
use loadlab::lock::{self, Lock, PinFaults, Upgrade};
use loadlab::model::Experiment;
use serde_json::{Value, json};

use crate::web_study::machine::{Machine, pin};
use crate::web_study::{experiment, set, study};

/// The lock that is made on a machine when there is one already.
pub fn pin_again(
    experiment: &Experiment,
    mut machine: Machine,
    previous: &Lock,
    upgrade: &Upgrade,
) -> Result<Lock, PinFaults> {
    lock::pin(experiment, &mut machine, Some(previous), upgrade)
}

/// The lock of a study as this model has it, made on a machine where everything is there.
fn pinned(model: &Value) -> Result<Lock, PinFaults> {
    lock::pin(
        &experiment(model),
        &mut Machine::default(),
        None,
        &Upgrade::None,
    )
}

pub fn named(name: &str) -> Upgrade {
    Upgrade::Names(BTreeSet::from([name.to_owned()]))
}

#[test]
fn pins_stay_unless_they_are_moved() {
    let experiment = experiment(&study());
    let lock = pin(&experiment, Machine::default());
    let newer = || Machine {
        versions: BTreeMap::from([("postgres", "2"), ("psql", "2"), (PROBE, "2")]),
        generator: Some("oha 2.0.0"),
        ..Machine::default()
    };
    let faults = pin_again(&experiment, newer(), &lock, &Upgrade::None).unwrap_err();
    insta::assert_snapshot!(faults.to_string());

    let faults = pin_again(&experiment, newer(), &lock, &named("postgres")).unwrap_err();
    assert_eq!(faults.0.len(), 3);
    let all = pin_again(&experiment, newer(), &lock, &Upgrade::All).unwrap();
    assert_eq!(all.programs["postgres"].version.as_deref(), Some("2"));
    assert_eq!(all.programs["frankenphp"], lock.programs["frankenphp"]);
    assert_eq!(all.rules.generator, "oha 2.0.0");

    let one = Machine {
        versions: BTreeMap::from([("postgres", "2")]),
        ..Machine::default()
    };
    let moved = pin_again(&experiment, one, &lock, &named("postgres")).unwrap();
    let expected = Lock {
        programs: [("postgres".to_owned(), moved.programs["postgres"].clone())].into(),
        ..lock.clone()
    };
    let rest: BTreeMap<_, _> = lock
        .programs
        .iter()
        .filter(|(name, _)| *name != "postgres")
        .map(|(name, pin)| (name.clone(), pin.clone()))
        .collect();
    assert_eq!(moved.programs.len(), rest.len() + expected.programs.len());
    assert!(rest.iter().all(|(name, pin)| moved.programs[name] == *pin));
}

#[test]
fn other_bytes_of_the_same_version_are_a_caveat_and_another_platform_is_added() {
    let experiment = experiment(&study());
    let lock = pin(&experiment, Machine::default());
    let rebuilt = || Machine {
        bytes: BTreeMap::from([("postgres", "rebuilt")]),
        ..Machine::default()
    };
    let locked = lock::check(&experiment, &lock).unwrap();
    let (mismatches, caveats) = lock::verify_programs(&locked, &mut rebuilt());
    assert_eq!(mismatches, vec![]);
    assert_eq!(caveats.len(), 1);
    insta::assert_snapshot!(format!("{}: {}", caveats[0].0, caveats[0].1));
    let kept = pin_again(&experiment, rebuilt(), &lock, &Upgrade::None).unwrap();
    assert_eq!(kept, lock);
    let moved = pin_again(&experiment, rebuilt(), &lock, &named("postgres")).unwrap();
    assert_ne!(
        moved.programs["postgres"].sha256,
        lock.programs["postgres"].sha256
    );

    let arm = || Machine {
        platform: Some("linux/aarch64"),
        ..Machine::default()
    };
    let (mismatches, caveats) = lock::verify_programs(&locked, &mut arm());
    // psql says no version, so that its bytes are all there is to compare.
    let shown: Vec<String> = mismatches
        .iter()
        .map(|each| each.what.to_string())
        .collect();
    assert_eq!(shown, ["program `psql`"]);
    assert_eq!(caveats.len(), 4);
    let both = pin_again(&experiment, arm(), &lock, &Upgrade::None).unwrap();
    for (name, pin) in &both.programs {
        assert_eq!(pin.sha256.len(), 2, "{name}");
        assert_eq!(
            pin.sha256["linux/x86_64"],
            lock.programs[name].sha256["linux/x86_64"]
        );
    }
}

#[test]
fn all_faults_come_at_once() {
    let mut model = study();
    set(
        &mut model,
        "/candidates/go/definition/members/main/program/command",
        json!(["{{ service.postgres.host }}"]),
    );
    let faults = pinned(&model).unwrap_err();
    assert_eq!(faults.0.len(), 1);
    let mut machine = Machine {
        missing: BTreeSet::from(["php-fpm", "postgres", PROBE]),
        ..Machine::default()
    };
    let faults = lock::pin(&experiment(&study()), &mut machine, None, &Upgrade::None).unwrap_err();
    let mut lines = vec![faults.to_string()];
    let lock = pin(&experiment(&study()), Machine::default());
    for name in ["mysql", "php-fmp\u{1b}"] {
        let faults = pin_again(
            &experiment(&study()),
            Machine::default(),
            &lock,
            &named(name),
        )
        .unwrap_err();
        lines.push(faults.to_string());
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn programs_are_found_in_every_kind_of_command() {
    let command = "/candidates/go/definition/members/main/program/command";
    let programs = |value: Value| {
        let mut model = study();
        set(&mut model, command, value);
        set(
            &mut model,
            "/candidates/go/definition/values/tool",
            json!("tool-8"),
        );
        pinned(&model)
            .map(|lock| lock.programs.into_keys().collect::<Vec<_>>().join(" "))
            .map_err(|faults| faults.to_string())
    };
    let rest = "frankenphp nginx php-fpm postgres psql";
    assert_eq!(programs(json!(["{{ work }}/serve"])).unwrap(), rest);
    assert_eq!(programs(json!(["./serve"])).unwrap(), rest);
    assert_eq!(programs(json!(["nginx", "-c", "x"])).unwrap(), rest);
    assert_eq!(
        programs(json!(["{{ value.tool }}"])).unwrap(),
        format!("{rest} tool-8")
    );
    assert_eq!(
        programs(json!(["/opt/a/b"])).unwrap(),
        format!("/opt/a/b {rest}")
    );
    let faults: Vec<String> = [
        json!(["./other"]),
        json!(["{{ port }}"]),
        json!([]),
        json!([""]),
    ]
    .into_iter()
    .map(|value| programs(value).unwrap_err())
    .collect();
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn what_loadlab_builds_is_pinned_by_its_version_alone() {
    let mut model = study();
    set(
        &mut model,
        "/candidates/go/definition/members/main/program",
        json!({"kind": "stub", "work": "1ms", "wait": "0s", "hold": "0B", "status": 200, "body": "64B"}),
    );
    let lock = pin(&experiment(&model), Machine::default());
    assert_eq!(lock.programs[STUB].version.as_deref(), Some("1"));
    assert_eq!(
        lock.programs[STUB].sha256,
        BTreeMap::new(),
        "its bytes differ with each build"
    );
    let rebuilt = Machine {
        bytes: BTreeMap::from([(STUB, "rebuilt")]),
        ..Machine::default()
    };
    assert_eq!(
        pin_again(&experiment(&model), rebuilt, &lock, &Upgrade::None).unwrap(),
        lock
    );
}

#[test]
fn one_program_has_one_version_rule() {
    let mut model = study();
    let program = json!({"kind": "process", "command": ["php-fpm"], "version": {"command": ["php", "-v"], "pattern": "(.*)"}});
    set(
        &mut model,
        "/candidates/go/definition/members/main/program",
        program,
    );
    let faults = pinned(&model).unwrap_err();
    assert!(
        faults
            .to_string()
            .contains("program `php-fpm` has two different `version` rules"),
        "{faults}"
    );
}

#[test]
fn the_pinned_generator_is_the_one_that_is_built_in() {
    let manifest = include_str!("../../Cargo.toml");
    let line = manifest
        .lines()
        .find(|line| line.starts_with("oha = "))
        .unwrap();
    let (name, version) = loadlab::load::GENERATOR.split_once(' ').unwrap();
    assert_eq!(name, "oha");
    assert!(
        line.contains(&format!("version = \"={version}\"")),
        "{line}"
    );
}
