//! What measuring itself costs: `cargo bench --features generator --bench windows`. Runs one real block and
//! prints a table; asserts nothing, since it needs a quiet machine, nginx and two cores.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its figures"
)]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const MANIFEST: &str = r#"version: v1
name: windows
title: What measuring costs
question: What does loadlab itself use while it measures?
authors: [{name: The loadlab authors}]
cores: {candidate: "0", load: "1"}
budgets: {candidate: {cores: 1}}
attempts: 1
probe: {when: before, load: {kind: fixed-rate, rate: 500/s, connections: 4, duration: 1s}, at_least: 1/s, calibration: 3}
candidates: {only: {title: A test server, run: {kind: stub, work: 100us}}}
scenarios: {answer: {title: An answer, request: {method: GET, path: /}, expect: {status: 200}}}
phases: {steady: {load: {kind: fixed-rate, rates: {answer: 1000/s}, connections: 4, warmup: 0s, quiet: 0s, duration: 10s}, repetitions: 1, estimate: {achieved: median}}}
"#;

fn row(what: &str, seen: &str, bound: &str) {
    println!("{what:<58} {seen:>22}   {bound}");
}

/// Runs `loadlab`; under `strace` where a file for its calls is named.
fn loadlab(folder: &Path, words: &[&str], calls: Option<&Path>) -> Option<i32> {
    let program = env!("CARGO_BIN_EXE_loadlab");
    let mut command = match calls {
        None => Command::new(program),
        Some(calls) => {
            let mut strace = Command::new("strace");
            strace.args(["-f", "-ttt", "-e", "trace=fsync,fdatasync,syncfs,sync"]);
            strace.arg("-o").arg(calls).arg(program);
            strace
        }
    };
    let output = command.args(words).current_dir(folder).output().ok()?;
    output.status.code()
}

/// The only draft, with its records.
fn draft(folder: &Path) -> Option<(std::path::PathBuf, Vec<Value>)> {
    let draft = std::fs::read_dir(folder.join("runs/windows"))
        .ok()?
        .next()?;
    let draft = draft.ok()?.path();
    let text = std::fs::read_to_string(draft.join("records.jsonl")).ok()?;
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    Some((draft, lines.ok()?))
}

/// When the first line of this kind was written, seconds since 1970.
fn written(records: &[Value], kind: &str) -> Option<f64> {
    let line = records
        .iter()
        .find(|line| line["event"].get(kind).is_some());
    Some(line?["realtime_ns"].as_f64()? / 1e9)
}

fn measured<'a>(records: &'a [Value], pointer: &str) -> Option<&'a Value> {
    let mut found = records.iter();
    found.find_map(|line| line["event"].get("measured")?.pointer(pointer))
}

/// Seconds from the probe to the end of the block, without the time between the edges of its window.
fn block_without_load(records: &[Value]) -> Option<f64> {
    let at = |edge: &str| measured(records, &format!("/{edge}/host/monotonic_ns"))?.as_f64();
    let window = (at("after")? - at("before")?) / 1e9;
    Some(written(records, "block_finished")? - written(records, "probed")? - window)
}

/// The calls for the disk between the edges of the window, each with its process and time. `strace`
/// writes the signals and the ends of processes between them: a generator's threads end in a window.
fn syncs_in_window(records: &[Value], calls: &Path) -> Option<Vec<String>> {
    let at = |edge: &str| measured(records, &format!("/{edge}/host/realtime_ns"))?.as_f64();
    let (from, to) = (at("before")? / 1e9, at("after")? / 1e9);
    let text = std::fs::read_to_string(calls).ok()?;
    let within = text.lines().filter(|line| {
        let mut words = line.split_whitespace().skip(1);
        let time = words.next().and_then(|time| time.parse().ok());
        let is_call = words
            .next()
            .is_some_and(|word| word.starts_with(|first: char| first.is_ascii_lowercase()));
        is_call && time.is_some_and(|time: f64| (from..=to).contains(&time))
    });
    Some(within.map(str::to_owned).collect())
}

fn cost(folder: &Path) -> Option<()> {
    loadlab(folder, &["run", "experiment.yaml"], None)?;
    let (draft, records) = draft(folder)?;
    loadlab(folder, &["report", draft.to_str()?], None)?;
    let summary = std::fs::read(draft.join("summary.json")).ok()?;
    let summary: Value = serde_json::from_slice(&summary).ok()?;
    let own: f64 = summary["time"]["own_cores"].as_str()?.parse().ok()?;
    row(
        "loadlab itself in a window",
        &format!("{:.2} % of a core", own * 100.0),
        "under 1 %",
    );
    let block = format!("{:.3} s", block_without_load(&records)?);
    row(
        "a process block without its window and probe",
        &block,
        "under 0.5 s",
    );
    let time = |name: &str| summary["time"][name].as_f64();
    let share = time("load_ms")? / time("wall_ms")? * 100.0;
    row(
        "load of the wall time, one block of 10 s",
        &format!("{share:.0} %"),
        "",
    );
    Some(())
}

fn syncs(folder: &Path) -> Option<()> {
    std::fs::remove_dir_all(folder.join("runs")).ok()?;
    let calls = folder.join("calls.txt");
    loadlab(folder, &["run", "experiment.yaml"], Some(&calls))?;
    let (_, records) = draft(folder)?;
    let seen = syncs_in_window(&records, &calls)?;
    row(
        "fsync and the like in a window",
        &seen.len().to_string(),
        "0",
    );
    for call in seen {
        println!("    {call}");
    }
    Some(())
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("experiment.yaml"), MANIFEST)
        .expect("a temporary file can be written");
    row("what", "seen", "bound");
    loadlab(folder.path(), &["lock", "experiment.yaml"], None);
    if cost(folder.path()).is_none() {
        row(
            "the cost of a window",
            "not measured",
            "needs loadlab-oha, nginx, two cores",
        );
    }
    if syncs(folder.path()).is_none() {
        row(
            "fsync and the like in a window",
            "not measured",
            "needs strace as well",
        );
    }
}
