//! What makes a lock stale, and what before a run is a mismatch.

use std::collections::{BTreeMap, BTreeSet};

use loadlab::lock::{self, Upgrade};
use loadlab::model::Digest;
use loadlab::model::Experiment;
use serde_json::{Value, json};

use super::pinning::pin_again;
use crate::web_study::machine::{Machine, pin};
use crate::web_study::{experiment, set, study};

fn changed(pointer: &str, value: Value) -> Experiment {
    let mut model = study();
    set(&mut model, pointer, value);
    experiment(&model)
}

#[test]
fn a_fresh_lock_fits() {
    let experiment = experiment(&study());
    let lock = pin(&experiment, Machine::default());
    let locked = lock::check(&experiment, &lock).unwrap();
    assert_eq!(
        lock::verify_programs(&locked, &mut Machine::default()),
        (vec![], vec![])
    );
    let again = pin_again(&experiment, Machine::default(), &lock, &Upgrade::None).unwrap();
    assert_eq!(again.to_text(), lock.to_text());
}

#[test]
fn a_change_makes_stale_exactly_what_it_should() {
    let lock = pin(&experiment(&study()), Machine::default());
    let table = include_str!("../data/lock-changes.txt").lines();
    let mut changes = 0;
    for line in table.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let [pointer, value, stale] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("three columns: {line}");
        };
        let now = changed(pointer, serde_json::from_str(value).unwrap());
        assert_ne!(now, experiment(&study()), "{pointer} changes nothing");
        let mismatches = lock::check(&now, &lock).err().unwrap_or_default();
        let shown: Vec<String> = mismatches
            .iter()
            .map(|each| each.what.to_string())
            .collect();
        let expected = if stale == "-" { "" } else { stale };
        assert_eq!(shown.join(", "), expected, "{line}");
        let cosmetic = mismatches.iter().all(|each| each.what.is_cosmetic());
        assert_eq!(cosmetic, stale == "-" || stale.starts_with("template"));
        changes += 1;
    }
    assert!(changes > 35, "{changes}");
}

#[test]
fn the_order_of_candidates_and_members_means_something() {
    let lock = pin(&experiment(&study()), Machine::default());
    let mut model = study();
    let first = model["candidates"]
        .as_object_mut()
        .unwrap()
        .shift_remove("go")
        .unwrap();
    model["candidates"]["go"] = first;
    let shown = lock::check(&experiment(&model), &lock).unwrap_err();
    assert_eq!(shown[0].what, lock::Pinned::Model);
}

#[test]
fn mismatches_say_what_was_pinned_what_is_there_and_the_way_out() {
    let mut lock = pin(&experiment(&study()), Machine::default());
    lock.rules.generator = "oha 1.15.0".to_owned();
    lock.rules.protocol = 7;
    lock.files
        .insert("gone.conf".to_owned(), Digest::of(b"gone"));
    lock.programs.remove("psql");
    let spare = lock.programs["nginx"].clone();
    lock.programs.insert("old\u{1b}".to_owned(), spare);
    lock.programs.get_mut("postgres").unwrap().version = None;
    let mut model = study();
    set(&mut model, "/phases/fixed-rate/repetitions", json!(6));
    set(
        &mut model,
        "/files/-",
        json!({"path": "new.conf", "digest": Digest::of(b"new").to_string(), "bytes": 3, "executable": false}),
    );
    let mismatches = lock::check(&experiment(&model), &lock).unwrap_err();
    let shown: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_scaled_rehearsal_agrees_in_files_and_programs() {
    let lock = pin(&experiment(&study()), Machine::default());
    let mut model = study();
    set(&mut model, "/scale", json!("10%"));
    set(
        &mut model,
        "/phases/fixed-rate/load/common/duration",
        json!("6s"),
    );
    let scaled = experiment(&model);
    assert!(lock::check(&scaled, &lock).is_ok());
    let faults = lock::pin(&scaled, &mut Machine::default(), None, &Upgrade::None).unwrap_err();
    assert_eq!(
        faults.to_string(),
        "cannot pin experiment `web-study`: a profile scales it for a rehearsal, expected the experiment's own loads; \
         run `loadlab lock` without that profile"
    );
}

#[test]
fn before_a_run_another_version_is_a_mismatch() {
    let experiment = experiment(&study());
    let locked = lock::check(&experiment, &pin(&experiment, Machine::default())).unwrap();
    let mut other = Machine {
        versions: BTreeMap::from([("postgres", "2"), ("psql", "2")]),
        missing: BTreeSet::from(["php-fpm"]),
        generator: Some("oha 2.0.0"),
        ..Machine::default()
    };
    let (mismatches, caveats) = lock::verify_programs(&locked, &mut other);
    let shown: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"));
    assert_eq!(caveats, vec![]);
}
