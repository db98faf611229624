//! The bytes of `records.jsonl`: read, followed over a plan, and estimated by the rules of an
//! experiment that is not theirs. 2 s and 512 MB an input.
//!
//! A chain of digests is nothing that a fuzzer finds, so the first byte of an input says whether the
//! lines are read as they are or with the sequence and chain put right.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use loadlab::model::Digest;
use loadlab::record::sample::Sample;
use loadlab::record::{Event, Line, Progress, reader};

type Rules = (loadlab::model::Experiment, loadlab::plan::Plan);

fn rules() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| {
        let sample = Sample {
            rounds: 2,
            ..Sample::default()
        };
        (sample.experiment(), sample.plan())
    })
}

/// Events, one a line, as lines that follow from each other.
fn chained(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut previous = Digest::of(b"");
    let events = bytes.split(|byte| *byte == b'\n');
    let events = events.filter_map(|line| serde_json::from_slice::<Event>(line).ok());
    for (sequence, event) in (0_u64..).zip(events) {
        let line = Line {
            sequence,
            previous,
            realtime_ns: sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            event,
        };
        let bytes = serde_json::to_vec(&line).expect("an event has a JSON form");
        previous = Digest::of(&bytes);
        text.extend(bytes);
        text.push(b'\n');
    }
    text
}

fuzz_target!(|bytes: &[u8]| {
    let (text, whole) = match bytes.split_first() {
        Some((b'e', rest)) => (chained(rest), true),
        _ => (bytes.to_vec(), false),
    };
    match reader::read_from(text.as_slice(), "records.jsonl".as_ref()) {
        Err(error) => loadlab_fuzz::said(&error.to_string()),
        Ok(read) => {
            assert!(!whole || read.torn.is_none());
            let (experiment, plan) = rules();
            if let Err(error) = Progress::of(&read.records, plan) {
                loadlab_fuzz::said(&error.to_string());
            }
            if read.records.opened().is_some() {
                let summary = loadlab::estimate::estimate(&read.records, experiment, plan, &[]);
                let _written = serde_json::to_vec(&summary).expect("a summary has a JSON form");
            }
        }
    }
});
