//! The chain of lines: whatever is changed, removed, moved, newer or endless is named with its line.

use loadlab::record::reader::{LineFault, ReadError, read_from};
use loadlab::record::sample::Sample;

use super::draft::{bytes, draft, one_round};

fn fault_of(bytes: &[u8]) -> (u64, LineFault) {
    match read_from(bytes, "records.jsonl".as_ref()).unwrap_err() {
        ReadError::Line { line, fault, .. } => (line, fault),
        ReadError::Disk(error) => panic!("{error}"),
    }
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
    let (_root, draft) = draft(&one_round());
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
    let records = one_round().records();
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
