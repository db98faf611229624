//! The first proof of the whole chain: what loadlab says of its own test server against that server's own
//! account, and every number of `summary.json` against the arithmetic of METHODOLOGY.md done again, here,
//! from the raw output of the generator and the counters in the records.
//!
//! The manifest is locked, run and reported by the programs as they are built; nothing of the library is
//! called. Only ratios and identities are asserted, so that no quiet machine is needed. Skipped, with the
//! reason, where a program is missing.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and a skipped one says why"
)]

#[path = "programs/mod.rs"]
mod programs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const MANIFEST: &str = r#"version: v1
name: first-proof
title: The test server's own account
question: Do count and CPU time of the group equal what the test server says of itself?
authors: [{name: The loadlab authors}]
cores: {candidate: "0", load: "1"}
budgets: {candidate: {cores: 1}}
attempts: 1
guards: # of accounting alone: other work on the machine is no fault of the arithmetic
  {foreign_load: 100%, fixed_work_caveat: 100%, fixed_work_invalid: 100%, probe_drift_at_least: 100%, probe_drift_deviations: 100, steal_caveat: 100%, steal_invalid: 100%, generator_busy_caveat: 100%, generator_busy_invalid: 100%, generator_late: 100%, clock_step: 10s, suspended: 10s, swap_pages: 1000000}
probe: {load: {kind: fixed-rate, rate: 500/s, connections: 4, duration: 1s}, at_least: 1/s, calibration: 3}
defaults:
  candidate:
    run: {kind: stub, work: 300us, body: 64B}
candidates:
  counted:
    title: Its count is the witness
    witness: {kind: counter, path: /__stub/count, pattern: '"answered":(\d+)'}
  timed:
    title: Its CPU time is the witness
    witness: {kind: counter, path: /__stub/count, pattern: '"cpu_ns":(\d+)'}
scenarios:
  answer: {title: An answer, request: {method: GET, path: /}, expect: {status: 200}}
phases:
  steady:
    load: {kind: fixed-rate, rates: {answer: [1000/s, 1500/s]}, connections: 4, warmup: 0s, quiet: 0s, duration: 2s}
    repetitions: 2
    estimate: {achieved: median, cpu_per_request: median, cores_used: median, bytes_per_answer: median, memory_peak: max, p50: median, p99: median}
"#;

fn loadlab(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loadlab"))
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The draft of the run, or why there is none.
fn draft(folder: &Path) -> Result<PathBuf, String> {
    let generator = programs::needed()?;
    std::fs::write(folder.join("experiment.yaml"), MANIFEST).unwrap();
    let locked = loadlab(folder, &["lock", "experiment.yaml"]);
    assert!(locked.status.success(), "{locked:?}");
    let generator = generator.to_str().unwrap();
    let run = loadlab(
        folder,
        &["run", "experiment.yaml", "--generator", generator],
    );
    // 6: blocks that stayed invalid. `timed` always is, since a CPU time is no count of answers.
    assert_eq!(run.status.code(), Some(6), "{run:?}");
    let drafts = std::fs::read_dir(folder.join("runs/first-proof")).unwrap();
    let drafts: Vec<PathBuf> = drafts.map(|draft| draft.unwrap().path()).collect();
    let [draft] = drafts.as_slice() else {
        panic!("one draft: {drafts:?}")
    };
    let report = loadlab(folder, &["report", draft.to_str().unwrap()]);
    assert!(report.status.success(), "{report:?}");
    Ok(draft.clone())
}

fn integer(value: &Value, pointer: &str) -> u64 {
    let found = value.pointer(pointer);
    let found = found.unwrap_or_else(|| panic!("no {pointer} in {value}"));
    found
        .as_u64()
        .unwrap_or_else(|| panic!("{pointer} is {found}"))
}

#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn ratio(part: u64, all: u64) -> f64 {
    part as f64 / all as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// Every measurement of a candidate.
fn measured(records: &[Value], candidate: &str) -> Vec<Value> {
    let measured = records
        .iter()
        .filter_map(|line| line.pointer("/event/measured"));
    let of = |it: &&Value| it.pointer("/attempt/block/candidate").unwrap() == candidate;
    measured.filter(of).cloned().collect()
}

/// CPU time of the candidate's group between the edges of the counter window.
fn group_cpu_ns(measured: &Value) -> u64 {
    let at = |edge: &str| {
        integer(
            measured,
            &format!("/{edge}/roles/candidate/cpu/value/cpu_ns"),
        )
    };
    at("after") - at("before")
}

/// What the test server's own account grew by, loadlab's own reading of it taken off.
fn own_account(measured: &Value) -> u64 {
    let part = |name: &str| integer(measured, &format!("/witness/value/{name}"));
    part("after") - part("before") - part("own")
}

/// The generator's own result of a measurement.
fn raw(draft: &Path, measured: &Value) -> Value {
    let files = measured["raw"].as_array().unwrap();
    let files = files.iter().map(|file| file["file"].as_str().unwrap());
    let result = files
        .filter(|file| file.ends_with(loadlab::load::oha::RESULT_FILE))
        .collect::<Vec<_>>();
    let [result] = result.as_slice() else {
        panic!("one result: {result:?}")
    };
    serde_json::from_slice(&std::fs::read(draft.join(result)).unwrap()).unwrap()
}

fn answers(raw: &Value) -> u64 {
    let statuses = raw["statusCodeDistribution"].as_object().unwrap();
    statuses.values().map(|count| count.as_u64().unwrap()).sum()
}

/// The estimates of the summary at a load point, by metric.
fn estimates<'a>(summary: &'a Value, at: &Value) -> BTreeMap<&'a str, &'a Value> {
    let estimates = summary["estimates"].as_array().unwrap().iter();
    let of =
        |it: &&Value| it["candidate"] == "counted" && it["role"] == "candidate" && it["at"] == *at;
    estimates
        .filter(of)
        .map(|it| (it["metric"].as_str().unwrap(), it))
        .collect()
}

fn number(value: &Value) -> f64 {
    let text = value
        .as_str()
        .unwrap_or_else(|| panic!("no number: {value}"));
    text.parse().unwrap()
}

/// Each value of an estimate against the same computed here, in the order of rounds.
fn same(estimate: &Value, expected: &[f64]) {
    let values = estimate["values"].as_array().unwrap();
    assert_eq!(values.len(), expected.len(), "{estimate}");
    for (value, expected) in values.iter().zip(expected) {
        if value["value"].is_null() {
            assert_eq!(value["outcome"], "not_held", "{value}");
            continue;
        }
        let found = number(&value["value"]);
        let highest = if value["at_most"].is_null() {
            found
        } else {
            number(&value["at_most"])
        };
        let slack = expected.abs() * 1e-12;
        assert!(
            (found - slack..=highest + slack).contains(expected),
            "{}: {found} to {highest}, computed here {expected}",
            estimate["metric"]
        );
    }
}

fn every_number_follows(draft: &Path, summary: &Value, measured: &[Value]) {
    let mut by_point: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for it in measured {
        by_point
            .entry(it["id"]["at"].to_string())
            .or_default()
            .push(it);
    }
    assert_eq!(by_point.len(), 2, "{by_point:?}");
    for group in by_point.values_mut() {
        group.sort_by_key(|it| integer(it, "/attempt/block/round"));
        let found = estimates(summary, &group[0]["id"]["at"]);
        let each = |of: &dyn Fn(&Value, &Value) -> f64| -> Vec<f64> {
            group.iter().map(|it| of(it, &raw(draft, it))).collect()
        };
        same(
            found["cpu_per_request"],
            &each(&|it, raw| ratio(group_cpu_ns(it), answers(raw))),
        );
        same(
            found["bytes_per_answer"],
            &each(&|_, raw| ratio(integer(raw, "/summary/totalData"), answers(raw))),
        );
        same(
            found["cores_used"],
            &each(&|it, _| {
                let at = |edge: &str| integer(it, &format!("/{edge}/roles/candidate/monotonic_ns"));
                ratio(group_cpu_ns(it), at("after") - at("before"))
            }),
        );
        same(
            found["p50"],
            &each(&|_, raw| raw["latencyPercentiles"]["p50"].as_f64().unwrap() * 1e9),
        );
        for (value, it) in found["achieved"]["values"]
            .as_array()
            .unwrap()
            .iter()
            .zip(group.iter())
        {
            let most = ratio(answers(&raw(draft, it)), integer(it, "/window_ns")) * 1e9;
            let highest = if value["at_most"].is_null() {
                &value["value"]
            } else {
                &value["at_most"]
            };
            assert!(number(highest) <= most + 1e-9, "{value} of {most}");
            assert!(number(&value["value"]) > most * 0.9, "{value} of {most}");
        }
        let middle = number(&found["cpu_per_request"]["value"]);
        let expected = median(each(&|it, raw| ratio(group_cpu_ns(it), answers(raw))));
        assert!(
            (middle / expected - 1.0).abs() < 1e-12,
            "{middle} {expected}"
        );
        assert!(middle >= 300_000.0, "a request burns 300 us: {middle} ns");
    }
}

#[test]
fn loadlab_says_of_its_test_server_what_that_says_of_itself() {
    let folder = tempfile::tempdir().unwrap();
    let draft = match draft(folder.path()) {
        Ok(draft) => draft,
        Err(because) => return eprintln!("skipped: {because}"),
    };
    let records = std::fs::read_to_string(draft.join("records.jsonl")).unwrap();
    let records: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let summary = std::fs::read(draft.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();

    let counted = measured(&records, "counted");
    assert_eq!(counted.len(), 4, "{counted:?}");
    for it in &counted {
        assert_eq!(
            own_account(it),
            answers(&raw(&draft, it)),
            "answers, {}",
            it["id"]
        );
        assert_eq!(
            own_account(it),
            integer(it, "/account/value/answered/observed")
        );
    }
    every_number_follows(&draft, &summary, &counted);

    let timed = measured(&records, "timed");
    assert_eq!(timed.len(), 4, "{timed:?}");
    let shares: Vec<f64> = timed
        .iter()
        .map(|it| ratio(group_cpu_ns(it), own_account(it)))
        .collect();
    let middle = median(shares.clone());
    eprintln!("the group's CPU time over the server's own: {middle} of {shares:?}");
    assert!((0.99..=1.01).contains(&middle), "{middle} of {shares:?}");
    let exclusions = summary["exclusions"].as_array().unwrap();
    let caught = |it: &&Value| {
        it["code"] == "accounting_mismatch"
            && it.pointer("/attempt/block/candidate").unwrap() == "timed"
    };
    assert!(
        exclusions.iter().filter(caught).count() >= 2,
        "{exclusions:?}"
    );
}
