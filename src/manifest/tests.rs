//! The loader from the inside: against another YAML reader, and against any text at all.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::findings::Findings;
use super::tree::{Node, Value};
use super::{expand, parse, schema, shape, source};

fn corpus(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/manifests")
        .join(kind);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    assert!(files.len() >= 30, "{} files", files.len());
    files
}

/// Everything that is done with a text; says whether it came to a model.
fn load_text(text: &str) -> bool {
    let mut findings = Findings::default();
    let number = findings.add_source("text".to_owned(), text.to_owned());
    let Some(mut tree) = parse::parse(number, &mut findings) else {
        assert!(findings.has_errors());
        assert!(findings.into_faults().render_text(true).contains("error"));
        return false;
    };
    shape::check(&mut tree, schema::of_manifest(), &mut findings);
    source::merge_defaults(&mut tree);
    let wire = source::wire(&tree, &mut findings);
    let folder = PathBuf::from("/nonexistent");
    let made = wire.map(|wire| {
        expand::expand(
            wire,
            &tree,
            &expand::Machine::default(),
            folder,
            &mut findings,
        )
    });
    let loads = made.is_some() && !findings.has_errors();
    let faults = findings.into_faults();
    assert!(loads || faults.render_text(true).contains("error"));
    assert!(
        faults
            .diagnostics
            .iter()
            .all(|fault| fault.code.code() != "L112"),
        "{faults}"
    );
    loads
}

/// The tree as the other reader would have it, `x-` keys included.
fn as_json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Mapping(entries) => entries
            .iter()
            .map(|(key, entry)| (key.clone(), as_json(&entry.node)))
            .collect(),
        Value::List(items) => items.iter().map(as_json).collect(),
        _ => node.json(),
    }
}

#[test]
fn valid_manifests_read_as_another_yaml_reader_reads_them() {
    for path in corpus("valid") {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut findings = Findings::default();
        let number = findings.add_source("text".to_owned(), text.clone());
        let tree = parse::parse(number, &mut findings).unwrap();
        let other: serde_json::Value = yaml_serde::from_str(&text).unwrap();
        assert_eq!(as_json(&tree), other, "{}", path.display());
    }
}

#[test]
fn every_place_of_a_scalar_holds_its_text() {
    for path in corpus("valid") {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut findings = Findings::default();
        let number = findings.add_source("text".to_owned(), text);
        let tree = parse::parse(number, &mut findings).unwrap();
        holds(&tree, &findings, &path);
    }
}

fn holds(node: &Node, findings: &Findings, path: &Path) {
    match &node.value {
        Value::Mapping(entries) => {
            for (key, entry) in entries {
                let written = findings.slice(entry.key);
                assert!(
                    written.trim_matches(['"', '\'']) == key,
                    "{}: {written} {key}",
                    path.display()
                );
                holds(&entry.node, findings, path);
            }
        }
        Value::List(items) => items.iter().for_each(|item| holds(item, findings, path)),
        Value::Integer(number) => assert_eq!(findings.slice(node.span), number.to_string()),
        _ => {}
    }
}

#[test]
fn ten_thousand_lines_are_read_whole() {
    let text = long_manifest(10_000);
    assert!(text.lines().count() >= 10_000);
    assert!(load_text(&text));
}

/// A manifest with so many lines, most of them candidates and scenarios.
fn long_manifest(lines: usize) -> String {
    let mut text = String::from(
        "version: v1\nname: long\ntitle: long\nquestion: long?\nauthors: [{name: The loadlab authors}]\n\
         cores: {candidate: \"0\", load: \"1\"}\ncandidates:\n",
    );
    for number in 0..lines / 10 {
        text.push_str(&format!(
            "  candidate-{number}:\n    title: number {number}\n    run:\n      kind: process\n      \
             command: [serve, --port, \"{{{{ port }}}}\", --level, \"{{{{ value.level }}}}\"]\n    \
             values:\n      level: {number}\n    ready: {{kind: http, path: /ready, within: 5s}}\n"
        ));
    }
    text.push_str("scenarios:\n");
    for number in 0..lines / 20 {
        text.push_str(&format!(
            "  scenario-{number}:\n    request:\n      path: /{number}\n    expect: {{status: 200}}\n"
        ));
    }
    text.push_str(
        "phases:\n  top:\n    load: {kind: ceiling, connections: [16, 64], duration: 1s}\n    repetitions: 1\n",
    );
    text
}

#[test]
#[ignore = "prints how long it takes; run it in release"]
fn how_long_ten_thousand_lines_take() {
    for lines in [2_500, 5_000, 10_000, 20_000] {
        let text = long_manifest(lines);
        let begin = std::time::Instant::now();
        assert!(load_text(&text));
        println!("{lines} lines, {} bytes: {:?}", text.len(), begin.elapsed());
        let broken = text.replace("status: 200", "statu: 200");
        let begin = std::time::Instant::now();
        assert!(!load_text(&broken));
        println!(
            "{lines} lines with {} faults: {:?}",
            lines / 20,
            begin.elapsed()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        load_text(&text);
    }

    #[test]
    fn any_bytes_of_yaml_are_answered(text in "[-:?\\[\\]{},#&*!|>'\"%@` \n\t a-c0-9.~<]{0,120}") {
        load_text(&text);
    }

    #[test]
    fn a_manifest_with_a_piece_changed_is_answered(
        which in 0_usize..1000,
        at in 0_usize..10_000,
        length in 0_usize..30,
        piece in "(\n  |: |\\[|\\{|\"|- |~|x|0|5|\\{\\{ |[a-z]{1,6}|\t|\\PC){0,3}",
    ) {
        let files = corpus("valid");
        let mut text = std::fs::read_to_string(&files[which % files.len()]).unwrap();
        let start = text.floor_char_boundary(at % (text.len() + 1));
        let end = text.floor_char_boundary((start + length).min(text.len()));
        text.replace_range(start..end, &piece);
        load_text(&text);
    }
}
