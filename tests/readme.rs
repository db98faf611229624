//! Every command of the README, executed as printed, its output checked.
//!
//! A block fenced as `console` holds lines that begin with `$ ` and the output that follows each. In
//! expected output, a line `...` stands for any lines, and `[..]` for any text within a line.
//! The two scripts are not executed here: `scripts/test` is what executes this, and `scripts/quickstart` builds
//! and measures for minutes. That CI calls exactly the first, and that both are there, is checked instead.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::process::{Command, Stdio};

/// The commands that are not executed here.
const SCRIPTS: [&str; 2] = ["scripts/test", "scripts/quickstart"];

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
    assert!(
        ci.lines().any(|line| line == "scripts/test"),
        "CI calls exactly that"
    );
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

#[test]
#[allow(
    clippy::too_many_lines,
    reason = "one story from the first command to the last"
)]
fn every_command_prints_what_the_readme_shows() {
    let folder = tempfile::tempdir().unwrap();
    checkout(folder.path());
    let steps = steps(&readme());
    assert!(steps.len() >= 10, "the README has {} commands", steps.len());
    let mut script = String::from("exec 2>&1\n");
    for (number, step) in steps.iter().enumerate() {
        if !SCRIPTS.contains(&step.command.as_str()) {
            script += &format!("echo '<<<{number}'\n{}\n", step.command);
        }
    }
    script += "echo '<<<end'\n";
    let release = Path::new(env!("CARGO_BIN_EXE_loadlab")).parent().unwrap();
    let target = release.parent().unwrap();
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", target)
        .env(
            "PATH",
            format!("{}:{}", release.display(), std::env::var("PATH").unwrap()),
        )
        .env("NO_COLOR", "1")
        .env_remove("CI")
        .stdin(Stdio::null());
    let output = shell.output().expect("bash can be started");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut faults = Vec::new();
    for (number, step) in steps
        .iter()
        .enumerate()
        .filter(|(_, step)| !SCRIPTS.contains(&step.command.as_str()))
    {
        let start = format!("<<<{number}\n");
        let begun = printed.find(&start).map(|at| at + start.len());
        let found = begun.map(|at| printed[at..].split("<<<").next().unwrap_or_default());
        let lines: Vec<&str> = found.unwrap_or("(not reached)").lines().collect();
        if !matches(&step.expected, &lines) {
            faults.push(format!(
                "README.md:{}: $ {}\n--- expected\n{}\n--- found\n{}",
                step.line,
                step.command,
                step.expected.join("\n"),
                lines.join("\n")
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    let left = Command::new("git")
        .args([
            "-C",
            folder.path().to_str().unwrap(),
            "status",
            "--porcelain",
            "--",
            "results",
            "src",
            "experiments/nginx-gzip",
        ])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&left.stdout),
        "",
        "the commands leave the repository clean"
    );
}
