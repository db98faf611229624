//! Speed and size: `cargo bench --bench speed`. Prints a table; asserts nothing, since it needs a quiet machine.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its figures"
)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use loadlab::model::Digest;
use loadlab::record::event::RawFile;
use loadlab::record::sample::Sample;
use loadlab::record::{Event, Journal, JournalError, Line};

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

/// A published entry's records in a file: so many rounds at ten rates for two candidates.
fn sample(rounds: u32) -> Sample {
    Sample {
        rounds,
        rates: (1..=10).map(|step| step * 1000).collect(),
        ..Sample::default()
    }
}

/// A journal that writes lines into a file and keeps none.
struct Lines {
    file: std::io::BufWriter<std::fs::File>,
    sequence: u64,
    previous: Digest,
}

impl Journal for Lines {
    fn append(&mut self, event: Event) -> Result<(), JournalError> {
        let line = Line {
            sequence: self.sequence,
            previous: self.previous,
            realtime_ns: 1_795_996_800_000_000_000 + self.sequence * 1_000_000_000,
            event,
        };
        let mut bytes = serde_json::to_vec(&line).expect("an event has a JSON form");
        self.previous = Digest::of(&bytes);
        self.sequence += 1;
        bytes.push(b'\n');
        self.file.write_all(&bytes).expect("the disk takes it");
        Ok(())
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    fn store_raw(&mut self, name: &str, bytes: &[u8]) -> Result<RawFile, JournalError> {
        Ok(RawFile {
            file: format!("raw/{name}"),
            digest: Digest::of(bytes),
            bytes: bytes.len() as u64,
        })
    }

    fn logs(&self, name: &str) -> std::path::PathBuf {
        Path::new("/logs").join(name)
    }
}

fn write_records(rounds: u32, to: &Path) {
    let sample = sample(rounds);
    let file = std::fs::File::create(to).expect("a file can be made");
    let mut lines = Lines {
        file: std::io::BufWriter::new(file),
        sequence: 0,
        previous: Digest::of(b""),
    };
    let opened = Event::Opened(Box::new(sample.opening()));
    let first = Line {
        sequence: 0,
        previous: Digest::of(b""),
        realtime_ns: 0,
        event: opened.clone(),
    };
    lines.append(opened).expect("a journal takes everything");
    let opened = loadlab::record::Records::new(vec![first]);
    let driven = sample.drive(&mut lines, &opened, None);
    driven.expect("a sample fits its own plan");
    lines.file.flush().expect("the disk takes it");
}

/// Reads records line by line, estimates, renders and writes; in a process of its own, so that its peak
/// of memory is its own.
fn estimate_and_render(rounds: u32, records: &Path) {
    let sample = sample(rounds);
    let (experiment, plan) = (sample.experiment(), sample.plan());
    let before = status("VmHWM");
    let file = std::fs::File::open(records).expect("the records were written");
    let mut lines = loadlab::record::Lines::new(file, records);
    let mut reading = loadlab::estimate::Reading::new(&experiment, &plan);
    let (mut opened, mut sessions) = (None, Vec::new());
    let (begun, mut kept) = (Instant::now(), Duration::ZERO);
    while let Some(line) = lines.advance().expect("the records are whole") {
        match &line.event {
            Event::Opened(first) => opened = Some(first.clone()),
            Event::Session(session) => sessions.push(session.clone()),
            _ => {}
        }
        let taken = Instant::now();
        reading.take(line.realtime_ns, line.event);
        kept += taken.elapsed();
    }
    let read = begun.elapsed().saturating_sub(kept);
    let begun = Instant::now();
    let readings = reading.finish();
    let summary = loadlab::estimate::summarise(&readings, &experiment, &plan, &[]);
    drop(readings);
    let estimated = begun.elapsed() + kept;
    let host = sample.inputs().host;
    let context = loadlab::report::Context {
        experiment: &experiment,
        opened: &opened.expect("the records begin with their opening"),
        sessions: &sessions.iter().map(Box::as_ref).collect::<Vec<_>>(),
        host: &host,
        lock: None,
        prose: None,
        files: &[],
        published: false,
    };
    let begun = Instant::now();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let templates = loadlab::report::Templates::default();
    let files = loadlab::report::render(&Arc::new(summary), &context, &templates);
    let written = files.expect("a sample renders").each(|path, content| {
        let path = folder.path().join(path.replace('/', "-"));
        let mut file = std::fs::File::create(path)?;
        content.write_to(&mut file)?;
        Ok::<u64, std::io::Error>(file.metadata()?.len())
    });
    let rendered = begun.elapsed();
    let bytes: u64 = written.expect("the disk takes it").values().sum();
    let length = std::fs::metadata(records).map_or(0, |it| it.len());
    let what = |what: &str| format!("{} measurements: {what}", plan.totals.measurements);
    let with = |time, bytes: u64| format!("{}, {} MiB", milliseconds(time), bytes >> 20);
    row(&what("read and check"), &with(read, length), "");
    row(&what("estimate"), &milliseconds(estimated), "");
    row(&what("render and write"), &with(rendered, bytes), "");
    let peak = format!(
        "{}, {} MiB",
        milliseconds(estimated + rendered),
        status("VmHWM")
    );
    let bound = format!("under 1 s and 300 MB for 100,000 ({before} MiB before)");
    row(&what("estimate and render"), &peak, &bound);
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
            .stderr(Stdio::null())
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
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, part, rounds, records] = arguments.as_slice()
        && part == "estimate"
    {
        let rounds = rounds.parse().expect("a number of rounds");
        return estimate_and_render(rounds, records.as_ref());
    }
    let loadlab = Path::new(env!("CARGO_BIN_EXE_loadlab"));
    row("what", "seen", "bound");
    start(loadlab);
    validate(loadlab);
    hashing();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let records = folder.path().join("records.jsonl");
    for rounds in [50, 500, 5_000] {
        write_records(rounds, &records);
        let own = std::env::current_exe().expect("a benchmark knows its program");
        let run = Command::new(own)
            .arg("estimate")
            .arg(rounds.to_string())
            .arg(&records)
            .status();
        assert!(run.is_ok_and(|status| status.success()), "{rounds} rounds");
    }
}
