//! `loadlab validate`: every fault of every file, each with its place. Runs nothing, writes nothing.

use std::path::Path;

use serde::Serialize;

use super::args::{Format, Validate};
use super::failure::{Code, Failure};
use super::paths;
use super::ui::{Ui, safe};
use crate::manifest::{self, Diagnostic, Faults, Loaded};
use crate::model::plural::counted;

/// What was found in one file.
#[derive(Debug, Serialize)]
struct Verdict {
    file: String,
    valid: bool,
    diagnostics: Vec<Diagnostic>,
}

/// Checks every file named.
///
/// # Errors
/// When one of them has faults.
pub fn validate(arguments: &Validate, ui: Ui) -> Result<(), Failure> {
    let mut verdicts = Vec::new();
    for file in &arguments.files {
        verdicts.push(check(file, arguments, ui));
    }
    if arguments.format == Format::Json {
        ui.json(&verdicts);
    }
    let faulty = verdicts.iter().any(|verdict| !verdict.valid);
    if faulty {
        Err(Failure::printed(Code::Manifest))
    } else {
        Ok(())
    }
}

fn check(file: &Path, arguments: &Validate, ui: Ui) -> Verdict {
    let shown = paths::shown(file);
    let text = arguments.format == Format::Text;
    match manifest::load(file, arguments.profile.as_deref()) {
        Ok(loaded) => {
            if text {
                ui.raw(&notes(&loaded));
                ui.result(&format!("{shown}: valid"));
            }
            Verdict {
                file: shown,
                valid: true,
                diagnostics: loaded.notes,
            }
        }
        Err(faults) => {
            if text {
                print(&faults, &shown, ui);
            }
            Verdict {
                file: shown,
                valid: false,
                diagnostics: faults.diagnostics,
            }
        }
    }
}

/// Prints every fault of a manifest and their number.
pub fn print(faults: &Faults, shown: &str, ui: Ui) {
    ui.raw(&faults.render_text(ui.stderr_color));
    let faults = counted(faults.errors() as u64, "fault", "faults");
    ui.note(&format!("{shown}: {faults}"));
}

fn notes(loaded: &Loaded) -> String {
    let line = |note: &Diagnostic| format!("note[{}]: {}\n", note.code, safe(&note.message));
    loaded.notes.iter().map(line).collect()
}

/// Loads a manifest for a verb that needs it valid; faults are printed.
///
/// # Errors
/// When the manifest has faults.
pub fn load(file: &Path, profile: Option<&str>, ui: Ui) -> Result<Loaded, Failure> {
    manifest::load(file, profile).map_err(|faults| {
        print(&faults, &paths::shown(file), ui);
        Failure::printed(Code::Manifest)
    })
}
