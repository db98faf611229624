//! A draft on disk: what was written is read back, one writer at a time, nothing written over.

use loadlab::record::event::Event;
use loadlab::record::sample::Sample;
use loadlab::record::{Draft, Journal, MemoryJournal, WriteError, layout, read};

/// A sample of one round.
pub fn one_round() -> Sample {
    Sample {
        rounds: 1,
        ..Sample::default()
    }
}

pub fn draft(sample: &Sample) -> (tempfile::TempDir, Draft) {
    let root = tempfile::tempdir().unwrap();
    let draft = sample.draft(root.path()).unwrap();
    (root, draft)
}

pub fn bytes(draft: &Draft) -> Vec<u8> {
    std::fs::read(draft.folder().join(layout::RECORDS)).unwrap()
}

#[test]
fn what_was_written_is_read_back() {
    let sample = Sample {
        rounds: 2,
        ..Sample::default()
    };
    let (_root, draft) = draft(&sample);
    let on_disk = read(draft.folder()).unwrap();
    let mut journal = MemoryJournal::default();
    let opened = draft.opening(sample.origin()).unwrap();
    journal.append(Event::Opened(Box::new(opened))).unwrap();
    let begun = journal.records();
    sample.drive(&mut journal, &begun, None).unwrap();
    assert_eq!(on_disk.torn, None);
    assert_eq!(on_disk.records, journal.records());
}

#[test]
fn every_raw_file_is_what_its_record_says() {
    let (_root, draft) = draft(&one_round());
    let records = draft.records().unwrap().records;
    let raw: Vec<_> = (records.attempts().values())
        .flat_map(|attempt| attempt.measured.iter().flat_map(|measured| &measured.raw))
        .cloned()
        .collect();
    assert_eq!(raw.len(), 2);
    for file in &raw {
        loadlab::record::draft::read_raw(draft.folder(), file).unwrap();
    }
    std::fs::write(draft.folder().join(&raw[0].file), "other").unwrap();
    assert!(loadlab::record::draft::read_raw(draft.folder(), &raw[0]).is_err());
}

#[test]
fn a_draft_has_one_writer_at_a_time() {
    let (_root, draft) = draft(&one_round());
    let first = draft.writer().unwrap();
    let Err(WriteError::Busy { holder, .. }) = draft.writer() else {
        panic!("two writers")
    };
    assert_eq!(
        holder,
        format!("another loadlab, process {}", std::process::id())
    );
    drop(first);
    draft.writer().unwrap();
}

#[test]
fn a_draft_is_made_once_and_never_over_another() {
    let sample = one_round();
    let (root, draft) = draft(&sample);
    let before = bytes(&draft);
    let error = Draft::create(root.path(), sample.entry(), &sample.inputs()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("/2026-11-30-sample` exists already; nothing was written")
    );
    assert_eq!(bytes(&draft), before);
}

#[test]
fn raw_files_are_never_written_over() {
    let (_root, draft) = draft(&one_round());
    let mut writer = draft.writer().unwrap();
    let first = writer.store_raw("again.json", b"one").unwrap();
    let second = writer.store_raw("again.json", b"two").unwrap();
    assert_eq!(
        (first.file.as_str(), second.file.as_str()),
        ("raw/again.json", "raw/again.json.2")
    );
    for bad in ["../records.jsonl", "a/b", "", ".."] {
        assert!(
            matches!(writer.store_raw(bad, b""), Err(WriteError::Name(_))),
            "{bad}"
        );
    }
}

#[test]
fn an_input_that_was_changed_is_named() {
    let (_root, draft) = draft(&one_round());
    draft.circumstances().unwrap();
    std::fs::write(draft.folder().join(layout::MANIFEST), "version: v1\n").unwrap();
    let error = draft.circumstances().unwrap_err().to_string();
    assert!(
        error.contains("experiment.yaml` is not what the run began with"),
        "{error}"
    );
}
