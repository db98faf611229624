//! A lock's text, and merges of it by git.

use std::process::Command;

use loadlab::lock::{self, Lock};
use loadlab::model::Digest;
use serde_json::{Value, json};

use crate::web_study::machine::{Machine, pin};
use crate::web_study::{experiment, set, study};

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
