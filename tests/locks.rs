//! Locks as a whole: pinning, checking, their text, merges by git, and the programs of a machine.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use loadlab::lock::programs::{PROBE, STUB, probe_version};
use loadlab::lock::resolve::{Local, digest_of_file};
use loadlab::lock::{self, Lock, PinFaults, ResolvedProgram, Resolver, Upgrade};
use loadlab::model::candidate::VersionRule;
use loadlab::model::{Digest, Experiment};
use serde_json::{Value, json};

const STUDY: &str = include_str!("data/models/web-study.json");

fn study() -> Value {
    serde_json::from_str(STUDY).unwrap()
}

fn experiment(model: &Value) -> Experiment {
    serde_json::from_value(model.clone()).unwrap()
}

fn set(model: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match model.pointer_mut(parent).unwrap() {
        Value::Object(object) => drop(object.insert(key.to_owned(), value)),
        Value::Array(array) if key == "-" => array.push(value),
        Value::Array(array) => array[key.parse::<usize>().unwrap()] = value,
        other => panic!("{pointer}: {other}"),
    }
}

fn changed(pointer: &str, value: Value) -> Experiment {
    let mut model = study();
    set(&mut model, pointer, value);
    experiment(&model)
}

/// A machine: every program has version 1 and the same bytes, but for what is told apart.
#[derive(Default)]
struct Machine {
    versions: BTreeMap<&'static str, &'static str>,
    bytes: BTreeMap<&'static str, &'static str>,
    missing: BTreeSet<&'static str>,
    platform: Option<&'static str>,
    generator: Option<&'static str>,
}

impl Resolver for Machine {
    fn program(
        &mut self,
        name: &str,
        rule: Option<&VersionRule>,
    ) -> Result<ResolvedProgram, String> {
        if self.missing.contains(name) {
            return Err("it is not installed".to_owned());
        }
        let version = self.versions.get(name).unwrap_or(&"1");
        let bytes = self.bytes.get(name).copied().unwrap_or_default();
        let platform = self.platform.unwrap_or("linux/x86_64");
        Ok(ResolvedProgram {
            path: format!("/opt/{name}").into(),
            version: (rule.is_some() || name == STUB).then(|| (*version).to_owned()),
            sha256: Digest::of(format!("{name} {version} {bytes} {platform}").as_bytes()),
            platform: platform.to_owned(),
        })
    }

    fn generator(&self) -> String {
        self.generator
            .unwrap_or(loadlab::load::GENERATOR)
            .to_owned()
    }
}

fn pin(experiment: &Experiment, mut machine: Machine) -> Lock {
    lock::pin(experiment, &mut machine, None, &Upgrade::None).unwrap()
}

fn pin_again(
    experiment: &Experiment,
    mut machine: Machine,
    previous: &Lock,
    upgrade: &Upgrade,
) -> Result<Lock, PinFaults> {
    lock::pin(experiment, &mut machine, Some(previous), upgrade)
}

fn named(name: &str) -> Upgrade {
    Upgrade::Names(BTreeSet::from([name.to_owned()]))
}

#[test]
fn a_lock_as_text() {
    let lock = pin(&experiment(&study()), Machine::default());
    let text = lock.to_text();
    insta::assert_snapshot!(text);
    assert_eq!(Lock::from_text(&text, "a.lock.json").unwrap(), lock);
    assert!(text.ends_with("}\n") && !text.contains('\r'));
    assert!(!text.contains("/opt"), "no path of this machine");
}

#[test]
fn a_lock_is_as_its_schema_says() {
    let schema: Value = serde_json::from_str(lock::SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let text = pin(&experiment(&study()), Machine::default()).to_text();
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert!(validator.is_valid(&whole));
    let agree = |value: &Value, expected: bool, about: &str| {
        assert_eq!(validator.is_valid(value), expected, "schema: {about}");
        let read = Lock::from_text(&value.to_string(), "a.lock.json");
        assert_eq!(read.is_ok(), expected, "reader: {about}");
    };
    // Schema and reader agree on every key: it must be there, and none may be added.
    let objects = ["", "/rules", "/files/go~1serve", "/programs/nginx"];
    for object in objects {
        let keys: Vec<String> = whole
            .pointer(object)
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        for key in keys {
            let mut broken = whole.clone();
            broken
                .pointer_mut(object)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .remove(&key);
            agree(
                &broken,
                key == "version",
                &format!("{object}/{key} removed"),
            );
            set(&mut broken, &format!("{object}/{key}"), json!([]));
            agree(&broken, false, &format!("{object}/{key} a list"));
        }
        let mut broken = whole.clone();
        set(&mut broken, &format!("{object}/more"), json!("x"));
        agree(&broken, false, &format!("{object}/more"));
    }
    for (pointer, value) in [
        ("/lock_version", json!(2)),
        ("/lock_version", json!(0)),
        ("/model", json!("sha256:abc")),
        ("/experiment", json!("No Name")),
        ("/seed", json!(-1)),
    ] {
        let mut broken = whole.clone();
        set(&mut broken, pointer, value);
        agree(&broken, false, pointer);
    }
}

#[test]
fn what_is_no_lock_says_why() {
    let text = pin(&experiment(&study()), Machine::default()).to_text();
    let twice = text.replacen("\"nginx\"", "\"postgres\"", 1);
    let cases = [
        ("empty", String::new()),
        ("cut off", text[..200].to_owned()),
        ("newer", "{\"lock_version\": 2, \"pins\": {}}".to_owned()),
        (
            "conflict",
            text.replacen("  \"model\"", "<<<<<<< HEAD\n  \"model\"", 1),
        ),
        ("key twice", twice),
        (
            "unknown key",
            text.replacen("\"model\"", "\"mod\\u001bel\"", 1),
        ),
        ("too large", " ".repeat(lock::LOCK_BYTES + 1)),
        ("too deep", "[".repeat(100_000)),
    ];
    let shown: Vec<String> = cases
        .iter()
        .map(|(name, text)| {
            format!(
                "{name}: {}",
                Lock::from_text(text, "experiment.lock.json").unwrap_err()
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
    let fault = Lock::from_text("", "a\u{1b}[31m.json").unwrap_err();
    assert!(!fault.to_string().contains('\u{1b}'));
}

#[test]
fn a_fresh_lock_fits() {
    let experiment = experiment(&study());
    let lock = pin(&experiment, Machine::default());
    let locked = lock::check(&experiment, &lock).unwrap();
    assert_eq!(
        lock::verify_programs(&locked, &mut Machine::default()),
        (vec![], vec![])
    );
    let again = pin_again(&experiment, Machine::default(), &lock, &Upgrade::None).unwrap();
    assert_eq!(again.to_text(), lock.to_text());
}

#[test]
fn a_change_makes_stale_exactly_what_it_should() {
    let lock = pin(&experiment(&study()), Machine::default());
    let table = include_str!("data/lock-changes.txt").lines();
    let mut changes = 0;
    for line in table.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let [pointer, value, stale] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("three columns: {line}");
        };
        let now = changed(pointer, serde_json::from_str(value).unwrap());
        assert_ne!(now, experiment(&study()), "{pointer} changes nothing");
        let mismatches = lock::check(&now, &lock).err().unwrap_or_default();
        let shown: Vec<String> = mismatches
            .iter()
            .map(|each| each.what.to_string())
            .collect();
        let expected = if stale == "-" { "" } else { stale };
        assert_eq!(shown.join(", "), expected, "{line}");
        let cosmetic = mismatches.iter().all(|each| each.what.is_cosmetic());
        assert_eq!(cosmetic, stale == "-" || stale.starts_with("template"));
        changes += 1;
    }
    assert!(changes > 35, "{changes}");
}

#[test]
fn the_order_of_candidates_and_members_means_something() {
    let lock = pin(&experiment(&study()), Machine::default());
    let mut model = study();
    let first = model["candidates"]
        .as_object_mut()
        .unwrap()
        .shift_remove("go")
        .unwrap();
    model["candidates"]["go"] = first;
    let shown = lock::check(&experiment(&model), &lock).unwrap_err();
    assert_eq!(shown[0].what, lock::Pinned::Model);
}

#[test]
fn mismatches_say_what_was_pinned_what_is_there_and_the_way_out() {
    let mut lock = pin(&experiment(&study()), Machine::default());
    lock.rules.generator = "oha 1.15.0".to_owned();
    lock.rules.protocol = 7;
    lock.files
        .insert("gone.conf".to_owned(), Digest::of(b"gone"));
    lock.programs.remove("psql");
    let spare = lock.programs["nginx"].clone();
    lock.programs.insert("old\u{1b}".to_owned(), spare);
    lock.programs.get_mut("postgres").unwrap().version = None;
    let mut model = study();
    set(&mut model, "/phases/fixed-rate/repetitions", json!(6));
    set(
        &mut model,
        "/files/-",
        json!({"path": "new.conf", "digest": Digest::of(b"new").to_string(), "bytes": 3, "executable": false}),
    );
    let mismatches = lock::check(&experiment(&model), &lock).unwrap_err();
    let shown: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_scaled_rehearsal_agrees_in_files_and_programs() {
    let lock = pin(&experiment(&study()), Machine::default());
    let mut model = study();
    set(&mut model, "/scale", json!("10%"));
    set(
        &mut model,
        "/phases/fixed-rate/load/common/duration",
        json!("6s"),
    );
    let scaled = experiment(&model);
    assert!(lock::check(&scaled, &lock).is_ok());
    let faults = lock::pin(&scaled, &mut Machine::default(), None, &Upgrade::None).unwrap_err();
    assert_eq!(
        faults.to_string(),
        "cannot pin experiment `web-study`: a profile scales it for a rehearsal, expected the experiment's own loads; \
         run `loadlab lock` without that profile"
    );
}

#[test]
fn pins_stay_unless_they_are_moved() {
    let experiment = experiment(&study());
    let lock = pin(&experiment, Machine::default());
    let newer = || Machine {
        versions: BTreeMap::from([("postgres", "2"), ("psql", "2"), (PROBE, "2")]),
        generator: Some("oha 2.0.0"),
        ..Machine::default()
    };
    let faults = pin_again(&experiment, newer(), &lock, &Upgrade::None).unwrap_err();
    insta::assert_snapshot!(faults.to_string());

    let faults = pin_again(&experiment, newer(), &lock, &named("postgres")).unwrap_err();
    assert_eq!(faults.0.len(), 3);
    let all = pin_again(&experiment, newer(), &lock, &Upgrade::All).unwrap();
    assert_eq!(all.programs["postgres"].version.as_deref(), Some("2"));
    assert_eq!(all.programs["frankenphp"], lock.programs["frankenphp"]);
    assert_eq!(all.rules.generator, "oha 2.0.0");

    let one = Machine {
        versions: BTreeMap::from([("postgres", "2")]),
        ..Machine::default()
    };
    let moved = pin_again(&experiment, one, &lock, &named("postgres")).unwrap();
    let expected = Lock {
        programs: [("postgres".to_owned(), moved.programs["postgres"].clone())].into(),
        ..lock.clone()
    };
    let rest: BTreeMap<_, _> = lock
        .programs
        .iter()
        .filter(|(name, _)| *name != "postgres")
        .map(|(name, pin)| (name.clone(), pin.clone()))
        .collect();
    assert_eq!(moved.programs.len(), rest.len() + expected.programs.len());
    assert!(rest.iter().all(|(name, pin)| moved.programs[name] == *pin));
}

#[test]
fn other_bytes_of_the_same_version_are_a_caveat_and_another_platform_is_added() {
    let experiment = experiment(&study());
    let lock = pin(&experiment, Machine::default());
    let rebuilt = || Machine {
        bytes: BTreeMap::from([("postgres", "rebuilt")]),
        ..Machine::default()
    };
    let locked = lock::check(&experiment, &lock).unwrap();
    let (mismatches, caveats) = lock::verify_programs(&locked, &mut rebuilt());
    assert_eq!(mismatches, vec![]);
    assert_eq!(caveats.len(), 1);
    insta::assert_snapshot!(format!("{}: {}", caveats[0].0, caveats[0].1));
    let kept = pin_again(&experiment, rebuilt(), &lock, &Upgrade::None).unwrap();
    assert_eq!(kept, lock);
    let moved = pin_again(&experiment, rebuilt(), &lock, &named("postgres")).unwrap();
    assert_ne!(
        moved.programs["postgres"].sha256,
        lock.programs["postgres"].sha256
    );

    let arm = || Machine {
        platform: Some("linux/aarch64"),
        ..Machine::default()
    };
    let (mismatches, caveats) = lock::verify_programs(&locked, &mut arm());
    // psql says no version, so that its bytes are all there is to compare.
    let shown: Vec<String> = mismatches
        .iter()
        .map(|each| each.what.to_string())
        .collect();
    assert_eq!(shown, ["program `psql`"]);
    assert_eq!(caveats.len(), 4);
    let both = pin_again(&experiment, arm(), &lock, &Upgrade::None).unwrap();
    for (name, pin) in &both.programs {
        assert_eq!(pin.sha256.len(), 2, "{name}");
        assert_eq!(
            pin.sha256["linux/x86_64"],
            lock.programs[name].sha256["linux/x86_64"]
        );
    }
}

#[test]
fn before_a_run_another_version_is_a_mismatch() {
    let experiment = experiment(&study());
    let locked = lock::check(&experiment, &pin(&experiment, Machine::default())).unwrap();
    let mut other = Machine {
        versions: BTreeMap::from([("postgres", "2"), ("psql", "2")]),
        missing: BTreeSet::from(["php-fpm"]),
        generator: Some("oha 2.0.0"),
        ..Machine::default()
    };
    let (mismatches, caveats) = lock::verify_programs(&locked, &mut other);
    let shown: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"));
    assert_eq!(caveats, vec![]);
}

#[test]
fn all_faults_come_at_once() {
    let mut model = study();
    set(
        &mut model,
        "/candidates/go/definition/members/main/program/command",
        json!(["{{ service.postgres.host }}"]),
    );
    let faults = lock::pin(
        &experiment(&model),
        &mut Machine::default(),
        None,
        &Upgrade::None,
    )
    .unwrap_err();
    assert_eq!(faults.0.len(), 1);
    let mut machine = Machine {
        missing: BTreeSet::from(["php-fpm", "postgres", PROBE]),
        ..Machine::default()
    };
    let faults = lock::pin(&experiment(&study()), &mut machine, None, &Upgrade::None).unwrap_err();
    let mut lines = vec![faults.to_string()];
    let lock = pin(&experiment(&study()), Machine::default());
    for name in ["mysql", "php-fmp\u{1b}"] {
        let faults = pin_again(
            &experiment(&study()),
            Machine::default(),
            &lock,
            &named(name),
        )
        .unwrap_err();
        lines.push(faults.to_string());
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn programs_are_found_in_every_kind_of_command() {
    let command = "/candidates/go/definition/members/main/program/command";
    let programs = |value: Value| {
        let mut model = study();
        set(&mut model, command, value);
        set(
            &mut model,
            "/candidates/go/definition/values/tool",
            json!("tool-8"),
        );
        lock::pin(
            &experiment(&model),
            &mut Machine::default(),
            None,
            &Upgrade::None,
        )
        .map(|lock| lock.programs.into_keys().collect::<Vec<_>>().join(" "))
        .map_err(|faults| faults.to_string())
    };
    let rest = "frankenphp nginx php-fpm postgres psql";
    assert_eq!(programs(json!(["{{ work }}/serve"])).unwrap(), rest);
    assert_eq!(programs(json!(["./serve"])).unwrap(), rest);
    assert_eq!(programs(json!(["nginx", "-c", "x"])).unwrap(), rest);
    assert_eq!(
        programs(json!(["{{ value.tool }}"])).unwrap(),
        format!("{rest} tool-8")
    );
    assert_eq!(
        programs(json!(["/opt/a/b"])).unwrap(),
        format!("/opt/a/b {rest}")
    );
    let faults: Vec<String> = [
        json!(["./other"]),
        json!(["{{ port }}"]),
        json!([]),
        json!([""]),
    ]
    .into_iter()
    .map(|value| programs(value).unwrap_err())
    .collect();
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn what_loadlab_builds_is_pinned_by_its_version_alone() {
    let mut model = study();
    set(
        &mut model,
        "/candidates/go/definition/members/main/program",
        json!({"kind": "stub", "work": "1ms", "wait": "0s", "hold": "0B", "status": 200, "body": "64B"}),
    );
    let lock = pin(&experiment(&model), Machine::default());
    assert_eq!(lock.programs[STUB].version.as_deref(), Some("1"));
    assert_eq!(
        lock.programs[STUB].sha256,
        BTreeMap::new(),
        "its bytes differ with each build"
    );
    let rebuilt = Machine {
        bytes: BTreeMap::from([(STUB, "rebuilt")]),
        ..Machine::default()
    };
    assert_eq!(
        pin_again(&experiment(&model), rebuilt, &lock, &Upgrade::None).unwrap(),
        lock
    );
}

#[test]
fn one_program_has_one_version_rule() {
    let mut model = study();
    let program = json!({"kind": "process", "command": ["php-fpm"], "version": {"command": ["php", "-v"], "pattern": "(.*)"}});
    set(
        &mut model,
        "/candidates/go/definition/members/main/program",
        program,
    );
    let faults = lock::pin(
        &experiment(&model),
        &mut Machine::default(),
        None,
        &Upgrade::None,
    )
    .unwrap_err();
    assert!(
        faults
            .to_string()
            .contains("program `php-fpm` has two different `version` rules"),
        "{faults}"
    );
}

/// Merges two changes of a lock the way git does.
fn merge(base: &Lock, ours: &Lock, theirs: &Lock) -> Result<Lock, String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, lock: &Lock| {
        let path = folder.path().join(name);
        std::fs::write(&path, lock.to_text()).unwrap();
        path
    };
    let (ours, base, theirs) = (
        write("ours", ours),
        write("base", base),
        write("theirs", theirs),
    );
    let merged = Command::new("git")
        .args(["merge-file", "-p"])
        .args([&ours, &base, &theirs])
        .output()
        .expect("git is installed");
    let text = String::from_utf8(merged.stdout).unwrap();
    let lock = Lock::from_text(&text, "merged").map_err(|fault| fault.to_string())?;
    assert!(merged.status.success());
    Ok(lock)
}

#[test]
fn branches_that_touch_different_facts_merge() {
    type Edit = (String, Box<dyn Fn(&mut Lock)>);
    let base = pin(&experiment(&study()), Machine::default());
    let mut edits: Vec<Edit> = Vec::new();
    for path in base.files.keys().cloned() {
        let edit = path.clone();
        edits.push((
            path,
            Box::new(move |lock| {
                lock.files.insert(edit.clone(), Digest::of(b"other"));
            }),
        ));
    }
    for name in base.programs.keys().cloned() {
        let edit = name.clone();
        edits.push((
            name,
            Box::new(move |lock| {
                let pin = lock.programs.get_mut(&edit).unwrap();
                pin.version = pin.version.as_ref().map(|_| "99".to_owned());
                pin.sha256
                    .insert("linux/x86_64".to_owned(), Digest::of(b"other"));
            }),
        ));
    }
    edits.push((
        "model".to_owned(),
        Box::new(|lock| lock.model = Digest::of(b"other")),
    ));
    edits.push((
        "template".to_owned(),
        Box::new(|lock| {
            let templates = &mut lock.rules.templates;
            templates.insert("entry.md.j2".to_owned(), Digest::of(b"other"));
        }),
    ));
    let with = |edit: &Edit| {
        let mut lock = base.clone();
        edit.1(&mut lock);
        lock
    };
    for (index, ours) in edits.iter().enumerate() {
        for theirs in &edits[index + 1..] {
            let mut both = with(ours);
            theirs.1(&mut both);
            let merged = merge(&base, &with(ours), &with(theirs));
            assert_eq!(merged.as_ref(), Ok(&both), "{} and {}", ours.0, theirs.0);
        }
    }
    let mut one = base.clone();
    one.model = Digest::of(b"one");
    let mut two = base.clone();
    two.model = Digest::of(b"two");
    let fault = merge(&base, &one, &two).unwrap_err();
    assert!(
        fault.contains(
            "is a merge conflict's marker; take either side and run `loadlab lock` again"
        ),
        "{fault}"
    );
}

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
fn the_pinned_generator_is_the_one_that_is_built_in() {
    let manifest = include_str!("../Cargo.toml");
    let line = manifest
        .lines()
        .find(|line| line.starts_with("oha = "))
        .unwrap();
    let (name, version) = loadlab::load::GENERATOR.split_once(' ').unwrap();
    assert_eq!(name, "oha");
    assert!(
        line.contains(&format!("version = \"={version}\"")),
        "{line}"
    );
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
