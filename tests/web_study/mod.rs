//! The model of a study as a value that a test changes, and a machine to pin it on.

pub mod machine;

use loadlab::model::Experiment;
use serde_json::Value;

const STUDY: &str = include_str!("../data/models/web-study.json");

/// The study as it is.
pub fn study() -> Value {
    serde_json::from_str(STUDY).unwrap()
}

/// The experiment that a model tells of.
pub fn experiment(model: &Value) -> Experiment {
    serde_json::from_value(model.clone()).unwrap()
}

/// Sets a value at a JSON pointer, also one that was absent; `-` adds to a list.
pub fn set(model: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match model.pointer_mut(parent).unwrap() {
        Value::Object(object) => drop(object.insert(key.to_owned(), value)),
        Value::Array(array) if key == "-" => array.push(value),
        Value::Array(array) => array[key.parse::<usize>().unwrap()] = value,
        other => panic!("{pointer}: {other}"),
    }
}
