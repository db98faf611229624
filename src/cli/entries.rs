//! The verbs on drafts and entries that decide or compare: exclude, publish, status, index, verify, reproduce.

use std::path::{Path, PathBuf};

use super::args::{Exclude, Format, Index, Publish, Reproduce, Status, StatusWord, Verify};
use super::failure::{Code, Failure};
use super::ui::{Ui, safe};
use super::{paths, source};
use crate::model::plural::counted;
use crate::record::Draft;
use crate::review::publish::PublishError;
use crate::review::status::{self, Standing};
use crate::review::verify::LEVELS;
use crate::review::{self, Level, Refusal, Reproduction};

/// Today, UTC, `YYYY-MM-DD`.
fn today() -> String {
    crate::record::inputs::day(crate::measure::clock::realtime_ns())
}

/// Who decides: the one named, else the one that git knows.
fn decider(named: Option<&String>) -> Result<String, Failure> {
    named.cloned().or_else(source::person).ok_or_else(|| {
        Failure::new(Code::Usage, "a decision needs a name")
            .hint("say who decides with `--by 'FULL NAME'`")
    })
}

/// Appends a person's exclusion to a draft's ledger.
///
/// # Errors
/// When there is no such draft or attempt, or a field is empty.
pub fn exclude(arguments: &Exclude, ui: Ui) -> Result<(), Failure> {
    let by = decider(arguments.by.as_ref())?;
    let line = review::exclude(
        &arguments.draft,
        &arguments.what,
        &arguments.because,
        &by,
        &today(),
    )
    .map_err(|error| Failure::new(Code::Usage, safe(&error.to_string())))?;
    let what = line.measurement.map_or_else(
        || line.attempt.to_string(),
        |id| format!("{}/{id}", line.attempt),
    );
    ui.result(&format!("excluded {what}; nothing was deleted"));
    ui.note(&format!(
        "next: loadlab report {}",
        paths::shown(&arguments.draft)
    ));
    Ok(())
}

/// Makes an entry of a draft, or says what is missing.
///
/// # Errors
/// When something is missing, the entry exists, or the disk refuses.
pub fn publish(arguments: &Publish, ui: Ui) -> Result<(), Failure> {
    let draft =
        Draft::open(&arguments.draft).map_err(|error| Failure::caused(Code::Damaged, &error))?;
    super::words::take(&arguments.draft, ui)?;
    if arguments.check {
        let refusals = review::refusal::check(&draft);
        if refusals.is_empty() {
            ui.result(&format!(
                "{}: nothing is missing",
                paths::shown(&arguments.draft)
            ));
            return Ok(());
        }
        return Err(refused(&refusals, ui));
    }
    let results = arguments
        .results
        .clone()
        .unwrap_or_else(|| beside(&arguments.draft));
    match review::publish(&draft, &results) {
        Ok(entry) => {
            ui.result(&paths::shown(&entry));
            ui.note("next: loadlab index, then commit the entry");
            Ok(())
        }
        Err(PublishError::Refused(refusals)) => Err(refused(&refusals, ui)),
        Err(error @ PublishError::Stopped(_)) => Err(Failure::caused(Code::Internal, &error)),
        Err(error @ PublishError::Disk(_)) => Err(Failure::caused(Code::Unfit, &error)),
        Err(error @ (PublishError::Exists(_) | PublishError::Busy(_))) => {
            Err(Failure::caused(Code::Usage, &error))
        }
        Err(error) => Err(Failure::caused(Code::Damaged, &error)),
    }
}

/// `results/` beside the `runs/` that a draft lies in.
fn beside(draft: &Path) -> PathBuf {
    let draft = std::path::absolute(draft).unwrap_or_else(|_| draft.to_owned());
    draft.ancestors().nth(3).unwrap_or(&draft).join("results")
}

fn refused(refusals: &[Refusal], ui: Ui) -> Failure {
    for refusal in refusals {
        ui.failure(&Failure::new(Code::Judgement, safe(&refusal.what)).hint(safe(&refusal.remedy)));
    }
    let missing = counted(refusals.len() as u64, "thing is", "things are");
    ui.note(&format!("not published: {missing} missing"));
    Failure::printed(Code::Judgement)
}

/// Says where a published entry stands.
///
/// # Errors
/// When there is no such entry or the disk refuses.
pub fn status(arguments: &Status, ui: Ui) -> Result<(), Failure> {
    let standing = match arguments.status {
        StatusWord::Current => Standing::Current,
        StatusWord::Superseded => Standing::Superseded,
        StatusWord::Withdrawn => Standing::Withdrawn,
    };
    let by = decider(arguments.by.as_ref())?;
    let status = status::Status {
        status: standing,
        because: arguments.because.clone(),
        by,
        on: today(),
    };
    status::write(&arguments.entry, &status)
        .map_err(|error| Failure::new(Code::Usage, safe(&error.to_string())))?;
    ui.result(&format!("{}: {standing}", paths::shown(&arguments.entry)));
    ui.note("next: loadlab index");
    Ok(())
}

/// Renders the indexes, or compares them.
///
/// # Errors
/// When an entry cannot be read, or an index is stale.
pub fn index(arguments: &Index, ui: Ui) -> Result<(), Failure> {
    let damaged =
        |error: review::index::IndexError| Failure::new(Code::Damaged, safe(&error.to_string()));
    if arguments.check {
        let stale = review::index::check(&arguments.repository).map_err(damaged)?;
        for one in &stale {
            ui.failure(&Failure::new(
                Code::Damaged,
                format!("{} is stale", paths::shown(&one.path)),
            ));
        }
        if stale.is_empty() {
            ui.result("the indexes are current");
            return Ok(());
        }
        return Err(Failure::printed(Code::Damaged).hint("render them with `loadlab index`"));
    }
    for (path, text) in review::index::files(&arguments.repository).map_err(damaged)? {
        paths::write(&path, text.as_bytes())?;
        ui.result(&paths::shown(&path));
    }
    Ok(())
}

/// Prints the level that an entry reaches.
///
/// # Errors
/// When a level failed.
pub fn verify(arguments: &Verify, ui: Ui) -> Result<(), Failure> {
    let verification = review::verify(&arguments.entry)
        .map_err(|error| Failure::new(Code::Damaged, safe(&error.to_string())))?;
    match arguments.format {
        Format::Json => ui.json(&levels(&verification.levels)),
        Format::Text => ui.result(&levels_text(&verification.levels)),
    }
    if verification.is_sound() {
        Ok(())
    } else {
        Err(Failure::printed(Code::Damaged))
    }
}

fn levels(levels: &[Level]) -> serde_json::Value {
    let rows = levels
        .iter()
        .zip(LEVELS)
        .enumerate()
        .map(|(number, (level, proves))| {
            let (state, faults, reason) = match level {
                Level::Ok => ("ok", Vec::new(), None),
                Level::Failed(faults) => (
                    "failed",
                    faults.iter().map(ToString::to_string).collect(),
                    None,
                ),
                Level::NotAttempted(reason) => ("not attempted", Vec::new(), Some(reason)),
            };
            serde_json::json!({
                "level": format!("V{number}"), "proves": proves, "state": state, "faults": faults,
                "reason": reason,
            })
        });
    rows.collect()
}

fn levels_text(levels: &[Level]) -> String {
    let mut text = String::new();
    for (number, (level, proves)) in levels.iter().zip(LEVELS).enumerate() {
        text += &format!("V{number} {proves}: {}\n", safe(&level.to_string()));
        if let Level::Failed(faults) = level {
            for fault in faults {
                text += &format!("   {}\n", safe(&fault.to_string()));
            }
        }
    }
    text
}

/// Renders an entry again and compares byte for byte.
///
/// # Errors
/// When it is damaged or comes out otherwise.
pub fn reproduce(arguments: &Reproduce, ui: Ui) -> Result<(), Failure> {
    let shown = paths::shown(&arguments.entry);
    let reproduction =
        review::reproduce(&arguments.entry).map_err(|error| super::report::failed(&error))?;
    let (state, faults): (_, Vec<String>) = match &reproduction {
        Reproduction::Same => ("reproduced", Vec::new()),
        Reproduction::Damaged(faults) => {
            ("damaged", faults.iter().map(ToString::to_string).collect())
        }
        Reproduction::Different(files) => {
            ("different", files.iter().map(ToString::to_string).collect())
        }
    };
    match arguments.format {
        Format::Json => {
            ui.json(&serde_json::json!({"entry": shown, "state": state, "faults": faults}));
        }
        Format::Text if faults.is_empty() => {
            ui.result(&format!("{shown}: every byte came out again"));
        }
        Format::Text => {
            for fault in &faults {
                ui.failure(&Failure::new(Code::Damaged, safe(fault)));
            }
            ui.note(&format!("{shown}: {state}"));
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Failure::printed(Code::Damaged))
    }
}
