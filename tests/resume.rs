//! Resuming is a replay: wherever a run is cut, going on reaches the same end and changes nothing before.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::path::Path;

use loadlab::model::code::GuardCode;
use loadlab::model::{Digest, Known};
use loadlab::record::event::{Event, Measured};
use loadlab::record::sample::{Fault, Sample};
use loadlab::record::{Draft, Progress, Records, layout, resume};

fn sample() -> Sample {
    Sample {
        rounds: 2,
        window_s: 1,
        attempts: 2,
        ..Sample::default()
    }
    .with_fault("fixed-rate.r01.gzip.a1", Fault::Breach(GuardCode::Steal))
}

/// What a run comes to: of every block the candidate's CPU time in the windows of its valid attempt.
fn end_state(records: &Records) -> Vec<(String, Vec<u64>)> {
    let cpu = |measured: &&Measured| {
        let cpu = |edge: &loadlab::model::reading::Edge| {
            edge.roles[&loadlab::model::Role::Candidate]
                .cpu
                .value()
                .unwrap()
                .cpu_ns
        };
        cpu(&measured.after) - cpu(&measured.before)
    };
    let attempts = records.attempts();
    let valid = attempts
        .iter()
        .filter(|(_, it)| it.finished.is_some_and(|it| it.breaches.is_empty()));
    valid
        .map(|(attempt, it)| {
            (
                attempt.block.to_string(),
                it.measured.iter().map(cpu).collect(),
            )
        })
        .collect()
}

fn records_path(draft: &Draft) -> std::path::PathBuf {
    draft.folder().join(layout::RECORDS)
}

fn cut_and_go_on(root: &Path, whole: &[u8], at: usize, expected: &[(String, Vec<u64>)]) {
    let sample = sample();
    let draft =
        Draft::create(root, format!("cut-{at}").parse().unwrap(), &sample.inputs()).unwrap();
    std::fs::write(records_path(&draft), &whole[..at]).unwrap();
    let line_end = whole[..at]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    sample.go_on(&draft).unwrap();
    let resumed = std::fs::read(records_path(&draft)).unwrap();
    assert_eq!(
        resumed[..line_end],
        whole[..line_end],
        "cut at {at}: earlier lines were changed"
    );
    let records = draft.records().unwrap().records;
    assert_eq!(end_state(&records), expected, "cut at {at}");
    let progress = Progress::of(&records, &sample.plan()).unwrap();
    assert!(progress.complete(2), "cut at {at}");
    let aside = draft.folder().join(layout::SET_ASIDE).join("001.bin");
    if line_end == at {
        assert!(!aside.exists(), "cut at {at}: nothing was torn");
        return;
    }
    assert_eq!(std::fs::read(&aside).unwrap(), &whole[line_end..at]);
    let named = records.sessions().last().unwrap().set_aside.clone();
    let session_follows = records.sessions().len() > sessions_in(&whole[..line_end]);
    if session_follows {
        let named = named.expect("the session names what was set aside");
        assert_eq!(
            (named.file.as_str(), named.bytes),
            ("set-aside/001.bin", (at - line_end) as u64)
        );
    }
}

fn sessions_in(bytes: &[u8]) -> usize {
    let read = loadlab::record::reader::read_from(bytes, "records.jsonl".as_ref()).unwrap();
    read.records.sessions().len()
}

#[test]
fn a_run_cut_anywhere_comes_to_the_same_end() {
    let root = tempfile::tempdir().unwrap();
    let whole = sample().draft(root.path()).unwrap();
    let expected = end_state(&whole.records().unwrap().records);
    assert_eq!(expected.len(), 4);
    let bytes = std::fs::read(records_path(&whole)).unwrap();
    let mut from = 0;
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if number % 3 == 0 {
            let inside = from + 1 + (number * 131) % (line.len() - 1);
            cut_and_go_on(root.path(), &bytes, inside, &expected);
        }
        from += line.len();
        cut_and_go_on(root.path(), &bytes, from, &expected);
    }
}

#[test]
fn a_finished_run_is_left_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    let draft = sample().draft(root.path()).unwrap();
    let before = std::fs::read(records_path(&draft)).unwrap();
    sample().go_on(&draft).unwrap();
    assert_eq!(std::fs::read(records_path(&draft)).unwrap(), before);
}

#[test]
fn what_was_set_aside_and_not_yet_named_is_named_later() {
    let root = tempfile::tempdir().unwrap();
    let draft = sample().draft(root.path()).unwrap();
    let bytes = std::fs::read(records_path(&draft)).unwrap();
    std::fs::write(records_path(&draft), &bytes[..bytes.len() / 2]).unwrap();
    let tail = draft.records().unwrap().torn.unwrap();
    // Killed between setting aside and the session's record: the next writer still says it.
    drop(draft.writer().unwrap());
    let writer = draft.writer().unwrap();
    let aside = writer.set_aside().unwrap();
    assert_eq!(aside.file, "set-aside/001.bin");
    assert_eq!(aside.bytes, tail.bytes.len() as u64);
}

#[test]
fn pages_that_were_never_written_are_a_torn_line_only_at_the_end() {
    let root = tempfile::tempdir().unwrap();
    let draft = sample().draft(root.path()).unwrap();
    let whole = std::fs::read(records_path(&draft)).unwrap();
    let mut bytes = whole.clone();
    let last = bytes[..bytes.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap();
    bytes[last + 1..last + 9].fill(0);
    std::fs::write(records_path(&draft), &bytes).unwrap();
    let torn = draft.records().unwrap().torn.unwrap();
    assert_eq!(torn.at, last as u64 + 1);
    let mut bytes = whole;
    bytes[9..17].fill(0);
    std::fs::write(records_path(&draft), &bytes).unwrap();
    assert!(
        draft.writer().is_err(),
        "a damaged middle line is not gone on from"
    );
}

#[test]
fn a_reboot_is_the_same_machine_and_another_kernel_is_not() {
    let root = tempfile::tempdir().unwrap();
    let draft = sample().draft(root.path()).unwrap();
    let then = draft.circumstances().unwrap();
    let mut now = then.clone();
    now.host.boot_id = Known::Value("another boot".to_owned());
    now.host.interrupts = Known::Absent("not read".to_owned());
    now.host.memory_bytes -= 4096;
    assert_eq!(resume::check(&then, &now), Ok(()));
    now.host.kernel = "7.0.0".to_owned();
    now.host.turbo = Known::Value(true);
    now.manifest = Digest::of(b"another");
    now.lock = None;
    let differences = resume::check(&then, &now).unwrap_err();
    let told: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let expected = [
        format!(
            "manifest: the draft has {}, now it is {}",
            then.manifest, now.manifest
        ),
        format!("lock: the draft has {}, now it is none", then.lock.unwrap()),
        "machine: turbo: the draft has unknown (`the machine does not say`), now it is true"
            .to_owned(),
        "machine: kernel: the draft has `6.12.0 made up`, now it is `7.0.0`".to_owned(),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_run_killed_in_a_block_begins_it_anew_as_the_next_attempt() {
    let sample = sample().with_fault("fixed-rate.r02.gzip.a1", Fault::Killed);
    let records = sample.records();
    let attempts: Vec<String> = records.attempts().keys().map(|it| it.to_string()).collect();
    assert!(attempts.contains(&"fixed-rate.r02.gzip.a2".to_owned()));
    assert_eq!(records.sessions().len(), 2);
    let closed = records
        .events()
        .filter(|event| matches!(event, Event::Closed { .. }))
        .count();
    assert_eq!(closed, 1);
}
