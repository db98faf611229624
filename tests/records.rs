//! The chain of records: what is written is read back, and whatever is changed is found and named.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::collections::BTreeSet;
use std::path::Path;

use loadlab::model::code::{GuardCode, Outcome};
use loadlab::record::event::{Attempt, Event, Opened};
use loadlab::record::reader::{LineFault, ReadError, read_from};
use loadlab::record::sample::{Fault, Sample};
use loadlab::record::{Draft, Journal, MemoryJournal, Progress, WriteError, layout, read};
use proptest::prelude::*;

fn draft(sample: &Sample) -> (tempfile::TempDir, Draft) {
    let root = tempfile::tempdir().unwrap();
    let draft = sample.draft(root.path()).unwrap();
    (root, draft)
}

fn bytes(draft: &Draft) -> Vec<u8> {
    std::fs::read(draft.folder().join(layout::RECORDS)).unwrap()
}

fn fault_of(bytes: &[u8]) -> (u64, LineFault) {
    match read_from(bytes, "records.jsonl".as_ref()).unwrap_err() {
        ReadError::Line { line, fault, .. } => (line, fault),
        ReadError::Disk(error) => panic!("{error}"),
    }
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
    let (_root, draft) = draft(&Sample {
        rounds: 1,
        ..Sample::default()
    });
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
fn any_flipped_byte_of_a_middle_line_is_found() {
    let (_root, draft) = draft(&Sample {
        rounds: 1,
        window_s: 1,
        ..Sample::default()
    });
    let good = bytes(&draft);
    let last = good[..good.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap();
    for at in (0..last).step_by(7) {
        let mut bad = good.clone();
        bad[at] ^= 0x01;
        let line = good[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let (named, _) = fault_of(&bad);
        assert!(
            named == line || named == line + 1,
            "byte {at} of line {line}, named {named}"
        );
    }
}

#[test]
fn a_removed_or_moved_line_is_named() {
    let (_root, draft) = draft(&Sample {
        rounds: 1,
        ..Sample::default()
    });
    let good = bytes(&draft);
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    let mut removed = lines.clone();
    removed.remove(3);
    assert_eq!(
        fault_of(&removed.concat()),
        (
            4,
            LineFault::Sequence {
                expected: 3,
                found: 4
            }
        )
    );
    let mut moved = lines.clone();
    moved.swap(5, 6);
    assert_eq!(
        fault_of(&moved.concat()),
        (
            6,
            LineFault::Sequence {
                expected: 5,
                found: 6
            }
        )
    );
    let first = fault_of(&lines[1..].concat());
    assert_eq!(
        first,
        (
            1,
            LineFault::Sequence {
                expected: 0,
                found: 1
            }
        )
    );
}

fn one_line(change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let records = Sample {
        rounds: 1,
        ..Sample::default()
    }
    .records();
    let mut line = serde_json::to_value(&records.lines()[0]).unwrap();
    change(&mut line);
    format!("{line}\n").into_bytes()
}

#[test]
fn a_newer_format_says_so() {
    let newer = one_line(|line| {
        line["event"]["opened"]["format"] = 2.into();
        line["event"]["opened"]["colour"] = "blue".into();
        line["event"]["opened"]
            .as_object_mut()
            .unwrap()
            .shift_remove("protocol");
    });
    assert_eq!(fault_of(&newer), (1, LineFault::Newer { found: 2 }));
    let unknown = one_line(|line| line["event"] = serde_json::json!({"tea_break": {"minutes": 5}}));
    assert_eq!(
        fault_of(&unknown),
        (1, LineFault::UnknownEvent("tea_break".into()))
    );
    let wrong = one_line(|line| line["event"]["opened"]["format"] = "one".into());
    let (line, fault) = fault_of(&wrong);
    let message = "no record: event.opened.format: invalid type: string \\\"one\\\", expected u32 at line 1 column ";
    assert!(fault.to_string().starts_with(message), "{fault}");
    assert_eq!(line, 1);
}

#[test]
fn a_line_that_never_ends_does_not_fill_memory() {
    let endless = std::io::Read::take(std::io::repeat(b'a'), 1 << 40);
    let error = read_from(endless, "records.jsonl".as_ref()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`records.jsonl`, line 1: longer than 16777216 bytes"
    );
}

#[test]
fn a_draft_has_one_writer_at_a_time() {
    let (_root, draft) = draft(&Sample {
        rounds: 1,
        ..Sample::default()
    });
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
    let sample = Sample {
        rounds: 1,
        ..Sample::default()
    };
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
    let (_root, draft) = draft(&Sample {
        rounds: 1,
        ..Sample::default()
    });
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
    let (_root, draft) = draft(&Sample {
        rounds: 1,
        ..Sample::default()
    });
    draft.circumstances().unwrap();
    std::fs::write(draft.folder().join(layout::MANIFEST), "version: v1\n").unwrap();
    let error = draft.circumstances().unwrap_err().to_string();
    assert!(
        error.contains("experiment.yaml` is not what the run began with"),
        "{error}"
    );
}

/// Changes numbers and known values of an event's JSON, guided by a stream of numbers.
fn mutate(value: &mut serde_json::Value, numbers: &mut impl Iterator<Item = u64>) {
    let Some(number) = numbers.next() else { return };
    match value {
        serde_json::Value::Object(fields) => {
            if fields.len() == 1 && fields.contains_key("value") && number % 3 == 0 {
                *value = serde_json::json!({"absent": format!("\u{1b}[31m <b>\n\"{number}\" é")});
                return;
            }
            fields.values_mut().for_each(|value| mutate(value, numbers));
        }
        serde_json::Value::Array(items) => {
            for value in items {
                mutate(value, numbers);
            }
        }
        serde_json::Value::Number(_) if number % 2 == 0 => *value = number.into(),
        _ => {}
    }
}

fn faults() -> impl Strategy<Value = Fault> {
    prop_oneof![
        prop::sample::select(GuardCode::ALL).prop_map(Fault::Breach),
        prop::sample::select(Outcome::ALL).prop_map(Fault::Outcome),
        prop::sample::select(Outcome::ALL).prop_map(Fault::BlockOutcome),
        Just(Fault::Killed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_event_survives_its_line(
        fault in faults(),
        seed in any::<u64>(),
        numbers in prop::collection::vec(any::<u64>(), 200..2_000),
    ) {
        let sample = Sample { rounds: 1, window_s: 2, seed, ..Sample::default() }
            .with_ceiling(&[1, 8])
            .with_fault("fixed-rate.r01.gzip.a1", fault);
        let mut events: Vec<Event> = sample.records().events().cloned().collect();
        let files = [("raw/a".to_owned(), loadlab::model::Digest::of(b"a"))];
        events.push(Event::Sealed { files: files.into_iter().collect() });
        let kinds: BTreeSet<&str> = events.iter().map(Event::kind).collect();
        prop_assert_eq!(kinds, Event::KINDS.into_iter().collect());
        let mut numbers = numbers.into_iter();
        for event in &events {
            let json = serde_json::to_string(event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Event>(&json).unwrap(), event);
            let mut changed = serde_json::to_value(event).unwrap();
            mutate(&mut changed, &mut numbers);
            if let Ok(changed) = serde_json::from_value::<Event>(changed) {
                let json = serde_json::to_string(&changed).unwrap();
                prop_assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), changed);
            }
        }
    }
}

/// The records of a sample with one of their events changed, folded over its plan.
fn folded(change: impl FnOnce(&mut Vec<Event>)) -> String {
    let sample = Sample {
        rounds: 1,
        ..Sample::default()
    };
    let mut journal = MemoryJournal {
        events: sample.records().events().cloned().collect(),
        ..MemoryJournal::default()
    };
    change(&mut journal.events);
    Progress::of(&journal.records(), &sample.plan())
        .unwrap_err()
        .to_string()
}

fn position(events: &[Event], kind: &str) -> usize {
    events
        .iter()
        .position(|event| event.kind() == kind)
        .unwrap()
}

#[test]
fn what_no_run_writes_is_refused() {
    let told = folded(|events| {
        events.remove(position(events, "block_started"));
    });
    assert_eq!(
        told,
        "records, line 6: `probed` of `fixed-rate.r01.plain.a1`, which has not begun"
    );
    let told = folded(|events| {
        let at = position(events, "measured");
        events.insert(at, events[at].clone());
    });
    assert_eq!(
        told,
        "records, line 13: measurement `page.1000-per-s` twice in `fixed-rate.r01.plain.a1`"
    );
    let told = folded(|events| {
        let at = position(events, "measured");
        let Event::Measured(measured) = &mut events[at] else {
            unreachable!()
        };
        measured.id.at = "7/s".parse().unwrap();
    });
    assert_eq!(
        told,
        "records, line 12: measurement `page.7-per-s` is not planned in this block"
    );
    let told = folded(|events| {
        events.remove(position(events, "measured"));
    });
    let expected = "records, line 14: `fixed-rate.r01.plain.a1` ends valid with 0 of 1 measurements and no outcome that says why";
    assert_eq!(told, expected);
    let told = folded(|events| {
        let at = position(events, "block_finished");
        events.truncate(at + 1);
        events.push(events[position(events, "block_started")].clone());
    });
    assert_eq!(
        told,
        "records, line 16: block `fixed-rate.r01.plain` is tried again after a valid attempt"
    );
    let told = folded(|events| {
        events.remove(position(events, "session"));
    });
    assert_eq!(told, "records, line 2: `calibrated` outside a session");
}

#[test]
fn an_invalid_block_is_tried_again_at_the_end_of_its_round() {
    let sample = Sample {
        rounds: 2,
        ..Sample::default()
    }
    .with_fault("fixed-rate.r01.plain.a1", Fault::Breach(GuardCode::Steal))
    .with_fault("fixed-rate.r02.gzip.a1", Fault::Killed)
    .with_fault(
        "fixed-rate.r02.plain.a1",
        Fault::Breach(GuardCode::Interrupted),
    );
    let records = sample.records();
    let started = records.events().filter_map(|event| match event {
        Event::BlockStarted(started) => Some(started.attempt.to_string()),
        _ => None,
    });
    let order: Vec<String> = started.collect();
    let expected = [
        "fixed-rate.r01.plain.a1",
        "fixed-rate.r01.gzip.a1",
        "fixed-rate.r01.plain.a2",
        "fixed-rate.r02.gzip.a1",
        "fixed-rate.r02.gzip.a2",
        "fixed-rate.r02.plain.a1",
        "fixed-rate.r02.plain.a2",
    ];
    assert_eq!(order, expected);
}

#[test]
fn tries_end_and_interruptions_do_not_use_them_up() {
    let mut sample = Sample {
        rounds: 1,
        attempts: 2,
        ..Sample::default()
    };
    for attempt in [1, 3] {
        let name = format!("fixed-rate.r01.plain.a{attempt}");
        sample = sample.with_fault(&name, Fault::Breach(GuardCode::Steal));
    }
    sample = sample.with_fault("fixed-rate.r01.plain.a2", Fault::Killed);
    let progress = Progress::of(&sample.records(), &sample.plan()).unwrap();
    assert!(progress.complete(2) && !progress.complete(3));
    let missing: Vec<String> = progress
        .without_valid_attempt()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(missing, ["fixed-rate.r01.plain"]);
}

#[test]
fn names_of_attempts_are_those_of_the_plan() {
    let records = Sample {
        rounds: 1,
        ..Sample::default()
    }
    .records();
    let opened: &Opened = records.opened().unwrap();
    assert_eq!(opened.entry.as_str(), "2026-11-30-sample");
    let attempts: Vec<String> = records
        .attempts()
        .keys()
        .map(|it: &&Attempt| it.to_string())
        .collect();
    assert_eq!(
        attempts,
        ["fixed-rate.r01.gzip.a1", "fixed-rate.r01.plain.a1"]
    );
}

#[test]
fn the_committed_schema_is_current_and_every_line_keeps_to_it() {
    let schema = loadlab::record::schema();
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/record.v1.json");
    if std::env::var("UPDATE_SCHEMAS").is_ok() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == text,
        "stale: run this test with UPDATE_SCHEMAS=1 and look at the difference"
    );
    let validator = jsonschema::validator_for(&schema).unwrap();
    let sample = Sample {
        rounds: 1,
        window_s: 1,
        ..Sample::default()
    }
    .with_ceiling(&[4])
    .with_fault("fixed-rate.r01.plain.a1", Fault::Breach(GuardCode::Steal))
    .with_fault("fixed-rate.r01.gzip.a1", Fault::Outcome(Outcome::Exited));
    let records = sample.records();
    for line in records.lines() {
        let line = serde_json::to_value(line).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&line)
            .map(|error| error.to_string())
            .collect();
        assert!(faults.is_empty(), "{faults:?}\n{line}");
    }
    let mut wrong = serde_json::to_value(&records.lines()[0]).unwrap();
    wrong["previous"] = "sha256:AB".into();
    assert!(!validator.is_valid(&wrong));
}
