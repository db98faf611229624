//! A repository with an experiment, and what a run left of itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const MANIFEST: &str = r#"version: v1
name: killed
title: Two test servers
question: Does anything get lost?
authors: [{name: The loadlab authors}]
licence: CC-BY-4.0
finding: {text: Nothing gets lost., confidence: low, because: It is a test.}
limits: [It is a test.]
cores: {candidate: "0", load: "1"}
budgets: {candidate: {cores: 1}}
attempts: 2
guards:
  {foreign_load: 100%, fixed_work_caveat: 100%, fixed_work_invalid: 100%, probe_drift_at_least: 100%, probe_drift_deviations: 100, steal_caveat: 100%, steal_invalid: 100%, generator_busy_invalid: 100%, clock_step: 10s, suspended: 10s, swap_pages: 1000000}
probe: {load: {kind: fixed-rate, rate: 500/s, connections: 4, duration: 500ms}, at_least: 1/s, calibration: 3}
candidates:
  one: {title: One, run: ONE}
  two: {title: Two, run: {kind: stub, work: 100us, body: 64B}}
scenarios:
  answer: {title: An answer, request: {method: GET, path: /}, expect: {status: 200}}
phases:
  steady:
    load: {kind: fixed-rate, rates: {answer: [500/s]}, connections: 4, warmup: 0s, quiet: 0s, duration: 1s}
    repetitions: 2
    estimate: {achieved: median, cpu_per_request: median}
"#;
pub const STUB: &str = "{kind: stub, work: 100us, body: 64B}";

/// A repository with an experiment that is locked and committed.
pub struct Place {
    folder: tempfile::TempDir,
    generator: PathBuf,
}

impl Place {
    pub fn new(one: &str) -> Result<Self, String> {
        let generator = crate::programs::needed()?;
        let folder = tempfile::tempdir().unwrap();
        let manifest = MANIFEST.replace("ONE", one);
        fs::write(folder.path().join("experiment.yaml"), manifest).unwrap();
        fs::write(folder.path().join(".gitignore"), "runs/\n").unwrap();
        let place = Self { folder, generator };
        let locked = place.tell(&["lock", "experiment.yaml"]);
        assert!(locked.status.success(), "{locked:?}");
        for words in [
            &["init", "-q"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "-qm",
                "a",
            ],
            &["remote", "add", "origin", "https://example.org/a.git"],
        ] {
            let git = Command::new("git")
                .args(words)
                .current_dir(place.path())
                .status();
            if !git.is_ok_and(|status| status.success()) {
                return Err("git is not installed".to_owned());
            }
        }
        Ok(place)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loadlab"));
        command
            .args(words)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    pub fn tell(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub fn run_words<'a>(&'a self, draft: Option<&'a str>) -> Vec<&'a str> {
        let mut words = vec!["run"];
        words.extend(draft.map_or(vec!["experiment.yaml"], |draft| vec!["--resume", draft]));
        words.extend(["--generator", self.generator.to_str().unwrap()]);
        words
    }

    /// Starts loadlab and kills it after this long; false: it had ended by itself.
    pub fn kill(&self, words: &[&str], after: Duration) -> bool {
        let mut child = self
            .command(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        ends_within(&mut child, after).is_none() && {
            child.kill().unwrap();
            child.wait().unwrap();
            true
        }
    }

    /// The drafts that have a first record.
    pub fn drafts(&self) -> Vec<PathBuf> {
        let found = fs::read_dir(self.path().join("runs/killed"))
            .into_iter()
            .flatten();
        let mut drafts: Vec<PathBuf> = found.map(|draft| draft.unwrap().path()).collect();
        drafts.retain(|draft| !records(draft).is_empty());
        drafts.sort();
        drafts
    }
}

/// The exit of a child that ends by itself in time.
pub fn ends_within(child: &mut Child, limit: Duration) -> Option<std::process::ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return Some(status),
            None if Instant::now() >= deadline => return None,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

pub fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

pub fn records(draft: &Path) -> Vec<u8> {
    fs::read(draft.join("records.jsonl")).unwrap_or_default()
}

/// The bytes up to the end of the last finished block.
pub fn finished(records: &[u8]) -> Vec<u8> {
    let mut end = 0;
    let mut at = 0;
    for line in records.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        let is_end = line.windows(16).any(|part| part == b"\"block_finished\"");
        if line.ends_with(b"\n") && is_end {
            end = at;
        }
    }
    records[..end].to_vec()
}

/// What a draft left on this machine: processes in its groups, its control groups, its work folder.
pub fn left(entry: &str) -> Vec<String> {
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let groups = fs::read_to_string(process.path().join("cgroup")).unwrap_or_default();
        let works = fs::read_link(process.path().join("cwd")).unwrap_or_default();
        if groups.contains(&format!("/{entry}/")) || works.to_string_lossy().contains(entry) {
            found.push(format!("process {:?}", process.file_name()));
        }
    }
    let user = rustix::process::geteuid().as_raw();
    let work = std::env::temp_dir().join(format!("loadlab-{user}/{entry}"));
    found.extend(work.exists().then(|| work.display().to_string()));
    found.extend(named(Path::new("/sys/fs/cgroup"), entry, 5));
    found
}

pub fn named(folder: &Path, name: &str, depth: u32) -> Vec<String> {
    let below = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = below.filter(|found| found.file_type().is_ok_and(|kind| kind.is_dir()));
    let found = below.flat_map(|found| match (found.file_name() == name, depth) {
        (true, _) => vec![found.path().display().to_string()],
        (false, 0) => Vec::new(),
        (false, _) => named(&found.path(), name, depth - 1),
    });
    found.collect()
}
