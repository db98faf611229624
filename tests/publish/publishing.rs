//! From a draft to an entry: whole or not at all, and its words.

use std::collections::BTreeMap;

use loadlab::record::{Draft, Records, layout};
use loadlab::review::publish::{PublishError, publish_until, publish_with};
use loadlab::review::reproduce::{Reproduction, reproduce_with};
use loadlab::review::verify::verify_with;
use loadlab::review::{Files, Level, Material, index};

use super::place::{Place, faults, files, render, small};

#[test]
fn an_entry_has_every_file_and_verifies() {
    let (_place, entry) = Place::published();
    let names: Vec<String> = files(&entry).into_keys().collect();
    let expected = [
        "SHA256SUMS",
        "engine.json",
        "entry.md.j2",
        "expanded.json",
        "experiment.lock.json",
        "experiment.yaml",
        "host.json",
        "logs/fixed-rate.r01.plain.a1.candidate.main.log",
        "plan.json",
        "raw/fixed-rate.r01.gzip.a1.page.1000-per-s.json",
        "raw/fixed-rate.r01.plain.a1.page.1000-per-s.json",
        "records.jsonl",
        "report/entry.md",
        "summary.json",
    ];
    assert_eq!(names, expected);
    assert!(entry.ends_with("results/sample/2026-11-30-sample"));
    let verification = verify_with(&entry, &render).unwrap();
    let told: Vec<String> = verification
        .levels
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = [
        "ok",
        "ok",
        "not attempted: this version of loadlab does not fetch what a lock pins",
        "not attempted: this version of loadlab does not build data and images again",
        "not attempted: this version of loadlab does not measure an entry again",
    ];
    assert_eq!(told, expected);
    assert!(verification.is_sound());
    assert_eq!(reproduce_with(&entry, &render).unwrap(), Reproduction::Same);
}

#[cfg(target_os = "linux")]
#[test]
fn sha256sum_accepts_the_checksums() {
    let (_place, entry) = Place::published();
    let checked = std::process::Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", layout::SUMS])
        .current_dir(&entry)
        .output()
        .unwrap();
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}

#[test]
fn the_draft_stays_but_for_its_marker() {
    let place = Place::of(&small());
    let before = files(place.draft.folder());
    let entry = place.publish().unwrap();
    let mut after = files(place.draft.folder());
    let marker = after.remove(layout::PUBLISHED).unwrap();
    assert!(
        String::from_utf8(marker)
            .unwrap()
            .contains("\"entry\": \"2026-11-30-sample\"")
    );
    assert_eq!(after, before);
    let ours = &before[layout::RECORDS];
    let sealed = std::fs::read(entry.join(layout::RECORDS)).unwrap();
    assert_eq!(&sealed[..ours.len()], ours.as_slice());
    assert!(place.draft.writer().is_ok(), "publishing lets the draft go");
}

#[test]
fn publishing_twice_makes_the_same_entry_and_touches_nothing() {
    let (place, entry) = Place::published();
    let before = files(&entry);
    std::fs::remove_file(place.draft.folder().join(layout::PUBLISHED)).unwrap();
    assert_eq!(place.publish().unwrap(), entry);
    assert!(
        place.draft.published().unwrap().is_some(),
        "the marker is there again"
    );
    assert_eq!(files(&entry), before);
}

#[test]
fn another_entry_of_the_name_is_not_touched() {
    let place = Place::of(&small());
    let other = place.results.join("sample/2026-11-30-sample");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("precious"), "kept").unwrap();
    assert!(matches!(place.publish(), Err(PublishError::Exists(_))));
    assert_eq!(
        files(&other),
        BTreeMap::from([("precious".to_owned(), b"kept".to_vec())])
    );
}

#[test]
fn killed_anywhere_there_is_no_entry_or_a_whole_one() {
    let whole = {
        let (_place, entry) = Place::published();
        files(&entry)
    };
    let mut stops = 0;
    for steps in 0.. {
        let place = Place::of(&small());
        let entry = place.results.join("sample/2026-11-30-sample");
        let stopped = publish_until(&place.draft, &place.results, &render, steps);
        if entry.exists() {
            assert_eq!(files(&entry), whole, "stopped after {steps} steps");
        }
        assert!(
            index::entries(&place.results).unwrap().len() <= 1,
            "the indexes see no part of one"
        );
        if stopped.is_ok() {
            break;
        }
        stops += 1;
        assert_eq!(
            place.publish().unwrap(),
            entry,
            "after {steps} steps the next try succeeds"
        );
        assert_eq!(files(&entry), whole);
        assert!(place.draft.published().unwrap().is_some());
        let beside: Vec<_> = std::fs::read_dir(entry.parent().unwrap())
            .unwrap()
            .collect();
        assert_eq!(beside.len(), 1, "nothing is left beside the entry");
    }
    assert_eq!(stops, 7);
}

#[test]
fn a_failing_step_leaves_nothing() {
    let place = Place::of(&small());
    let calls = std::cell::Cell::new(0);
    let renderer = |material: &Material| {
        calls.set(calls.get() + 1);
        if calls.get() > 1 {
            Err("the disk is on fire".to_owned())
        } else {
            render(material)
        }
    };
    let error = publish_with(&place.draft, &place.results, &renderer).unwrap_err();
    assert_eq!(error.to_string(), "cannot render: the disk is on fire");
    assert_eq!(
        std::fs::read_dir(place.results.join("sample"))
            .unwrap()
            .count(),
        0
    );
    let outside = |_: &Material| Ok(Files::from([("../evil".to_owned(), Vec::new())]));
    assert!(publish_with(&place.draft, &place.results, &outside).is_err());
    let witness = |_: &Material| Ok(Files::from([("plan.json".to_owned(), Vec::new())]));
    assert!(publish_with(&place.draft, &place.results, &witness).is_err());
    assert!(place.publish().is_ok());
}

#[test]
fn a_finding_written_after_the_measuring_is_published() {
    let place = Place::of(&small());
    let mut page = place.draft.expanded().unwrap().page;
    page.finding.as_mut().unwrap().text = "Now we know.".to_owned();
    place
        .draft
        .take_words(&page, Some(b"More words.\n"))
        .unwrap();
    let entry = place.publish().unwrap();
    let rendered = std::fs::read_to_string(entry.join("report/entry.md")).unwrap();
    assert!(rendered.ends_with("Now we know.\n"));
    assert_eq!(faults(&entry), Vec::<String>::new());
    assert!(
        place.draft.take_words(&page, None).is_err(),
        "an entry's words are never changed"
    );
}

#[test]
fn the_real_renderer_publishes_verifies_and_reproduces() {
    let place = Place::of(&small());
    let entry = loadlab::review::publish(&place.draft, &place.results).unwrap();
    let verification = loadlab::review::verify(&entry).unwrap();
    assert_eq!(verification.levels[..2], [Level::Ok, Level::Ok]);
    assert_eq!(
        loadlab::review::reproduce(&entry).unwrap(),
        Reproduction::Same
    );
    let records: Records = loadlab::record::read(&entry).unwrap().records;
    assert_eq!(records.opened().unwrap().entry, small().entry());
    let rendered = loadlab::review::render_entry(&entry).unwrap();
    let whole = rendered.each(|_, file| {
        let mut bytes = Vec::new();
        file.write_to(&mut bytes).map(|()| bytes)
    });
    for (name, bytes) in whole.unwrap() {
        assert_eq!(std::fs::read(entry.join(&name)).unwrap(), bytes, "{name}");
    }
    let paths = rendered.paths();
    assert!(paths.contains(layout::SUMS) && paths.contains("report/entry.md"));
}

/// What an experiment lays into its `templates/` replaces what is built in, through a real render, and
/// the entry carries it and comes out again with it.
#[test]
fn an_experiments_own_templates_make_its_page_for_ever() {
    let sample = small();
    let mut inputs = sample.inputs();
    for (name, text) in [
        (
            "page.md.j2",
            "# {{ head.title }}\n{% include \"foot.md.j2\" %}",
        ),
        ("foot.md.j2", "\nMade by {{ head.cite }}\n"),
        ("chart.css", ".chart { color-scheme: light; }\n"),
    ] {
        let bytes = text.as_bytes().to_vec();
        inputs.templates.insert(name.to_owned(), bytes);
    }
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("runs/sample");
    let draft = Draft::create(&folder, sample.entry(), &inputs).unwrap();
    sample.go_on(&draft).unwrap();
    let entry = loadlab::review::publish(&draft, &root.path().join("results")).unwrap();
    let read = |name: &str| std::fs::read_to_string(entry.join(name)).unwrap();
    let page = read("report/entry.md");
    assert!(page.starts_with("# "), "{page}");
    assert!(page.contains("\nMade by "), "{page}");
    assert_eq!(page.lines().count(), 3, "{page}");
    let own = ".chart { color-scheme: light; }";
    assert!(read("report/entry.html").contains(own));
    let charts = files(&entry.join("report/charts"));
    assert!(!charts.is_empty());
    for (name, bytes) in &charts {
        assert!(String::from_utf8_lossy(bytes).contains(own), "{name}");
    }
    assert_eq!(
        loadlab::review::reproduce(&entry).unwrap(),
        Reproduction::Same
    );
    std::fs::write(entry.join("templates/foot.md.j2"), "\nMade by nobody\n").unwrap();
    let verification = loadlab::review::verify(&entry).unwrap();
    assert!(matches!(verification.levels[0], Level::Failed(_)));
    assert!(matches!(
        loadlab::review::reproduce(&entry).unwrap(),
        Reproduction::Damaged(faults) if faults.iter().any(|it| it.file == "templates/foot.md.j2")
    ));
}
