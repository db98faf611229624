//! The corpus of manifests: one fact a file, the whole answer of the loader in a snapshot.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use loadlab::manifest::{self, Diagnostic, Faults, Loaded, Severity};
use serde_json::Value;

/// The files of one half of the corpus, relative to the repository, sorted.
fn corpus(kind: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(Path::new("tests/data/manifests").join(kind))
        .expect("the corpus is there");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder can be listed").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Loads a file of the corpus with the profile that its first line names.
fn load(path: &Path) -> Result<Loaded, Faults> {
    let bytes = std::fs::read(path).expect("the corpus can be read");
    let text = String::from_utf8_lossy(&bytes);
    let profile = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("# profile: "));
    manifest::load(path, profile)
}

fn faults(path: &Path) -> Faults {
    match load(path) {
        Ok(_) => panic!("{} is accepted", path.display()),
        Err(faults) => faults,
    }
}

fn loaded(path: &Path) -> Loaded {
    load(path).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn the_corpus_is_large_enough() {
    assert!(corpus("valid").len() >= 30);
    assert!(corpus("invalid").len() >= 120);
}

#[test]
fn every_invalid_manifest_is_answered_as_its_snapshot_says() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path("snapshots/manifests");
    settings.set_omit_expression(true);
    settings.bind(|| {
        for path in corpus("invalid") {
            insta::assert_snapshot!(stem(&path), faults(&path).render_text(false));
        }
    });
}

#[test]
fn every_valid_manifest_loads_with_the_notes_of_the_snapshot() {
    let mut noted = String::new();
    for path in corpus("valid") {
        for note in loaded(&path).notes {
            assert_eq!(note.severity, Severity::Note);
            noted.push_str(&format!("{}: {note}\n", stem(&path)));
        }
    }
    insta::assert_snapshot!("notes_of_valid_manifests", noted);
}

#[test]
fn defaults_are_filled_in_as_the_snapshot_says() {
    for name in [
        "minimal",
        "nginx-gzip",
        "profile-that-scales",
        "members-that-talk",
        "stub-with-every-fault",
        "standards-of-every-kind",
    ] {
        let path = PathBuf::from(format!("tests/data/manifests/valid/{name}.yaml"));
        insta::assert_json_snapshot!(format!("expanded_{name}"), loaded(&path).experiment);
    }
}

#[test]
fn an_expanded_model_reads_back_as_itself() {
    for path in corpus("valid") {
        let experiment = loaded(&path).experiment;
        let text = serde_json::to_string(&experiment).unwrap();
        let back: loadlab::model::Experiment = serde_json::from_str(&text).unwrap();
        assert_eq!(back, experiment, "{}", path.display());
    }
}

#[test]
fn every_code_has_a_file_that_shows_it() {
    let mut shown = BTreeSet::from([
        // Files that cannot be in a repository: tested below.
        "L001", "L004",
        // Stands for a gap in the checks; the loader's own tests assert that nothing reaches it.
        "L112",
    ]);
    let answers = corpus("invalid")
        .iter()
        .map(|path| faults(path).diagnostics)
        .collect::<Vec<_>>();
    let notes = corpus("valid")
        .iter()
        .map(|path| loaded(path).notes)
        .collect::<Vec<_>>();
    shown.extend(
        answers
            .iter()
            .chain(&notes)
            .flatten()
            .map(|fault| fault.code.code()),
    );
    let codes: BTreeSet<&str> = manifest::codes().iter().map(|code| code.code()).collect();
    assert_eq!(codes, shown);
}

#[test]
fn every_code_explains_itself() {
    for code in manifest::codes() {
        let explanation = manifest::explain(code.code()).unwrap();
        assert!(
            explanation.meaning.ends_with('.') && explanation.remedy.ends_with(['.', '`']),
            "{code}"
        );
    }
    assert!(manifest::explain("L999").is_none());
}

#[test]
fn nine_faults_are_reported_each_at_its_place() {
    let faults = faults(Path::new("tests/data/manifests/invalid/nine-faults.yaml"));
    let place = |fault: &Diagnostic| {
        let place = fault.place.as_ref().unwrap();
        (fault.code.code(), place.line, place.column)
    };
    let places: Vec<_> = faults.diagnostics.iter().map(place).collect();
    let expected = [
        ("L106", 2, 7),
        ("L201", 6, 31),
        ("L104", 8, 21),
        ("L212", 9, 48),
        ("L101", 11, 10),
        ("L105", 14, 44),
        ("L107", 15, 18),
        ("L104", 16, 8),
        ("L105", 17, 11),
    ];
    assert_eq!(places, expected, "{faults}");
}

/// The manifest as a reader without opinions has it; absent where the text itself is at fault.
fn as_json(path: &Path) -> Option<Value> {
    yaml_serde::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

#[test]
fn a_complete_validator_agrees_with_the_loader() {
    let validator = jsonschema::validator_for(&manifest::schema()).unwrap();
    for path in corpus("valid") {
        let json = as_json(&path).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&json)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
    for path in corpus("invalid") {
        let faults = faults(&path);
        let codes: Vec<&str> = faults
            .diagnostics
            .iter()
            .map(|fault| fault.code.code())
            .collect();
        let of_text = codes.iter().any(|code| code.starts_with("L0"));
        let in_profile = faults.diagnostics.iter().any(|fault| {
            fault
                .place
                .as_ref()
                .is_some_and(|place| place.file.contains("profiles/"))
        });
        if of_text || in_profile {
            continue;
        }
        let structural = codes.iter().any(|code| code.starts_with("L1"));
        let json = as_json(&path).unwrap();
        assert_eq!(
            validator.is_valid(&json),
            !structural,
            "{}: {codes:?}",
            path.display()
        );
    }
}

#[test]
fn the_committed_schemas_are_current() {
    let kinds = [
        ("experiment.v1", manifest::schema()),
        ("profile.v1", manifest::profile_schema()),
    ];
    for (name, schema) in kinds {
        let path = format!("schemas/{name}.json");
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap();
        assert!(
            committed == text,
            "`loadlab schema` prints another one than {path}"
        );
    }
}

const CLASSES: [&str; 5] = ["cosmetic", "analysis", "extension", "environment", "method"];

/// Calls back with every property of a schema and where it is.
fn properties(schema: &Value, at: &str, found: &mut dyn FnMut(&str, &Value)) {
    let Some(members) = schema.as_object() else {
        return;
    };
    for (keyword, value) in members {
        let at = format!("{at}/{keyword}");
        match (keyword.as_str(), value) {
            ("properties", Value::Object(named)) => {
                for (name, property) in named {
                    let at = format!("{at}/{name}");
                    found(&at, property);
                    properties(property, &at, found);
                }
            }
            ("examples" | "enum", _) => {}
            (_, Value::Array(parts)) => parts.iter().for_each(|part| properties(part, &at, found)),
            (_, Value::Object(named)) if keyword == "$defs" => {
                named
                    .iter()
                    .for_each(|(name, part)| properties(part, &format!("{at}/{name}"), found));
            }
            (_, part) => properties(part, &at, found),
        }
    }
}

#[test]
fn every_property_has_a_description_an_example_and_a_class() {
    for schema in [manifest::schema(), manifest::profile_schema()] {
        let mut count = 0;
        properties(&schema, "", &mut |at, property| {
            count += 1;
            let described = property["description"]
                .as_str()
                .is_some_and(|text| text.ends_with('.'));
            assert!(described, "{at} has no description");
            let class = property["x-change-class"].as_str();
            assert!(
                class.is_some_and(|class| CLASSES.contains(&class)),
                "{at} has no class"
            );
            let mut alone = property.clone();
            alone["$defs"] = schema["$defs"].clone();
            let validator = jsonschema::validator_for(&alone).unwrap();
            let examples = property["examples"]
                .as_array()
                .unwrap_or_else(|| panic!("{at} has no example"));
            for example in examples {
                assert!(
                    validator.is_valid(example),
                    "{at}: {example} is no example of itself"
                );
            }
        });
        assert!(count > 2, "{count} properties");
    }
}

#[test]
fn a_new_experiment_is_valid_and_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in manifest::new_experiment(&"first".parse().unwrap()) {
        std::fs::write(folder.path().join(path), text).unwrap();
    }
    let loaded = manifest::load(folder.path(), None).unwrap_or_else(|faults| panic!("{faults}"));
    assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
    assert_eq!(
        (loaded.experiment.name.as_str(), loaded.stem.as_str()),
        ("first", "experiment")
    );
    assert_eq!(loaded.folder, folder.path());
}

#[test]
fn what_cannot_be_in_a_repository_is_refused_too() {
    let folder = tempfile::tempdir().unwrap();
    let code = |path: &Path| {
        manifest::load(path, None).unwrap_err().diagnostics[0]
            .code
            .code()
    };
    assert_eq!(code(&folder.path().join("none.yaml")), "L001");
    assert_eq!(code(folder.path()), "L001");
    let large = folder.path().join("large.yaml");
    std::fs::write(&large, vec![b'#'; (4 << 20) + 1]).unwrap();
    assert_eq!(code(&large), "L004");
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(code(&pipe), "L001");
    let text = std::fs::read_to_string("tests/data/manifests/valid/expected-body-from-a-file.yaml")
        .unwrap();
    let manifest = folder.path().join("experiment.yaml");
    std::fs::write(&manifest, text.replace("files/page.html", "pipe")).unwrap();
    assert_eq!(code(&manifest), "L209");
}

#[test]
fn nothing_of_a_manifest_reaches_a_terminal_alive() {
    for path in corpus("invalid") {
        let shown = faults(&path).render_text(false);
        let alive = |character: char| character.is_control() && character != '\n';
        assert!(!shown.contains(alive), "{}: {shown:?}", path.display());
    }
}

#[test]
fn faults_are_given_as_json() {
    let faults = faults(Path::new("tests/data/manifests/invalid/duplicate-key.yaml"));
    insta::assert_json_snapshot!("faults_as_json", faults);
}

#[test]
fn files_are_listed_with_what_they_held() {
    let path = Path::new("tests/data/manifests/valid/process-with-everything.yaml");
    let files = loaded(path).experiment.files;
    insta::assert_json_snapshot!("files_of_a_manifest", files);
}

#[test]
fn a_profile_is_kept_as_it_was_merged() {
    let inline = loaded(Path::new(
        "tests/data/manifests/valid/profile-in-the-manifest.yaml",
    ));
    let profile = inline.profile.unwrap();
    assert_eq!(profile.name, "laptop");
    let json: Value = serde_json::from_slice(&profile.bytes).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"cores": {"candidate": "2-3", "load": "4"}})
    );
    let beside = loaded(Path::new(
        "tests/data/manifests/valid/profile-in-a-file.yaml",
    ));
    let bytes = std::fs::read("tests/data/manifests/valid/profiles/bench.yaml").unwrap();
    assert_eq!(beside.profile.unwrap().bytes, bytes);
    assert_eq!(beside.experiment.cores.len(), 2);
}
