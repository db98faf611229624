//! From a draft to an entry and back: publishing, verifying, reproducing, excluding, indexing.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loadlab::model::{GuardCode, Known, Share};
use loadlab::record::sample::{Fault, Sample};
use loadlab::record::{Draft, Inputs, Records, layout};
use loadlab::review::compare::Difference;
use loadlab::review::publish::{PublishError, publish_until, publish_with};
use loadlab::review::refusal::check_with;
use loadlab::review::reproduce::{Reproduction, reproduce_with};
use loadlab::review::status::{self, Standing, Status};
use loadlab::review::verify::verify_with;
use loadlab::review::{Files, Level, Material, exclude, index};

/// A renderer of two small files: the real summary, and a page that counts.
fn render(material: &Material) -> Result<Files, String> {
    let summary = material.summary();
    let mut json = serde_json::to_vec_pretty(&summary).map_err(|error| error.to_string())?;
    json.push(b'\n');
    let kept: u64 = summary.counts.iter().map(|counts| counts.kept).sum();
    let finding = material
        .experiment
        .page
        .finding
        .as_ref()
        .map_or("none", |it| it.text.as_str());
    let page = format!(
        "# {}\n\n{kept} blocks kept.\n\n{finding}\n",
        material.experiment.page.title
    );
    Ok(Files::from([
        (layout::SUMMARY.to_owned(), json),
        ("report/entry.md".to_owned(), page.into_bytes()),
    ]))
}

fn small() -> Sample {
    Sample {
        rounds: 1,
        window_s: 1,
        ..Sample::default()
    }
}

struct Place {
    _root: tempfile::TempDir,
    draft: Draft,
    results: PathBuf,
}

impl Place {
    fn of(sample: &Sample) -> Self {
        let root = tempfile::tempdir().unwrap();
        let draft = sample.draft(&root.path().join("runs/sample")).unwrap();
        let results = root.path().join("results");
        Self {
            _root: root,
            draft,
            results,
        }
    }

    fn published() -> (Self, PathBuf) {
        let place = Self::of(&small());
        let entry = place.publish().unwrap();
        (place, entry)
    }

    fn publish(&self) -> Result<PathBuf, PublishError> {
        publish_with(&self.draft, &self.results, &render)
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

/// The faults of V0, as printed.
fn faults(entry: &Path) -> Vec<String> {
    match &verify_with(entry, &render).unwrap().levels[0] {
        Level::Failed(faults) => faults.iter().map(ToString::to_string).collect(),
        Level::Ok => Vec::new(),
        Level::NotAttempted(reason) => panic!("V0 is always attempted: {reason}"),
    }
}

fn named(entry: &Path) -> Vec<String> {
    match &verify_with(entry, &render).unwrap().levels[0] {
        Level::Failed(faults) => faults.iter().map(|fault| fault.file.clone()).collect(),
        _ => Vec::new(),
    }
}

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
fn any_flipped_byte_is_found_and_named() {
    let (_place, entry) = Place::published();
    for (name, good) in files(&entry) {
        let spread = (0..8).map(|part| part * (good.len() - 1) / 7);
        for at in spread.chain([good.len() - 1]) {
            for bit in [0x01, 0x20, 0x80] {
                let mut bad = good.clone();
                bad[at] ^= bit;
                std::fs::write(entry.join(&name), &bad).unwrap();
                let verification = verify_with(&entry, &render).unwrap();
                let told: Vec<String> = verification.levels[..2]
                    .iter()
                    .filter_map(|level| match level {
                        Level::Failed(faults) => {
                            Some(faults.iter().map(|fault| fault.file.clone()))
                        }
                        _ => None,
                    })
                    .flatten()
                    .collect();
                assert!(
                    told.contains(&name),
                    "byte {at} of {name} with {bit:#x}: {told:?}"
                );
                assert!(!verification.is_sound());
            }
        }
        std::fs::write(entry.join(&name), &good).unwrap();
    }
    assert_eq!(faults(&entry), Vec::<String>::new());
}

/// Writes the checksums anew, as somebody would who hides an edit.
fn renew_sums(entry: &Path) {
    let sums = files(entry)
        .into_iter()
        .filter(|(name, _)| name != layout::SUMS);
    let sums = sums
        .map(|(name, bytes)| (name, loadlab::model::Digest::of(&bytes)))
        .collect();
    std::fs::write(entry.join(layout::SUMS), loadlab::review::sums::text(&sums)).unwrap();
}

#[test]
fn an_edit_with_its_sums_renewed_is_found_by_seal_and_chain() {
    let (_place, entry) = Place::published();
    for name in ["host.json", "ledger.jsonl", "logs/new.log"] {
        let path = entry.join(name);
        let before = std::fs::read(&path).ok();
        std::fs::write(&path, "{}\n").unwrap();
        renew_sums(&entry);
        assert!(named(&entry).contains(&name.to_owned()), "{name}");
        match before {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        renew_sums(&entry);
    }
    let path = entry.join(layout::RECORDS);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replacen("\"cpu_ns\":30000000", "\"cpu_ns\":30000001", 1),
    )
    .unwrap();
    renew_sums(&entry);
    let told = faults(&entry);
    assert!(
        told[0].starts_with("`records.jsonl`: line 13: the line before has digest sha256:"),
        "{told:?}"
    );
    // The last line taken away: the chain holds, but nothing seals it.
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.pop();
    std::fs::write(&path, lines.concat()).unwrap();
    renew_sums(&entry);
    let expected =
        "`records.jsonl`: the last record is no seal: this is a draft, or its end was cut off";
    assert_eq!(faults(&entry), [expected]);
}

#[test]
fn a_missing_file_is_named() {
    let (_place, entry) = Place::published();
    for (name, bytes) in files(&entry) {
        std::fs::remove_file(entry.join(&name)).unwrap();
        let told = faults(&entry);
        assert!(
            told.iter().any(|fault| fault.contains(&name)),
            "{name}: {told:?}"
        );
        std::fs::write(entry.join(&name), bytes).unwrap();
    }
}

#[test]
fn a_strangers_entry_is_read_without_following_anything() {
    let (place, entry) = Place::published();
    let secret = place.results.join("secret");
    std::fs::write(&secret, "secret").unwrap();
    std::os::unix::fs::symlink(&secret, entry.join("logs/link.log")).unwrap();
    std::os::unix::fs::symlink(place.results.join(".."), entry.join("templates")).unwrap();
    let pipe = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, entry.join("raw/pipe"), pipe, mode, 0).unwrap();
    std::fs::File::create(entry.join("raw/huge"))
        .unwrap()
        .set_len(1 << 33)
        .unwrap();
    std::fs::write(entry.join("logs/\u{1b}[31m.log"), "").unwrap();
    std::fs::write(entry.join("run.sh"), "").unwrap();
    let told = faults(&entry).join("\n");
    for expected in [
        "`logs/link.log`: it is a symbolic link",
        "`templates`: it is a symbolic link",
        "`raw/pipe`: it is no file but a pipe",
        "`raw/huge`: it has 8589934592 bytes, expected at most 4294967296",
        "`logs/\\u{1b}[31m.log`: its name is not plain printable ASCII",
        "`run.sh`: no entry has such a file",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    assert!(!told.contains("secret"));
}

#[test]
fn a_required_file_that_is_a_link_or_pipe_is_refused() {
    for name in [
        layout::RECORDS,
        layout::EXPANDED,
        layout::SUMS,
        layout::PLAN,
    ] {
        let (place, entry) = Place::published();
        let moved = place.results.join("moved");
        std::fs::rename(entry.join(name), &moved).unwrap();
        std::os::unix::fs::symlink(&moved, entry.join(name)).unwrap();
        assert!(named(&entry).contains(&name.to_owned()), "{name}");
        assert!(
            !matches!(reproduce_with(&entry, &render), Ok(Reproduction::Same)),
            "{name}"
        );
        std::fs::remove_file(entry.join(name)).unwrap();
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            entry.join(name),
            pipe,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert!(named(&entry).contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn a_page_that_comes_out_otherwise_is_named_with_its_first_byte() {
    let (_place, entry) = Place::published();
    let page = entry.join("report/entry.md");
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, text.replace("2 blocks", "3 blocks")).unwrap();
    renew_sums(&entry);
    let Reproduction::Different(different) = reproduce_with(&entry, &render).unwrap() else {
        panic!("it does not reproduce");
    };
    let names: Vec<&str> = different.iter().map(|it| it.file.as_str()).collect();
    assert_eq!(names, ["SHA256SUMS", "report/entry.md"]);
    let Difference::At {
        line,
        column,
        offset,
        found,
        rendered,
    } = &different[1].difference
    else {
        panic!("its bytes differ");
    };
    assert_eq!((*line, *column, *offset), (3, 1, 17));
    assert_eq!(found, "# A made-up run\\n\\n3 blocks kept.\\n\\nNothing ");
    assert_eq!(
        rendered,
        "# A made-up run\\n\\n2 blocks kept.\\n\\nNothing "
    );
    std::fs::write(entry.join("report/extra.md"), "").unwrap();
    renew_sums(&entry);
    let Level::Failed(faults) = &verify_with(&entry, &render).unwrap().levels[1] else {
        panic!("V1 fails");
    };
    let extra = faults
        .iter()
        .find(|fault| fault.file == "report/extra.md")
        .unwrap();
    assert_eq!(extra.what, "is there but not rendered");
}

/// Why a draft with changed inputs is not published.
fn refused(change: impl FnOnce(&mut Inputs)) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let sample = small();
    let mut inputs = sample.inputs();
    change(&mut inputs);
    let draft = Draft::create(root.path(), sample.entry(), &inputs).unwrap();
    sample.go_on(&draft).unwrap();
    let refusals = check_with(&draft, &render);
    let error = publish_with(&draft, &root.path().join("results"), &render).unwrap_err();
    assert!(matches!(error, PublishError::Refused(_)));
    assert!(!root.path().join("results").exists(), "nothing was written");
    refusals
        .iter()
        .map(|refusal| refusal.what.clone())
        .collect()
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
fn an_unfinished_or_damaged_draft_is_not_published() {
    let place = Place::of(&small());
    let path = place.draft.folder().join(layout::RECORDS);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let told: Vec<String> = check_with(&place.draft, &render)
        .into_iter()
        .map(|it| it.what)
        .collect();
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
    let told = check_with(&place.draft, &render);
    assert!(told[0].what.contains("records.jsonl`, line 1"), "{told:?}");
    std::fs::write(&path, &whole).unwrap();
    std::fs::write(place.draft.folder().join("notes.txt"), "mine").unwrap();
    let told: Vec<String> = check_with(&place.draft, &render)
        .into_iter()
        .map(|it| it.what)
        .collect();
    assert_eq!(told, ["`notes.txt` belongs to no entry"]);
    std::fs::remove_file(place.draft.folder().join("notes.txt")).unwrap();
    let broken = |_: &Material| Err("page.md.j2, line 3: unknown name `valeu`".to_owned());
    let told: Vec<String> = check_with(&place.draft, &broken)
        .into_iter()
        .map(|it| it.what)
        .collect();
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

const PLAIN: &str = "fixed-rate.r01.plain.a1";

fn exclude_from(draft: &Draft, what: &str) -> Result<(), String> {
    let excluded = exclude(
        draft.folder(),
        what,
        "the cat sat on it",
        "A. Author",
        "2026-12-01",
    );
    excluded.map(drop).map_err(|error| error.to_string())
}

#[test]
fn an_exclusion_is_added_and_nothing_is_deleted() {
    let place = Place::of(&small());
    let before = files(place.draft.folder());
    exclude_from(&place.draft, PLAIN).unwrap();
    exclude_from(&place.draft, "fixed-rate.r01.gzip.a1/page.1000-per-s").unwrap();
    let mut after = files(place.draft.folder());
    let ledger = String::from_utf8(after.remove(layout::LEDGER).unwrap()).unwrap();
    let expected = concat!(
        r#"{"attempt":{"block":{"phase":"fixed-rate","round":1,"candidate":"plain"},"attempt":1},"measurement":null,"because":"the cat sat on it","by":"A. Author","on":"2026-12-01"}"#,
        "\n",
        r#"{"attempt":{"block":{"phase":"fixed-rate","round":1,"candidate":"gzip"},"attempt":1},"measurement":{"scenario":"page","at":"1000/s"},"because":"the cat sat on it","by":"A. Author","on":"2026-12-01"}"#,
        "\n",
    );
    assert_eq!(ledger, expected);
    assert_eq!(after, before);
}

#[test]
fn an_exclusion_needs_a_thing_a_reason_a_person_and_a_day() {
    let place = Place::of(&small());
    let told = exclude_from(&place.draft, "fixed-rate.r01.plane.a1").unwrap_err();
    assert_eq!(
        told,
        format!(
            "there is no attempt or measurement `fixed-rate.r01.plane.a1` in this draft; the nearest is `{PLAIN}`"
        )
    );
    let told = exclude_from(&place.draft, &format!("{PLAIN}/page.100-per-s")).unwrap_err();
    assert!(
        told.ends_with(&format!("the nearest is `{PLAIN}/page.1000-per-s`")),
        "{told}"
    );
    let folder = place.draft.folder();
    for (because, by, on, expected) in [
        (
            " ",
            "A",
            "2026-12-01",
            "a decision needs a reason: one line that is not empty",
        ),
        (
            "x",
            "",
            "2026-12-01",
            "a decision needs the name of who decides: one line that is not empty",
        ),
        (
            "x\u{1b}[31m",
            "A",
            "2026-12-01",
            "a decision needs a reason: one line that is not empty",
        ),
        (
            "x",
            "A",
            "2026-02-30",
            "expected a day as `YYYY-MM-DD`, found `2026-02-30`",
        ),
        (
            "x",
            "A",
            "today",
            "expected a day as `YYYY-MM-DD`, found `today`",
        ),
    ] {
        let error = exclude(folder, PLAIN, because, by, on).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert!(!folder.join(layout::LEDGER).exists());
    exclude_from(&place.draft, PLAIN).unwrap();
    let told = exclude_from(&place.draft, PLAIN).unwrap_err();
    assert_eq!(
        told,
        format!("`{PLAIN}` is excluded already, by A. Author on 2026-12-01: the cat sat on it")
    );
}

#[test]
fn nothing_is_excluded_from_what_is_published() {
    let (place, entry) = Place::published();
    let before = files(&entry);
    let told = exclude_from(&place.draft, PLAIN).unwrap_err();
    assert!(
        told.contains("`2026-11-30-sample` is published and never changed. The way out:"),
        "{told}"
    );
    assert!(exclude(&entry, PLAIN, "x", "A", "2026-12-01").is_err());
    assert_eq!(files(&entry), before);
}

#[test]
fn an_exclusion_that_nobody_explained_is_not_published() {
    let place = Place::of(&small());
    exclude_from(&place.draft, PLAIN).unwrap();
    let path = place.draft.folder().join(layout::LEDGER);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("the cat sat on it", "")).unwrap();
    let told: Vec<String> = check_with(&place.draft, &render)
        .into_iter()
        .map(|it| it.what)
        .collect();
    let expected = format!(
        "the exclusion of `{PLAIN}` is not explained: a decision needs a reason: one line that is not empty"
    );
    assert_eq!(told, [expected]);
}

#[test]
fn the_index_of_exclusions_shows_what_does_not_count() {
    let sample = Sample {
        rounds: 1,
        window_s: 1,
        ..Sample::default()
    }
    .with_fault("fixed-rate.r01.gzip.a1", Fault::Breach(GuardCode::Steal));
    let place = Place::of(&sample);
    let repository = place.results.parent().unwrap();
    std::fs::create_dir_all(&place.results).unwrap();
    for (path, text) in index::files(repository).unwrap() {
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(index::check(repository).unwrap(), []);
    exclude(
        place.draft.folder(),
        PLAIN,
        "a | cat <b>sat</b> on it",
        "A. Author",
        "2026-12-01",
    )
    .unwrap();
    place.publish().unwrap();
    let stale = index::check(repository).unwrap();
    assert_eq!(stale.len(), 2);
    let excluded = index::excluded(&place.results).unwrap();
    assert!(
        excluded.contains("## sample/2026-11-30-sample\n"),
        "{excluded}"
    );
    let row = "| fixed-rate.r01.plain.a1 | whole block | manual | a \\| cat \\<b\\>sat\\</b\\> on it | A. Author | 2026-12-01 |\n";
    assert!(excluded.contains(row), "{excluded}");
    assert!(
        excluded.contains("| fixed-rate.r01.gzip.a1 |"),
        "{excluded}"
    );
}

#[test]
fn a_status_is_shown_by_the_index_and_never_touches_an_entry() {
    let (place, entry) = Place::published();
    let row = |status: &str| {
        format!(
            "| sample | [2026-11-30-sample](sample/2026-11-30-sample/report/entry.md) | A made-up run | 2026-11-30 | {status} |\n"
        )
    };
    assert!(
        index::results(&place.results)
            .unwrap()
            .ends_with(&row("current"))
    );
    let status = Status {
        status: Standing::Withdrawn,
        because: "it was made up".to_owned(),
        by: "A. Author".to_owned(),
        on: "2026-12-02".to_owned(),
    };
    status::write(&entry, &status).unwrap();
    assert_eq!(status::read(&entry).unwrap(), Some(status));
    assert!(
        index::results(&place.results)
            .unwrap()
            .ends_with(&row("withdrawn: it was made up"))
    );
    assert_eq!(
        faults(&entry),
        Vec::<String>::new(),
        "a status never touches an entry"
    );
}

#[test]
fn a_draft_has_no_status_and_strays_are_named() {
    let place = Place::of(&small());
    let status = Status {
        status: Standing::Superseded,
        because: "x".to_owned(),
        by: "A".to_owned(),
        on: "2026-12-02".to_owned(),
    };
    let told = status::write(place.draft.folder(), &status)
        .unwrap_err()
        .to_string();
    assert!(told.ends_with("is no published entry"), "{told}");
    std::fs::create_dir_all(place.results.join("sample/2026-11-30-other")).unwrap();
    let told = index::excluded(&place.results).unwrap_err().to_string();
    assert!(
        told.ends_with("is neither an entry nor the status of one; move it away"),
        "{told}"
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
    for (name, bytes) in &rendered {
        assert_eq!(&std::fs::read(entry.join(name)).unwrap(), bytes, "{name}");
    }
    assert!(rendered.contains_key(layout::SUMS) && rendered.contains_key("report/entry.md"));
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
