//! `loadlab lock`: pin every input, or compare the files with the pins.

use super::args::{Format, Lock as Arguments};
use super::failure::{Code, Failure};
use super::ui::{Ui, safe};
use super::{locked, paths, validate};
use crate::lock::{self, Upgrade};
use crate::manifest::Loaded;
use crate::model::plural::counted;

/// Pins, or checks.
///
/// # Errors
/// When the manifest has faults, something cannot be pinned, or the lock does not match.
pub fn lock(arguments: &Arguments, ui: Ui) -> Result<(), Failure> {
    let loaded = validate::load(
        &arguments.manifest.file,
        arguments.manifest.profile.as_deref(),
        ui,
    )?;
    if arguments.check {
        check(&loaded, arguments.format, ui)
    } else {
        pin(&loaded, arguments, ui)
    }
}

/// Reads files and does nothing else.
fn check(loaded: &Loaded, format: Format, ui: Ui) -> Result<(), Failure> {
    let shown = paths::shown(&locked::path(loaded));
    if format == Format::Text {
        locked::require(loaded, ui)?;
        ui.result(&format!("{shown}: current"));
        return Ok(());
    }
    let Some((lock, _)) = locked::read(&locked::path(loaded))? else {
        ui.json(&serde_json::json!({"lock": shown, "current": false, "missing": true, "mismatches": []}));
        return Err(Failure::printed(Code::Lock));
    };
    let mismatches = lock::check(&loaded.experiment, &lock)
        .err()
        .unwrap_or_default();
    let rows: Vec<_> = mismatches
        .iter()
        .map(|mismatch| {
            serde_json::json!({
                "what": mismatch.what.to_string(), "pinned": mismatch.pinned,
                "now": mismatch.now, "remedy": mismatch.remedy,
            })
        })
        .collect();
    ui.json(&serde_json::json!({
        "lock": shown, "current": rows.is_empty(), "missing": false, "mismatches": rows,
    }));
    if rows.is_empty() {
        Ok(())
    } else {
        Err(Failure::printed(Code::Lock))
    }
}

fn pin(loaded: &Loaded, arguments: &Arguments, ui: Ui) -> Result<(), Failure> {
    let path = locked::path(loaded);
    let previous = locked::read(&path)?;
    let upgrade = upgrade(arguments.upgrade.as_deref());
    let mut resolver = lock::resolve::Local::of_environment();
    let before = previous.as_ref().map(|(lock, _)| lock);
    let lock =
        lock::pin(&loaded.experiment, &mut resolver, before, &upgrade).map_err(|faults| {
            for fault in &faults.0 {
                ui.failure(&Failure::new(Code::Lock, safe(&fault.to_string())));
            }
            Failure::printed(Code::Lock)
        })?;
    let text = lock.to_text();
    let shown = paths::shown(&path);
    let unchanged = previous
        .as_ref()
        .is_some_and(|(_, bytes)| bytes == text.as_bytes());
    if !unchanged {
        paths::write(&path, text.as_bytes())?;
    }
    let verb = match (unchanged, previous.is_some()) {
        (true, _) => "unchanged",
        (false, true) => "updated",
        (false, false) => "written",
    };
    match arguments.format {
        Format::Json => ui.json(&serde_json::json!({"lock": shown, "state": verb})),
        Format::Text => ui.result(&format!(
            "{shown}: {verb}, {} and {} pinned",
            counted(lock.files.len() as u64, "file", "files"),
            counted(lock.programs.len() as u64, "program", "programs")
        )),
    }
    Ok(())
}

fn upgrade(names: Option<&[String]>) -> Upgrade {
    match names {
        None => Upgrade::None,
        Some(names) if names.iter().all(String::is_empty) => Upgrade::All,
        Some(names) => Upgrade::Names(names.iter().cloned().collect()),
    }
}
