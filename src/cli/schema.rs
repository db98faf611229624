//! `loadlab schema`: a JSON Schema, as committed in `schemas/`.

use super::args::{Schema, SchemaKind};
use super::failure::Failure;
use super::ui::Ui;

/// Prints it.
///
/// # Errors
/// None; the signature is that of every verb.
pub fn schema(arguments: &Schema, ui: Ui) -> Result<(), Failure> {
    match arguments.kind {
        SchemaKind::Experiment => ui.json(&crate::manifest::schema()),
        SchemaKind::Profile => ui.json(&crate::manifest::profile_schema()),
        SchemaKind::Lock => ui.result(include_str!("../../schemas/lock.v1.json")),
        SchemaKind::Plan => ui.result(include_str!("../../schemas/plan.v1.json")),
        SchemaKind::Record => ui.result(include_str!("../../schemas/record.v1.json")),
        SchemaKind::Summary => ui.result(include_str!("../../schemas/summary.v1.json")),
    }
    Ok(())
}
