//! The programs of this machine, and what they say of their version.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use loadlab::lock::Resolver;
use loadlab::lock::programs::{PROBE, STUB, probe_version};
use loadlab::lock::resolve::{Local, digest_of_file};
use loadlab::model::Digest;
use loadlab::model::candidate::VersionRule;

fn shell(script: &str) -> VersionRule {
    VersionRule {
        command: vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()],
        pattern: r"demo (\S+)".to_owned(),
    }
}

fn local() -> Local {
    let folders = ["relative", "/usr/bin", "/bin"].map(PathBuf::from);
    Local::searching(folders, None).version_within(Duration::from_secs(5))
}

#[test]
fn a_program_of_this_machine() {
    let mut local = local();
    let found = local
        .program("sh", Some(&shell("echo demo 1.2 >&2")))
        .unwrap();
    assert_eq!(found.version.as_deref(), Some("1.2"));
    assert_eq!(found.path, Path::new("/usr/bin/sh"));
    assert_eq!(local.path_of("sh"), Some(Path::new("/usr/bin/sh")));
    assert_eq!(
        found.platform,
        format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH)
    );
    let sums = Command::new("sha256sum")
        .arg("/usr/bin/sh")
        .output()
        .unwrap();
    assert!(
        String::from_utf8(sums.stdout)
            .unwrap()
            .starts_with(&found.sha256.hex())
    );
    let plain = local.program("/usr/bin/env", None).unwrap();
    assert_eq!(
        (plain.version, plain.path.as_path()),
        (None, Path::new("/usr/bin/env"))
    );
    assert_eq!(local.generator(), loadlab::load::GENERATOR);
}

#[test]
fn a_version_command_has_a_clean_environment_and_no_input() {
    let script =
        "cat; printf 'demo %s-%s-%s-%s\\n' \"$PWD\" \"$HOME\" \"$LANG\" \"$(env | wc -l)\"";
    let found = local().program("sh", Some(&shell(script))).unwrap();
    // PATH, HOME, LANG, and PWD (and perhaps OLDPWD or _) of the shell's own.
    let version = found.version.unwrap();
    let (fixed, count) = version.rsplit_once('-').unwrap();
    assert_eq!(fixed, "/-/-C");
    assert!(count.parse::<u32>().unwrap() <= 6, "{version}");
}

#[test]
fn a_version_command_that_fails_says_how() {
    let cases = [
        ("nothing printed", "true"),
        ("no match", "echo '\u{1b}[31mhello'"),
        ("another status", "echo oh no >&2; exit 3"),
        ("too much", "yes demo 1 | head -c 200000"),
        ("control characters", "printf 'demo 1\\0332\\n'"),
        ("too long", "printf 'demo %0200d\\n' 1"),
    ];
    let shown: Vec<String> = cases
        .iter()
        .map(|(name, script)| {
            format!(
                "{name}: {}",
                local().program("sh", Some(&shell(script))).unwrap_err()
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
    let mut rule = shell("true");
    rule.pattern = "(".to_owned();
    assert_eq!(
        local().program("sh", Some(&rule)).unwrap_err(),
        "`(` is no regular expression"
    );
    rule.command = vec!["not-there-at-all".to_owned()];
    rule.pattern = "(.)".to_owned();
    assert_eq!(
        local().program("sh", Some(&rule)).unwrap_err(),
        "version command `not-there-at-all`: it is not installed: searched /usr/bin, /bin"
    );
}

#[test]
fn a_version_command_that_does_not_end_is_ended_with_all_that_it_forked() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("pid");
    let script = format!(
        "sleep 600 & echo $! > {}; echo demo 1; wait",
        mark.display()
    );
    let mut local = local().version_within(Duration::from_millis(500));
    let fault = local.program("sh", Some(&shell(&script))).unwrap_err();
    assert!(
        fault.ends_with("had not ended its output in time"),
        "{fault}"
    );
    let pid = std::fs::read_to_string(&mark).unwrap();
    let gone = || {
        let state =
            std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    };
    let tries = std::iter::repeat_with(gone).take(1_000_000);
    assert!(
        tries.into_iter().any(|gone| gone),
        "the forked process still runs"
    );
}

#[test]
fn a_program_that_is_not_there_says_where_it_was_looked_for() {
    let mut local = Local::searching(
        ["/nowhere/a".into(), "/nowhere/b".into()],
        Some("/nowhere/loadlab-stub".into()),
    );
    let shown: Vec<String> = [PROBE, "php", "/nowhere/php", "/etc/passwd", STUB]
        .iter()
        .map(|name| local.program(name, None).unwrap_err())
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn the_probes_version_rule_reads_what_nginx_says() {
    let pattern = regex::Regex::new(&probe_version().pattern).unwrap();
    for (said, version) in [
        ("nginx version: nginx/1.22.1\n", "1.22.1"),
        ("nginx version: nginx/1.24.0 (Ubuntu)\n", "1.24.0"),
    ] {
        assert_eq!(&pattern.captures(said).unwrap()[1], version);
    }
}

#[test]
fn hashing_a_large_file_in_pieces_gives_the_same_digest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    for length in [0, 1, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 3 << 20] {
        let bytes: Vec<u8> = (0..length)
            .map(|index: usize| u8::try_from(index % 251).unwrap())
            .collect();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(
            digest_of_file(&path).unwrap(),
            Digest::of(&bytes),
            "{length}"
        );
    }
}
