//! `pilot` measures the standards alone, for real, into a draft that is never published; and a run with
//! standards is a whole experiment to `publish`.
//! Skipped, with the reason, where the load generator was not built.

#![allow(clippy::print_stderr, reason = "a skipped test says why")]
#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

#[path = "cli/support.rs"]
#[allow(dead_code, reason = "shared with the stories of the command line")]
mod support;

use serde_json::Value;

use crate::support::{Story, Told};

const SMALL: &str = r#"version: v1
name: small
title: A small experiment
question: What does one request cost?
authors: [{name: The loadlab authors}]
budgets: {candidate: {cores: 1, memory: 256MiB}}
cores: {candidate: "0", load: "1"}
candidates:
  one: {run: {kind: stub}}
  two: {run: {kind: stub, work: 10us}}
scenarios:
  page: {request: {path: /}}
phases:
  steady:
    load: {kind: fixed-rate, rates: {page: 1000/s}, connections: 16, warmup: 300ms, duration: 1s, quiet: 200ms}
    repetitions: 2
attempts: 1
probe: {calibration: 3, load: {kind: fixed-rate, rate: 1000/s, connections: 16, duration: 500ms}, at_least: 500/s}
guards: {probe_drift_at_least: 1000%, foreign_load: 100%}
"#;

const PLANTED: &str = "standards: {differences: [\"0%\", \"50%\"], rate: 500/s, share: 90%}\n";

fn small(standards: &str) -> Story {
    Story::new().file("small/experiment.yaml", &format!("{SMALL}{standards}"))
}

/// A debug build of the generator measures itself more than anything else, and refuses.
fn has_generator() -> bool {
    let built = option_env!("CARGO_BIN_EXE_loadlab-oha").is_some() && !cfg!(debug_assertions);
    if !built {
        eprintln!("skipped: needs a release build with the feature `generator`");
    }
    built
}

#[test]
fn without_standards_there_is_nothing_to_pilot() {
    let told = small("").tell(&["pilot", "small"]);
    assert_eq!(told.code, 3, "{told:?}");
    assert!(
        told.stderr.contains("small plants no standards"),
        "{told:?}"
    );
    assert!(told.stderr.contains("standards: {differences:"), "{told:?}");
}

#[test]
fn no_number_of_rounds_shows_nothing() {
    let story = small(PLANTED);
    for (difference, says) in [("0%", "no number of rounds"), ("five", "--difference: ")] {
        let told = story.tell(&["pilot", "--difference", difference, "small"]);
        assert_eq!(told.code, 2, "{told:?}");
        assert!(told.stderr.contains(says), "{told:?}");
    }
    assert!(!story.path().join("runs").exists() && !story.path().join("small/runs").exists());
}

/// Runs a command that measures.
fn measure(story: &Story, words: &[&str]) -> Told {
    let told = story.tell(words);
    // 6: on a machine that is not quiet blocks stay invalid; it is no matter here.
    assert!([0, 6].contains(&told.code), "{told:?}");
    told
}

/// One test, since two runs would want the same CPUs.
#[test]
fn standards_alone_are_no_run_and_a_run_with_them_is_a_whole_one() {
    if !has_generator() {
        return;
    }
    let story = small(PLANTED);
    let words = "pilot small --rounds 2 --runs drafts --format json";
    let told = measure(&story, &words.split(' ').collect::<Vec<_>>());
    let found: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(found["experiment"], "small");
    let pairs = found["standards"]["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 2, "{found:#}");
    assert_eq!(found["needs"]["difference"], "5%");
    let draft = found["draft"].as_str().unwrap();
    assert!(draft.starts_with("drafts/small-pilot/"), "{draft}");
    let told = story.tell(&["publish", "--check", draft]);
    assert_eq!(told.code, 6, "{told:?}");
    assert!(told.stderr.contains("without a lock"), "{told:?}");

    let words = ["run", "--unlocked", "--runs", "drafts", "small"];
    let draft = measure(&story, &words).stdout;
    let told = story.tell(&["publish", "--check", draft.trim()]);
    assert_eq!(told.code, 6, "{told:?}");
    assert!(!told.stderr.contains("only a part"), "{told:?}");
}
