//! The known weights through the whole pipeline, by `loadlab selftest` as it is built. What needs no quiet
//! machine must be right; what does is right in `cargo bench --features generator --bench known_weights`.
//! Skipped, with the reason, where a program is missing.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and a skipped one says why"
)]

#[path = "programs/mod.rs"]
mod programs;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

fn selftest(words: &[&str]) -> Result<Command, String> {
    let loadlab = Path::new(env!("CARGO_BIN_EXE_loadlab"));
    let generator = programs::needed()?;
    let mut command = Command::new(loadlab);
    command.arg("selftest").args(words);
    command.arg("--generator").arg(generator);
    Ok(command)
}

/// Only one of them can hold the cores.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn row<'a>(table: &'a Value, name: &str) -> &'a Value {
    let mut rows = table["rows"].as_array().unwrap().iter();
    let row = rows.find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("no {name} in {table}"))
}

/// Right, or refused for a reason that the machine gave.
fn right(table: &Value, name: &str) {
    let row = row(table, name);
    let judgement = row["judgement"].as_str().unwrap();
    eprintln!(
        "{name}: {judgement}, seen {} {}",
        row["seen"], row["because"]
    );
    let refused = judgement == "cannot_tell" && row["because"].is_string();
    assert!(judgement == "ok" || refused, "{row}");
}

fn exit_code_says_what_the_table_says(output: &Output, table: &Value) {
    let expected = if table["not_ok"] == 0 { 0 } else { 6 };
    assert_eq!(output.status.code(), Some(expected), "{output:?}");
}

#[test]
fn what_needs_no_quiet_machine_is_read_rightly_everywhere() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let words = ["--format", "json", "--keep", kept.to_str().unwrap()];
    let output = match selftest(&words) {
        Ok(mut command) => command.output().unwrap(),
        Err(because) => return eprintln!("skipped: {because}"),
    };
    let table: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    for name in ["count", "accounting", "memory", "stall", "halt"] {
        right(&table, name);
    }
    exit_code_says_what_the_table_says(&output, &table);
    // What was kept is a draft like any other.
    let drafts = std::fs::read_dir(kept.join("runs/selftest")).unwrap();
    let drafts: Vec<PathBuf> = drafts.map(|draft| draft.unwrap().path()).collect();
    let report = Command::new(env!("CARGO_BIN_EXE_loadlab"))
        .arg("report")
        .args(&drafts)
        .output()
        .unwrap();
    assert!(report.status.success(), "{report:?}");
}

#[test]
fn an_interrupted_selftest_leaves_nothing_behind() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let mut command = match selftest(&[]) {
        Ok(command) => command,
        Err(because) => return eprintln!("skipped: {because}"),
    };
    let mut child = command
        .env("TMPDIR", folder.path())
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let begun = lines.any(|line| line.is_ok_and(|line| line.starts_with("measuring: ")));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let said: Vec<String> = lines.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert!(begun, "{said:?}");
    assert_eq!(output.status.code(), Some(130), "{said:?}");
    assert_eq!(
        said.last().unwrap(),
        "error: interrupted: nothing is kept of it"
    );
    assert_eq!(output.stdout, b"");
    let left = std::fs::read_dir(folder.path()).unwrap();
    let left: Vec<_> = left
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().contains("selftest"))
        .collect();
    assert_eq!(left, Vec::<std::ffi::OsString>::new());
}
