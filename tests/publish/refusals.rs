//! Why a draft is not published.

use loadlab::model::{Known, Share};
use loadlab::record::{Draft, Inputs, layout};
use loadlab::review::publish::{PublishError, publish_with};
use loadlab::review::refusal::check_with;
use loadlab::review::{Folder, Material};

use super::place::{Place, refusals, render, small};

/// Why a draft with changed inputs is not published.
fn refused(change: impl FnOnce(&mut Inputs)) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let sample = small();
    let mut inputs = sample.inputs();
    change(&mut inputs);
    let draft = Draft::create(root.path(), sample.entry(), &inputs).unwrap();
    sample.go_on(&draft).unwrap();
    let refused = refusals(&draft, &render);
    let error = publish_with(&draft, &root.path().join("results"), &render).unwrap_err();
    assert!(matches!(error, PublishError::Refused(_)));
    assert!(!root.path().join("results").exists(), "nothing was written");
    refused
}

#[test]
fn what_an_entry_needs_is_asked_for_all_at_once() {
    let told = refused(|inputs| {
        let page = &mut inputs.experiment.page;
        page.licence = None;
        page.authors.clear();
        page.finding = None;
        page.limits = vec![" ".to_owned()];
    });
    let missing = ["licence", "authors", "finding", "limits"];
    assert_eq!(
        told,
        missing.map(|key| format!("the manifest has no `{key}`"))
    );
}

#[test]
fn what_was_measured_otherwise_is_not_published() {
    assert_eq!(
        refused(|inputs| inputs.lock = None),
        ["it was measured without a lock"]
    );
    let told = refused(|inputs| inputs.experiment.scale = Some(Share::percent(10)));
    assert_eq!(told, ["a profile scaled it for a rehearsal"]);
    let told = refused(|inputs| inputs.experiment.attempts = 7);
    assert!(
        told[0].starts_with("the method and analysis: the lock has sha256:"),
        "{told:?}"
    );
    let told = refused(|inputs| {
        let phase = inputs.experiment.phases.values_mut().next().unwrap();
        phase.repetitions = 2;
    });
    assert!(
        told.contains(&"only a part of the experiment was planned".to_owned()),
        "{told:?}"
    );
}

/// A draft whose source is as given.
fn refused_source(source: Known<loadlab::record::event::SourceCommit>) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let sample = small();
    let draft = Draft::create(root.path(), sample.entry(), &sample.inputs()).unwrap();
    let mut origin = sample.origin();
    origin.source = source;
    let mut writer = draft.writer().unwrap();
    let opened = draft.opening(origin).unwrap();
    writer
        .append(loadlab::record::Event::Opened(Box::new(opened)))
        .unwrap();
    drop(writer);
    sample.go_on(&draft).unwrap();
    check_with(&draft, &render)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_source_that_cannot_be_named_is_not_published() {
    let mut dirty = small().origin().source.value().unwrap().clone();
    dirty.clean = false;
    let told = refused_source(Known::Value(dirty));
    let expected = "the experiment's folder had changes against commit 0123456789abcdef0123456789abcdef01234567; commit the experiment's folder, then measure again";
    assert_eq!(told, [expected]);
    let told = refused_source(Known::Absent("no repository here".to_owned()));
    let expected = "the commit that the manifest came from is not known: no repository here; commit the experiment's folder, then measure again";
    assert_eq!(told, [expected]);
}

#[test]
fn a_part_is_reported_as_one_gone_on_with_and_then_published() {
    let root = tempfile::tempdir().unwrap();
    let mut sample = small();
    sample.only = vec!["gzip".to_owned()];
    let draft = sample.draft(&root.path().join("runs/sample")).unwrap();
    let material = Material::read(&Folder::open(draft.folder()).unwrap()).unwrap();
    assert!(!material.summary().complete);
    let files = loadlab::review::render(&material).unwrap();
    let all = files.each(|_, content| {
        let mut bytes = Vec::new();
        content.write_to(&mut bytes).map(|()| bytes)
    });
    let page = String::from_utf8_lossy(&all.unwrap()["report/entry.md"]).into_owned();
    assert!(page.contains("of a run that is not complete"), "{page}");
    let told: Vec<String> = check_with(&draft, &render)
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected =
        "1 of 2 blocks are not measured yet; run it to its end with `loadlab run --resume`";
    assert_eq!(told, [expected]);
    sample.only.clear();
    sample.go_on(&draft).unwrap();
    assert_eq!(refusals(&draft, &render), [""; 0]);
    publish_with(&draft, &root.path().join("results"), &render).unwrap();
}

#[test]
fn what_an_entry_would_be_refused_for_is_no_draft_to_publish() {
    let refused = |change: &dyn Fn(&std::path::Path)| {
        let place = Place::of(&small());
        change(place.draft.folder());
        let told = refusals(&place.draft, &render);
        let published = publish_with(&place.draft, &place.results, &render);
        assert!(
            matches!(published, Err(PublishError::Refused(_))),
            "{told:?}"
        );
        assert!(!place.results.exists(), "nothing was written");
        told
    };
    let first_raw = |folder: &std::path::Path| {
        let raw = std::fs::read_dir(folder.join(layout::RAW)).unwrap();
        let mut raw: Vec<_> = raw.map(|file| file.unwrap().path()).collect();
        raw.sort();
        raw.remove(0)
    };
    let changed = refused(&|folder| {
        let path = first_raw(folder);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.push(b'x');
        std::fs::write(&path, bytes).unwrap();
    });
    assert!(
        changed[0].contains("its measurement's record says sha256:"),
        "{changed:?}"
    );
    let gone = refused(&|folder| std::fs::remove_file(first_raw(folder)).unwrap());
    assert!(
        gone[0].contains("it is missing; its measurement's record names it"),
        "{gone:?}"
    );
    let host = refused(&|folder| {
        let path = folder.join(layout::HOST);
        let mut host: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        host["kernel"] = "another one".into();
        std::fs::write(&path, serde_json::to_vec_pretty(&host).unwrap()).unwrap();
    });
    assert!(
        host[0].contains("`host.json`: it is of another machine"),
        "{host:?}"
    );
}

#[test]
fn a_draft_under_other_rules_than_it_began_with_is_not_rendered() {
    let place = Place::of(&small());
    let path = place.draft.folder().join(layout::EXPANDED);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("  ", "   ", 1)).unwrap();
    let error = Material::read(&Folder::open(place.draft.folder()).unwrap()).unwrap_err();
    let told = error.to_string();
    assert!(
        told.starts_with("cannot read `expanded.json`: it has sha256:"),
        "{told}"
    );
}

#[test]
fn an_unfinished_or_damaged_draft_is_not_published() {
    let place = Place::of(&small());
    let path = place.draft.folder().join(layout::RECORDS);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let told = refusals(&place.draft, &render);
    assert_eq!(
        told,
        [
            "line 12 of the records is torn",
            "2 of 2 blocks are not measured yet"
        ]
    );
    let mut bad = whole.clone();
    bad[40] ^= 1;
    std::fs::write(&path, &bad).unwrap();
    let told = refusals(&place.draft, &render);
    assert!(told[0].contains("records.jsonl`, line 1"), "{told:?}");
    std::fs::write(&path, &whole).unwrap();
    std::fs::write(place.draft.folder().join("notes.txt"), "mine").unwrap();
    let told = refusals(&place.draft, &render);
    assert_eq!(told, ["`notes.txt` belongs to no entry"]);
    std::fs::remove_file(place.draft.folder().join("notes.txt")).unwrap();
    let broken = |_: &Material| Err("page.md.j2, line 3: unknown name `valeu`".to_owned());
    let told = refusals(&place.draft, &broken);
    assert_eq!(
        told,
        ["the report does not render: page.md.j2, line 3: unknown name `valeu`"]
    );
}

#[test]
fn a_draft_under_way_is_not_published() {
    let place = Place::of(&small());
    let _writer = place.draft.writer().unwrap();
    assert!(matches!(place.publish(), Err(PublishError::Busy(_))));
}
