//! `loadlab plan`: what a run would do. Runs nothing, writes nothing.

use super::args::{Format, Plan as Arguments};
use super::failure::{Code, Failure};
use super::ui::{Ui, safe};
use super::{locked, paths, validate};
use crate::lock;
use crate::plan;

/// Prints the plan, or the model with every default.
///
/// A lock that is missing is no fault: the plan then has no keys. One that does not match is.
///
/// # Errors
/// When the manifest has faults, the lock does not match, or no block is selected.
pub fn plan(arguments: &Arguments, ui: Ui) -> Result<(), Failure> {
    let loaded = validate::load(
        &arguments.manifest.file,
        arguments.manifest.profile.as_deref(),
        ui,
    )?;
    if arguments.expanded {
        ui.result(&plan::expanded(&loaded.experiment));
        return Ok(());
    }
    let path = locked::path(&loaded);
    let lock = locked::read(&path)?.map(|(lock, _)| lock);
    if let Some(lock) = &lock
        && let Err(mismatches) = lock::check(&loaded.experiment, lock)
    {
        return Err(locked::mismatched(&mismatches, &paths::shown(&path), ui));
    }
    let mut plan = plan::build(&loaded.experiment, lock.as_ref());
    if !arguments.only.is_empty() {
        plan = plan::only(&plan, &arguments.only)
            .map_err(|fault| Failure::new(Code::Usage, safe(&fault.to_string())))?;
    }
    let caveats = plan::caveats(&loaded.experiment, &plan);
    match arguments.format {
        Format::Json => ui.json(&plan),
        Format::Text => ui.result(&plan::display(&loaded.experiment, &plan, &caveats)),
    }
    Ok(())
}
