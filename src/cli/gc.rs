//! `loadlab gc`: what a crashed run left behind, and nothing else.

use super::args::{Format, Gc};
use super::equipment;
use super::failure::{Code, Failure};
use super::ui::{Ui, safe};
use crate::engine::process::{ProcessEngine, ProcessSettings};
use crate::engine::{Engine, Leftover};

/// Lists, and with `--yes` removes.
///
/// # Errors
/// When the engine is unfit or something cannot be removed.
pub fn gc(arguments: &Gc, ui: Ui) -> Result<(), Failure> {
    let unfit = |error: &dyn std::error::Error| Failure::caused(Code::Unfit, error);
    let settings = ProcessSettings::new(equipment::work_folder()).map_err(|error| unfit(&error))?;
    let engine = ProcessEngine::new(settings).map_err(|error| unfit(&error))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| unfit(&error))?;
    let leftovers = runtime
        .block_on(engine.leftovers())
        .map_err(|error| unfit(&error))?;
    print(&leftovers, arguments.format, ui);
    if !arguments.yes {
        if !leftovers.is_empty() {
            ui.note("remove them with `loadlab gc --yes`");
        }
        return Ok(());
    }
    let mut failed = false;
    for leftover in &leftovers {
        if let Err(error) = runtime.block_on(engine.remove(leftover)) {
            ui.failure(&Failure::new(Code::Unfit, safe(&error.to_string())));
            failed = true;
        }
    }
    if failed {
        Err(Failure::printed(Code::Unfit))
    } else {
        Ok(())
    }
}

fn print(leftovers: &[Leftover], format: Format, ui: Ui) {
    if format == Format::Json {
        let rows = leftovers
            .iter()
            .map(|leftover| serde_json::json!({"entry": leftover.entry, "what": leftover.what}));
        return ui.json(&rows.collect::<Vec<_>>());
    }
    if leftovers.is_empty() {
        return ui.result("nothing was left behind");
    }
    let lines: Vec<String> = leftovers
        .iter()
        .map(|leftover| safe(&format!("{}: {}", leftover.entry, leftover.what)))
        .collect();
    ui.result(&lines.join("\n"));
}
