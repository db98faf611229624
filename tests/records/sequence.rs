//! The sequence of events: what a run writes, in which order, and what none writes.

use super::draft::one_round;
use loadlab::model::code::GuardCode;
use loadlab::record::event::{Attempt, Event, Opened};
use loadlab::record::sample::{Fault, Sample};
use loadlab::record::{MemoryJournal, Progress};

/// The records of a sample with one of their events changed, folded over its plan.
fn folded(change: impl FnOnce(&mut Vec<Event>)) -> String {
    let sample = one_round();
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
    let records = one_round().records();
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
