//! Does a difference that is not there stay unseen, and one that is there get found? `cargo bench --features
//! generator --bench known_weights` measures and prints; it asserts nothing, since it needs a quiet machine,
//! nginx and two cores.
//!
//! ```text
//! cargo bench --features generator --bench known_weights               everything, some twenty minutes
//! cargo bench --features generator --bench known_weights -- aa 5       five A/A comparisons
//! cargo bench --features generator --bench known_weights -- step 5     five of 300 with 330 us
//! cargo bench --features generator --bench known_weights -- table      what was seen so far
//! ```
//!
//! Each comparison is an experiment of its own, whose verdict is its primary one at 95 % coverage. What was
//! seen is kept beside the build, so that a long series can be made in pieces; remove the file to begin anew.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its figures"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::Value;

const MANIFEST: &str = r#"version: v1
name: pair
title: A pair of test servers
question: Do they differ?
authors: [{name: The loadlab authors}]
cores: {candidate: "1", load: "0"}
budgets: {candidate: {cores: 1}}
attempts: 4
guards: {probe_drift_at_least: 50%}
probe: {when: before, load: {kind: fixed-rate, rate: 1000/s, connections: 4, duration: 500ms}, at_least: 1/s, calibration: 3}
candidates:
  first: {title: The first, run: {kind: stub, work: 300us}}
  second: {title: The second, run: {kind: stub, work: {SECOND}}}
scenarios: {answer: {title: An answer, request: {method: GET, path: /}, expect: {status: 200}}}
phases: {steady: {load: {kind: fixed-rate, rates: {answer: 1500/s}, connections: 4, warmup: 200ms, quiet: 0s, duration: 1s}, repetitions: 4, estimate: {achieved: median, cpu_per_request: median}}}
order: {rule: random, seed: {SEED}}
coverage: 95%
primary: {metric: cpu_per_request, phase: steady, compare: second, against: first}
"#;

/// What one comparison came to.
#[derive(Serialize, Deserialize)]
struct Seen {
    series: Series,
    verdict: Option<String>,
    ratio: Option<String>,
    interval: Option<(String, String)>,
    because: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Series {
    /// Two of the same.
    Same,
    /// 300 and 330 us.
    Step,
}

impl Series {
    const fn second(self) -> &'static str {
        match self {
            Self::Same => "300us",
            Self::Step => "330us",
        }
    }

    /// How many the whole benchmark makes.
    const fn comparisons(self) -> u64 {
        match self {
            Self::Same => 40,
            Self::Step => 10,
        }
    }
}

fn loadlab(folder: &Path, words: &[&str]) -> Option<i32> {
    let output = Command::new(env!("CARGO_BIN_EXE_loadlab"))
        .args(words)
        .current_dir(folder)
        .output();
    output.ok()?.status.code()
}

/// The summary of the only draft.
fn summary(folder: &Path) -> Option<Value> {
    let draft = std::fs::read_dir(folder.join("runs/pair")).ok()?.next()?;
    let draft = draft.ok()?.path();
    loadlab(folder, &["report", draft.to_str()?])?;
    let bytes = std::fs::read(draft.join("summary.json")).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Measures one pair; absent: a program is missing.
fn compare(series: Series, seed: u64) -> Option<Seen> {
    let folder = tempfile::tempdir().ok()?;
    let manifest = MANIFEST
        .replace("{SECOND}", series.second())
        .replace("{SEED}", &seed.to_string());
    std::fs::write(folder.path().join("experiment.yaml"), manifest).ok()?;
    (loadlab(folder.path(), &["lock", "experiment.yaml"])? == 0).then_some(())?;
    loadlab(folder.path(), &["run", "experiment.yaml"])?;
    let summary = summary(folder.path())?;
    let comparison = summary["comparisons"].get(0)?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let interval = &comparison["interval"];
    Some(Seen {
        series,
        verdict: text(&comparison["verdict"]),
        ratio: text(&comparison["ratio"]),
        interval: text(&interval["low"]).zip(text(&interval["high"])),
        because: text(&comparison["because"]),
    })
}

fn place() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("known-weights.jsonl")
}

fn seen_so_far() -> Vec<Seen> {
    let text = std::fs::read_to_string(place()).unwrap_or_default();
    let lines = text.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn keep(seen: &Seen) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.create(true).append(true).open(place())?;
    writeln!(file, "{}", serde_json::to_string(seen)?)
}

fn series(series: Series, count: u64) -> Option<()> {
    for _ in 0..count {
        let seed = u64::try_from(seen_so_far().len()).ok()? + 1;
        let seen = compare(series, seed)?;
        println!("{}", line(&seen));
        keep(&seen).ok()?;
    }
    Some(())
}

fn line(seen: &Seen) -> String {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let ends = seen.interval.as_ref();
    let interval = ends.map_or_else(String::new, |(low, high)| format!(" [{low}, {high}]"));
    let verdict = or_dash(&seen.verdict);
    let because = seen.because.as_deref().unwrap_or_default();
    let second = seen.series.second();
    format!(
        "300us against {second}: {verdict}, ratio {}{interval} {because}",
        or_dash(&seen.ratio)
    )
}

fn table() {
    let seen = seen_so_far();
    let count = |wanted: Series, verdicts: &[&str]| {
        let of_it = seen.iter().filter(|seen| seen.series == wanted);
        of_it
            .filter(|seen| {
                let verdict = seen.verdict.as_deref().unwrap_or("none");
                verdicts.is_empty() || verdicts.contains(&verdict)
            })
            .count()
    };
    let same = count(Series::Same, &[]);
    let different = count(Series::Same, &["higher", "lower"]);
    let unjudged = count(Series::Same, &["none"]);
    println!(
        "A/A: {different} of {same} say different, {unjudged} have no verdict (at most 5 of 40)"
    );
    let step = count(Series::Step, &[]);
    let found = count(Series::Step, &["higher"]);
    let wrong = count(Series::Step, &["lower"]);
    println!(
        "300 against 330 us: {found} of {step} found, {wrong} the wrong way round (at least 9 of 10)"
    );
}

fn main() {
    let words: Vec<String> = std::env::args().filter(|word| word != "--bench").collect();
    let count = words.get(2).and_then(|word| word.parse().ok());
    let measured = match words.get(1).map(String::as_str) {
        Some("table") => Some(()),
        Some("aa") => series(Series::Same, count.unwrap_or(1)),
        Some("step") => series(Series::Step, count.unwrap_or(1)),
        _ => [Series::Same, Series::Step]
            .into_iter()
            .try_for_each(|it| series(it, it.comparisons())),
    };
    if measured.is_none() {
        println!("not measured: needs loadlab-oha, nginx and two cores");
    }
    table();
}
