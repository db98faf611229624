//! Every command of the README, executed as printed, its output checked.
//!
//! A block fenced as `console` holds lines that begin with `$ ` and the output that follows each. In
//! expected output, a line `...` stands for any lines, and `[..]` for any text within a line.
//! `scripts/test` is not executed here, since it is what executes this; that CI calls exactly that is checked
//! instead. `scripts/quickstart` is executed in the repository itself, where its build is the one that is there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// What executes this test.
const SELF: &str = "scripts/test";
/// What builds and measures, in the repository itself.
const QUICKSTART: &str = "scripts/quickstart";
const SCRIPTS: [&str; 2] = [SELF, QUICKSTART];

struct Step {
    command: String,
    expected: Vec<String>,
    line: usize,
}

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// The commands of the README's console blocks with what they must print.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step {
                    command: command.to_owned(),
                    expected: Vec::new(),
                    line: number + 1,
                }),
                None => match steps.last_mut() {
                    Some(step) if step.command.ends_with('\\') => {
                        step.command.push('\n');
                        step.command.push_str(line);
                    }
                    Some(step) => step.expected.push(line.to_owned()),
                    None => panic!("README.md:{}: output without a command", number + 1),
                },
            },
        }
    }
    steps
}

fn line_matches(expected: &str, found: &str) -> bool {
    let mut rest = found;
    let parts: Vec<&str> = expected.split("[..]").collect();
    if parts.len() == 1 {
        return expected == found;
    }
    for (position, part) in parts.iter().enumerate() {
        let first = position == 0;
        let last = position + 1 == parts.len();
        let at = if last && !first {
            rest.len().checked_sub(part.len())
        } else {
            rest.find(part)
        };
        match at {
            Some(at)
                if rest.is_char_boundary(at)
                    && rest[at..].starts_with(part)
                    && (!first || at == 0) =>
            {
                rest = &rest[at + part.len()..];
            }
            _ => return false,
        }
    }
    true
}

fn matches(expected: &[String], found: &[&str]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=found.len()).any(|skipped| matches(rest, &found[skipped..]))
        }
        Some((first, rest)) => found
            .split_first()
            .is_some_and(|(line, found)| line_matches(first, line) && matches(rest, found)),
    }
}

#[test]
fn the_pattern_language_matches_what_it_says() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&lines("a\n...\nz [..]!"), &["a", "b", "c", "z 9!"]));
    assert!(matches(&lines("...\n"), &[]));
    assert!(!matches(&lines("a\nb"), &["a"]));
    assert!(!matches(&lines("z [..]!"), &["z 9"]));
    assert!(!matches(&lines("[..] x"), &["x"]));
}

#[test]
fn the_test_command_is_what_ci_calls() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let steps = steps(&readme());
    for script in SCRIPTS {
        assert!(
            steps.iter().any(|step| step.command == script),
            "the README names {script}"
        );
        assert!(root.join(script).is_file(), "{script} is there");
    }
    let ci = std::fs::read_to_string(root.join(".ci/run")).unwrap();
    let called: Vec<&str> = ci
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let expected = ["set -euo pipefail", r#"cd "$(dirname "$0")/..""#, SELF];
    assert_eq!(called, expected, "CI calls exactly that and nothing else");
}

/// Two runs want the same CPUs, so one waits for the other.
static ONE_RUN: Mutex<()> = Mutex::new(());

/// Who commits: git asks for a name, which a reader has set.
const READER: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "reader"),
    ("GIT_AUTHOR_EMAIL", "reader@example.org"),
    ("GIT_COMMITTER_NAME", "reader"),
    ("GIT_COMMITTER_EMAIL", "reader@example.org"),
];

/// A shell as a reader has it: what cargo sets for a test would make the build scripts that watch
/// these variables run again, and the binaries would change under whoever uses them.
fn shell(script: &str, folder: &Path) -> Command {
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(folder)
        .stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let per_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];
        if per_package.iter().any(|start| name.starts_with(start))
            || ["CARGO", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE"].contains(&&*name)
            || ["CARGO_TARGET_TMPDIR", "LD_LIBRARY_PATH", "OUT_DIR"].contains(&&*name)
        {
            shell.env_remove(&*name);
        }
    }
    let release = Path::new(env!("CARGO_BIN_EXE_loadlab")).parent().unwrap();
    shell
        .env("CARGO_TARGET_DIR", release.parent().unwrap())
        .env("NO_COLOR", "1")
        .envs(READER)
        .env_remove("CI");
    shell
}

/// What git sees changed or new in a folder.
fn status(folder: &Path) -> String {
    let output = Command::new("git")
        .args(["-C", folder.to_str().unwrap(), "status", "--porcelain"])
        .output()
        .expect("git can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_first_command_ends_with_a_report_and_leaves_the_repository_clean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let before = status(root);
    let alone = ONE_RUN.lock().unwrap_or_else(PoisonError::into_inner);
    let output = shell(QUICKSTART, root)
        .output()
        .expect("bash can be started");
    drop(alone);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}");
    let steps = steps(&readme());
    let step = steps.iter().find(|step| step.command == QUICKSTART);
    let expected = &step.expect("the README shows it").expected;
    let lines: Vec<&str> = printed.lines().collect();
    assert!(matches(expected, &lines), "{printed}");
    let page = printed
        .lines()
        .find_map(|line| line.strip_prefix("the report:  "))
        .expect("it says where the report is");
    let page = std::fs::read_to_string(root.join(page)).unwrap();
    assert!(page.contains("What gzip costs nginx"), "{page}");
    assert_eq!(status(root), before, "the repository stays clean");
}

/// Copies what git tracks, so that the commands run on a clean checkout.
fn checkout(to: &Path) {
    let root = env!("CARGO_MANIFEST_DIR");
    let run = |words: &[&str]| {
        let output = Command::new("git")
            .args(words)
            .output()
            .expect("git can be started");
        assert!(
            output.status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    let listed = run(&[
        "-C",
        root,
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    for name in listed
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        let name = std::str::from_utf8(name).unwrap();
        let (from, to) = (Path::new(root).join(name), to.join(name));
        if from.is_file() {
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(from, to).unwrap();
        }
    }
    let place = to.to_str().unwrap();
    run(&["-C", place, "init", "-q"]);
    run(&["-C", place, "add", "-A"]);
    run(&[
        "-C",
        place,
        "-c",
        "user.name=reader",
        "-c",
        "user.email=reader@example.org",
        "commit",
        "-q",
        "-m",
        "a checkout",
    ]);
}

/// The commands that are executed on a checkout, each with its number.
fn executed(steps: &[Step]) -> impl Iterator<Item = (usize, &Step)> {
    let executed = |(_, step): &(usize, &Step)| !SCRIPTS.contains(&step.command.as_str());
    steps.iter().enumerate().filter(executed)
}

/// What one shell prints that executes the commands in a folder, the number of each before its output.
fn execute(steps: &[Step], folder: &Path) -> String {
    let mut script = String::new();
    for (number, step) in executed(steps) {
        script += &format!("echo '<<<{number}'\n{}\n", step.command);
    }
    script += "echo '<<<end'\n";
    let release = Path::new(env!("CARGO_BIN_EXE_loadlab")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let alone = ONE_RUN.lock().unwrap_or_else(PoisonError::into_inner);
    let output = shell(&script, folder)
        .env("PATH", format!("{}:{path}", release.display()))
        .output()
        .expect("bash can be started");
    drop(alone);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a command printed that is not what the README shows.
fn difference(number: usize, step: &Step, printed: &str) -> Option<String> {
    let start = format!("<<<{number}\n");
    let begun = printed.find(&start).map(|at| at + start.len());
    let found = begun.map(|at| printed[at..].split("<<<").next().unwrap_or_default());
    let lines: Vec<&str> = found.unwrap_or("(not reached)").lines().collect();
    let told = || {
        format!(
            "README.md:{}: $ {}\n--- expected\n{}\n--- found\n{}",
            step.line,
            step.command,
            step.expected.join("\n"),
            lines.join("\n")
        )
    };
    (!matches(&step.expected, &lines)).then(told)
}

#[test]
fn every_command_prints_what_the_readme_shows() {
    let folder = tempfile::tempdir().unwrap();
    checkout(folder.path());
    let steps = steps(&readme());
    assert!(steps.len() >= 10, "the README has {} commands", steps.len());
    let printed = execute(&steps, folder.path());
    let faults: Vec<String> = executed(&steps)
        .filter_map(|(number, step)| difference(number, step, &printed))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    let left = status(folder.path());
    let ours = |line: &&str| !line.ends_with(" my-server/");
    let left: Vec<&str> = left.lines().filter(ours).collect();
    assert!(
        left.is_empty(),
        "the commands leave the rest clean: {left:?}"
    );
}
