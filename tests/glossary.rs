//! One concept, one name: words that the glossary says are not used for a concept stand in no sentence that
//! a user reads.
//!
//! The rule: in every description of the schemas, every text of the templates, every help text, and every
//! string of the source with a space in it, such a word does not stand alone, except inside one of the phrases
//! listed here, where it means something else.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// A word that means something else in these phrases, whatever their case.
const MEANS_SOMETHING_ELSE: &[(&str, &[&str])] = &[
    // The kernel's own words.
    ("config", &["/proc/config.gz", "/boot/config"]),
    (
        "affinity",
        &[
            "by its affinity",
            "or affinity that loadlab is started in",
            "keep the affinity",
            "whose affinity could be read",
            "an affinity can name",
            "read the affinity back",
        ],
    ),
    ("quota", &["by a quota", "CPU quota", "Remove the quota"]),
    // loadlab's own test server is called so, and what only tests have.
    ("test", &["test server", "A fake, in tests"]),
    // Nesting, and what a gzip experiment calls its setting.
    (
        "level",
        &[
            "{DEEPEST} levels",
            "48 levels",
            "Level 6",
            "level 1",
            "three levels",
        ],
    ),
    // The parts of a contract are its checks; the verb is plain English.
    (
        "check",
        &[
            "check of the contract",
            "checks of the contract",
            "Each check",
            "Check the ",
            "Check that ",
            "loadlab's checks",
            "the token check",
            "Check manifests",
            "Check all",
            "Check an entry",
        ],
    ),
    // A place in a table.
    ("cell", &["in one cell", "One cell of a declared number"]),
    ("statistic", &["order statistics"]),
    ("log line", &["its last log line"]),
];

/// The verb of loadlab, and what it does from its beginning to its end; only an entry is never called so,
/// which no list of phrases can hold.
const LEFT_OUT: [&str; 1] = ["run"];

struct Word {
    name: String,
    not: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn glossary() -> Vec<Word> {
    let text = std::fs::read_to_string(root().join("GLOSSARY.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let words = cells.get(2).into_iter().flat_map(|not| not.split(','));
        let words = words.map(|word| word.trim().trim_end_matches('|').trim().to_owned());
        Word {
            name: cells[0].to_owned(),
            not: words.filter(|word| !word.is_empty()).collect(),
        }
    })
    .collect()
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Every sentence that a user may read, with its file.
fn sentences() -> Vec<(String, String)> {
    let mut sentences = Vec::new();
    let shown = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    for path in files("schemas", ".json") {
        let schema: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        descriptions(&schema, &shown(&path), &mut sentences);
    }
    let markup = Regex::new(r"(?s)\{[%#{].*?[%#}]\}|<[^>]*>").unwrap();
    for path in files("templates", ".j2") {
        let text = std::fs::read_to_string(&path).unwrap();
        let text = markup.replace_all(&text, " ").into_owned();
        sentences.extend(text.lines().map(|line| (shown(&path), line.to_owned())));
    }
    for path in files("src", ".rs") {
        let name = shown(&path);
        if ["/tests", "/fake", "/sample"]
            .iter()
            .any(|part| name.contains(part))
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        sentences.extend(
            strings(code)
                .into_iter()
                .map(|string| (name.clone(), string)),
        );
        if name.starts_with("src/cli/args/") {
            let help = text
                .lines()
                .filter_map(|line| line.trim().strip_prefix("/// "));
            sentences.extend(help.map(|line| (name.clone(), line.to_owned())));
        }
    }
    sentences
}

fn descriptions(schema: &Value, file: &str, sentences: &mut Vec<(String, String)>) {
    match schema {
        Value::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Value::String(text) if key == "description" => {
                        sentences.push((file.to_owned(), text.clone()));
                    }
                    value => descriptions(value, file, sentences),
                }
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| descriptions(item, file, sentences)),
        _ => {}
    }
}

/// The strings of Rust code that hold a space. Comments hold none that count.
fn strings(code: &str) -> Vec<String> {
    let comments = Regex::new(r"(?m)^\s*//.*$").unwrap();
    let code = comments.replace_all(code, "");
    let code = code.replace(r#"'"'"#, "");
    let string = Regex::new(r#"(?s)"((?:[^"\\]|\\.)*)""#).unwrap();
    let broken = Regex::new(r"\\\n\s*").unwrap();
    let found = string
        .captures_iter(&code)
        .map(|found| broken.replace_all(&found[1], "").into_owned());
    found.filter(|text| text.contains(' ')).collect()
}

fn alone(word: &str) -> Regex {
    let pattern = format!(r"(^|[^\w`/_.-]){}s?($|[^\w`_(-])", regex::escape(word));
    RegexBuilder::new(&pattern)
        .case_insensitive(true)
        .build()
        .unwrap()
}

fn without_allowed(word: &str, sentence: &str) -> String {
    let phrases = MEANS_SOMETHING_ELSE.iter().filter(|(of, _)| *of == word);
    let mut text = sentence.to_owned();
    for phrase in phrases.flat_map(|(_, phrases)| phrases.iter()) {
        let phrase = RegexBuilder::new(&regex::escape(phrase))
            .case_insensitive(true)
            .build()
            .unwrap();
        text = phrase.replace_all(&text, "").into_owned();
    }
    text
}

#[test]
fn no_sentence_calls_a_concept_by_another_name() {
    let sentences = sentences();
    assert!(sentences.len() > 1_500, "{} sentences", sentences.len());
    let mut wrong = BTreeSet::new();
    for word in glossary().iter().flat_map(|word| &word.not) {
        if LEFT_OUT.contains(&word.as_str()) {
            continue;
        }
        let alone = alone(word);
        let found = sentences.iter().filter(|(_, text)| alone.is_match(text));
        let used = found.filter(|(_, text)| alone.is_match(&without_allowed(word, text)));
        wrong.extend(used.map(|(file, text)| format!("{file}: `{word}` in: {text}")));
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
}

#[test]
fn every_listed_phrase_is_still_said_somewhere() {
    let sentences = sentences();
    for (word, phrases) in MEANS_SOMETHING_ELSE {
        for phrase in *phrases {
            let lower = phrase.to_lowercase();
            let said = sentences
                .iter()
                .any(|(_, text)| text.to_lowercase().contains(&lower));
            assert!(
                said,
                "nobody says `{phrase}` any more: it need not be excused for `{word}`"
            );
        }
    }
}

#[test]
fn every_word_of_the_glossary_is_used_somewhere() {
    let places = [("src", ".rs"), ("schemas", ".json"), ("templates", ".j2")];
    let files = places
        .iter()
        .flat_map(|(folder, extension)| files(folder, extension));
    let texts: Vec<String> = files
        .map(|path| std::fs::read_to_string(path).unwrap().to_lowercase())
        .collect();
    for word in glossary() {
        let lower = word.name.to_lowercase();
        // In code the parts of a name stand apart: `Set::Reproducible`.
        let parts = || lower.split(' ');
        let used = texts
            .iter()
            .any(|text| parts().all(|part| text.contains(part)));
        assert!(used, "`{}` is in the glossary and nowhere else", word.name);
    }
}

#[test]
fn the_rule_finds_what_it_is_for() {
    let alone = alone("warning");
    for found in ["a warning", "Warnings are printed", "(warning)"] {
        assert!(alone.is_match(found), "{found}");
    }
    for other in ["warnings-off", "`warning`", "forewarning"] {
        assert!(!alone.is_match(other), "{other}");
    }
    assert_eq!(
        without_allowed("check", "Check the path; a check"),
        "path; a check"
    );
    assert_eq!(
        strings("f(\"a b\");\n  // \"no\nlet x = \"c \\\n   d\";"),
        ["a b", "c d"]
    );
}
