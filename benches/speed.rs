//! Speed and size: `cargo bench --bench speed`. Prints a table; asserts nothing, since it needs a quiet machine.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its figures"
)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use loadlab::record::sample::Sample;

fn row(what: &str, seen: &str, bound: &str) {
    println!("{what:<58} {seen:>22}   {bound}");
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// The smallest of several times: what the machine can do when it is left alone.
fn fastest(times: usize, mut work: impl FnMut()) -> Duration {
    (0..times)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// A line of `/proc/self/status`, in MiB.
fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|line| line.trim_start_matches(':').trim().split(' ').next());
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Makes the peak begin again at what is resident now.
fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn estimate_and_render(rounds: u32) {
    let sample = Sample {
        rounds,
        rates: (1..=10).map(|step| step * 1000).collect(),
        ..Sample::default()
    };
    let (experiment, plan, records) = (sample.experiment(), sample.plan(), sample.records());
    let measurements = plan.totals.measurements;
    reset_peak();
    let resident = status("VmRSS");
    let begun = Instant::now();
    let summary = loadlab::estimate::estimate(&records, &experiment, &plan, &[]);
    let estimated = begun.elapsed();
    let sessions = records.sessions();
    let host = sample.inputs().host;
    let context = loadlab::report::Context {
        experiment: &experiment,
        opened: records.opened().expect("a sample was opened"),
        sessions: &sessions,
        host: &host,
        lock: None,
        prose: None,
        files: &[],
        published: false,
    };
    let files = loadlab::report::render(&summary, &context, &loadlab::report::Templates::default());
    let rendered = begun.elapsed();
    let bytes: usize = files.map_or(0, |files| files.values().map(Vec::len).sum());
    let grown = status("VmHWM").saturating_sub(resident);
    row(
        &format!("estimate {measurements} measurements"),
        &milliseconds(estimated),
        "",
    );
    row(
        &format!("estimate and render {measurements} measurements ({bytes} bytes)"),
        &format!("{}, {grown} MiB", milliseconds(rendered)),
        "under 1 s and 300 MB for 100,000",
    );
}

/// A manifest of so many lines: candidates of five lines each.
fn long_manifest(lines: usize) -> String {
    let mut text = String::from(concat!(
        "version: v1\nname: long\ntitle: Long\nquestion: How long does it take to check me?\n",
        "authors: [{name: The loadlab authors}]\ncores: {candidate: \"0\", load: \"1\"}\n",
        "budgets: {candidate: {cores: 1}}\n",
        "probe: {load: {kind: fixed-rate, rate: 1000/s, connections: 8, duration: 1s}, at_least: 900/s}\n",
        "scenarios: {page: {title: A page, request: {method: GET, path: /}, expect: {status: 200}}}\n",
        "phases: {steady: {load: {kind: fixed-rate, rates: {page: 1000/s}, connections: 8, duration: 4s}, repetitions: 4, estimate: median}}\n",
        "candidates:\n",
    ));
    for number in 0..lines.saturating_sub(12) / 5 {
        text += &format!(
            "  c{number}:\n    title: Candidate {number}\n    run:\n      kind: stub\n      work: 100us\n"
        );
    }
    text
}

fn validate(loadlab: &Path) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("experiment.yaml");
    let text = long_manifest(10_000);
    let lines = text.lines().count();
    std::fs::write(&file, text).expect("a temporary file can be written");
    let mut status = None;
    let time = fastest(5, || {
        let run = Command::new(loadlab)
            .arg("validate")
            .arg(&file)
            .stdout(Stdio::null())
            .status();
        status = run.ok().and_then(|status| status.code());
    });
    let what = format!("validate a manifest of {lines} lines (exit {status:?})");
    row(&what, &milliseconds(time), "under 100 ms");
}

fn start(loadlab: &Path) {
    let time = fastest(20, || {
        let _ = Command::new(loadlab)
            .arg("--version")
            .stdout(Stdio::null())
            .status();
    });
    row(
        "start of the binary (--version)",
        &milliseconds(time),
        "under 20 ms",
    );
}

fn hashing() {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    let block = vec![0x5a_u8; 1 << 20];
    for _ in 0..256 {
        file.write_all(&block)
            .expect("a temporary file can be written");
    }
    let ours = fastest(3, || {
        loadlab::lock::resolve::digest_of_file(file.path()).expect("the file can be read");
    });
    let theirs = fastest(3, || {
        let _ = Command::new("sha256sum")
            .arg(file.path())
            .stdout(Stdio::null())
            .status();
    });
    let rate = |time: Duration| 256.0 / time.as_secs_f64();
    row(
        "hash 256 MiB: loadlab against sha256sum",
        &format!("{:.0} / {:.0} MiB/s", rate(ours), rate(theirs)),
        "sha256sum's rate or better",
    );
}

fn main() {
    let loadlab = Path::new(env!("CARGO_BIN_EXE_loadlab"));
    row("what", "seen", "bound");
    start(loadlab);
    validate(loadlab);
    hashing();
    for rounds in [500, 5_000] {
        estimate_and_render(rounds);
    }
}
