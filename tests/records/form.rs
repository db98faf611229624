//! The form of a line: every event survives it and keeps to the committed schema.

use std::collections::BTreeSet;
use std::path::Path;

use loadlab::model::code::{GuardCode, Outcome};
use loadlab::record::event::Event;
use loadlab::record::sample::{Fault, Sample};
use proptest::prelude::*;

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
