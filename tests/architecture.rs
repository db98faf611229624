//! The direction of imports, and what only one module may name.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Module, and the modules of this crate that it may name. Order: from the ground up.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("measure", &["model"]),
    ("manifest", &["model"]),
    ("lock", &["model", "load"]),
    ("engine", &["model", "measure"]),
    ("load", &["model", "engine"]),
    ("record", &["model", "plan", "lock"]),
    ("plan", &["lock", "model"]),
    ("probe", &["record", "load", "engine", "measure", "model"]),
    ("guard", &["record", "probe", "model"]),
    ("estimate", &["guard", "probe", "record", "plan", "model"]),
    ("report", &["estimate", "record", "lock", "model"]),
    ("doctor", &["measure", "plan", "model"]),
    ("weights", &["estimate", "record", "model"]),
    (
        "run",
        &[
            "plan", "probe", "guard", "engine", "load", "measure", "record", "lock", "model",
        ],
    ),
    (
        "review",
        &[
            "report", "estimate", "guard", "record", "plan", "lock", "manifest", "model",
        ],
    ),
    (
        "cli",
        &[
            "manifest", "lock", "plan", "run", "record", "estimate", "report", "review", "engine",
            "load", "measure", "probe", "guard", "doctor", "weights", "model",
        ],
    ),
];

/// A word of the source, and the only modules that may say it.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("println!", &["cli"]),
    ("eprintln!", &["cli"]),
    ("clap::", &["cli"]),
    ("minijinja::", &["manifest", "report", "run"]),
    ("/sys/fs/cgroup", &["measure", "engine"]),
    ("granit_parser", &["manifest"]),
    ("bollard::", &["engine"]),
    ("tokio::", &["engine", "run", "cli"]),
    (
        "std::fs",
        &[
            "manifest", "lock", "record", "review", "engine", "measure", "load", "probe", "run",
            "cli",
        ],
    ),
    ("SystemTime", &["measure", "record", "engine", "cli", "run"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source line outside comments, with its module and place.
fn lines() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut lines = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&root).unwrap().to_owned();
        let module = relative
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_string_lossy()
            .into_owned();
        if module.ends_with(".rs") || module == "bin" {
            continue;
        }
        let in_tests = relative.file_name().is_some_and(|name| name == "tests.rs")
            || relative
                .components()
                .any(|part| part.as_os_str() == "tests");
        if in_tests {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("#[cfg(test)]") {
                break;
            }
            if !line.trim_start().starts_with("//") {
                let place = format!("src/{}:{}", relative.display(), number + 1);
                lines.push((module.clone(), place, line.to_owned()));
            }
        }
    }
    lines
}

#[test]
fn modules_import_only_what_is_below_them() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let mut faults = Vec::new();
    for (module, place, line) in lines() {
        for after in line.split("crate::").skip(1) {
            let named: String = after
                .chars()
                .take_while(|character| character.is_alphanumeric() || *character == '_')
                .collect();
            let known = allowed.contains_key(named.as_str());
            if known && named != module && !allowed[module.as_str()].contains(&named.as_str()) {
                faults.push(format!("{place}: `{module}` may not import `{named}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_layers_have_no_cycle() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    fn visit<'a>(
        module: &'a str,
        allowed: &BTreeMap<&'a str, &'a [&'a str]>,
        path: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) {
        assert!(!path.contains(&module), "a cycle: {path:?} -> {module}");
        if !done.contains(module) {
            path.push(module);
            for next in allowed[module] {
                visit(next, allowed, path, done);
            }
            path.pop();
            done.insert(module);
        }
    }
    let mut done = BTreeSet::new();
    for (module, _) in MAY_IMPORT {
        visit(module, &allowed, &mut Vec::new(), &mut done);
    }
}

#[test]
fn some_words_belong_to_one_module() {
    let mut faults = Vec::new();
    for (module, place, line) in lines() {
        for (word, modules) in ONLY_IN {
            if line.contains(word) && !modules.contains(&module.as_str()) {
                faults.push(format!("{place}: only {modules:?} may say `{word}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn templates_and_sources_have_no_path_of_one_machine() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"))
        .to_string_lossy()
        .into_owned();
    for (_, place, line) in lines() {
        assert!(!line.contains(&home), "{place} names this machine");
    }
}

/// Words that would let whoever says them know what was planted in the standards, and the only files
/// that may: those that plant it, show the plan, start the servers, and compare the truth at the end.
const TRUTH: &[(&str, &[&str])] = &[
    (
        "open_the_seal",
        &[
            "model/standards/mod.rs",
            "plan/display.rs",
            "estimate/standards.rs",
        ],
    ),
    (
        "model::standards",
        &[
            "lock/meaning/definition.rs",
            "manifest/expand/standards.rs",
            "record/sample/inputs.rs",
            "run/bind.rs",
            "estimate/recovered.rs",
            "estimate/standards.rs",
            "report/view/standards.rs",
        ],
    ),
    (
        "Weight",
        &[
            "model/standards/mod.rs",
            "model/standards/weight.rs",
            "model/candidate.rs",
            "lock/meaning.rs",
            "lock/meaning/definition.rs",
            "lock/programs.rs",
            "record/sample/mod.rs",
            "run/bind.rs",
            "run/preflight.rs",
        ],
    ),
];

#[test]
fn what_was_planted_is_hidden_from_those_who_judge() {
    let mut faults = Vec::new();
    for (_, place, line) in lines() {
        let file = place.trim_start_matches("src/");
        let file = file.split(':').next().unwrap();
        for (word, files) in TRUTH {
            if line.contains(word) && !files.contains(&file) {
                faults.push(format!("{place}: `{word}` tells what was planted"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Crates with their features, as a build with these kinds of dependencies has them.
fn features(kinds: &str) -> BTreeMap<String, BTreeSet<String>> {
    let words = "tree --locked --offline --features generator --prefix none --format";
    let output = std::process::Command::new(env!("CARGO"))
        .args(words.split(' '))
        .args(["{p}\t{f}", "--edges", kinds])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be started");
    let printed = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in printed.lines() {
        let (crate_name, list) = line.split_once('\t').unwrap();
        let list = list.trim_end_matches(" (*)").trim();
        found
            .entry(crate_name.to_owned())
            .or_default()
            .insert(list.to_owned());
    }
    found
}

#[test]
fn the_programs_that_are_tested_are_the_programs_that_are_built() {
    let tested = features("normal,build,dev");
    let apart: Vec<String> = features("normal,build")
        .into_iter()
        .filter(|(name, list)| !list.is_subset(&tested[name]))
        .map(|(name, list)| format!("{name}: {list:?} built, {:?} tested", tested[&name]))
        .collect();
    assert!(apart.is_empty(), "{}", apart.join("\n"));
}
