//! The JSON Schema of one line of `records.jsonl`, generated from the types.

use super::event::Line;

/// The schema of a line.
#[must_use]
pub fn schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Line);
    schema.insert("title".to_owned(), "loadlab record v1".into());
    schema.to_value()
}
