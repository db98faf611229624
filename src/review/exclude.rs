//! `exclude`: a person's decision that an attempt or a measurement does not count. Nothing is deleted.

use std::path::Path;

use crate::model::MeasurementId;
use crate::record::{Attempt, Draft, DraftError, LedgerLine, Records, layout, ledger};

/// Why nothing was excluded.
#[derive(Debug, thiserror::Error)]
pub enum ExcludeError {
    /// The draft cannot be read.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// The ledger cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] ledger::LedgerError),
    /// The records cannot be read.
    #[error(transparent)]
    Records(#[from] crate::record::ReadError),
    /// A published entry is never changed.
    #[error(
        "`{}` is published and never changed. The way out: exclude in its draft below `runs/`, measure or publish that as a new entry, and say of this one `loadlab status {} superseded --because …`",
        .0.escape_debug(), .0.escape_debug()
    )]
    Published(String),
    /// No attempt or measurement has this name.
    #[error("there is no attempt or measurement `{}` in this draft{hint}", what.escape_debug())]
    Unknown {
        /// The name that was given.
        what: String,
        /// What there is.
        hint: String,
    },
    /// Somebody excluded it before.
    #[error("`{what}` is excluded already, by {by} on {on}: {because}")]
    Already {
        /// What.
        what: String,
        /// Who.
        by: String,
        /// When.
        on: String,
        /// Why.
        because: String,
    },
    /// A decision without a reason, a person or a day.
    #[error(transparent)]
    Decision(#[from] DecisionFault),
}

/// What a decision lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionFault {
    /// The reason or the person is empty or has control characters.
    #[error("a decision needs {0}: one line that is not empty")]
    Text(&'static str),
    /// The day is none.
    #[error("expected a day as `YYYY-MM-DD`, found `{}`", .0.escape_debug())]
    Day(String),
}

/// Checks that a decision has a reason, a person and a day.
pub(crate) fn decision(because: &str, by: &str, on: &str) -> Result<(), DecisionFault> {
    let line = |text: &str| !text.trim().is_empty() && !text.chars().any(char::is_control);
    if !line(because) {
        return Err(DecisionFault::Text("a reason"));
    }
    if !line(by) {
        return Err(DecisionFault::Text("the name of who decides"));
    }
    let day = on.len() == 10 && on.parse::<jiff::civil::Date>().is_ok();
    if day {
        Ok(())
    } else {
        Err(DecisionFault::Day(on.to_owned()))
    }
}

/// Excludes an attempt (`fixed-rate.r01.plain.a1`) or one of its measurements
/// (`fixed-rate.r01.plain.a1/page.1000-per-s`) of a draft. The records stay as they are; a line is
/// added to the ledger.
///
/// # Errors
/// When the draft was published, nothing has this name, it is excluded already, or a reason, a
/// person or a day is missing; then nothing was written.
pub fn exclude(
    folder: &Path,
    what: &str,
    because: &str,
    by: &str,
    on: &str,
) -> Result<LedgerLine, ExcludeError> {
    decision(because, by, on)?;
    if folder.join(layout::SUMS).exists() {
        return Err(ExcludeError::Published(
            folder.to_string_lossy().into_owned(),
        ));
    }
    let draft = Draft::open(folder)?;
    if let Some(published) = draft.published()? {
        return Err(ExcludeError::Published(published.entry.to_string()));
    }
    let records = draft.records()?.records;
    let (attempt, measurement) = find(&records, what)?;
    let line = LedgerLine {
        attempt,
        measurement,
        because: because.trim().to_owned(),
        by: by.trim().to_owned(),
        on: on.to_owned(),
    };
    let same = |it: &&LedgerLine| it.attempt == line.attempt && it.measurement == line.measurement;
    if let Some(before) = draft.ledger()?.iter().find(same) {
        return Err(ExcludeError::Already {
            what: what.to_owned(),
            by: before.by.escape_debug().to_string(),
            on: before.on.escape_debug().to_string(),
            because: before.because.escape_debug().to_string(),
        });
    }
    ledger::append(folder, &line)?;
    Ok(line)
}

/// The attempt, and the measurement where one is named. Names may hold dots, so what was given is
/// compared with what there is, never taken apart.
fn find(records: &Records, what: &str) -> Result<(Attempt, Option<MeasurementId>), ExcludeError> {
    let (block, measurement) = match what.split_once('/') {
        Some((block, measurement)) => (block, Some(measurement)),
        None => (what, None),
    };
    let attempts = records.attempts();
    let unknown = |names: Vec<String>| ExcludeError::Unknown {
        what: what.to_owned(),
        hint: nearest(what, &names),
    };
    let found = attempts
        .iter()
        .find(|(attempt, _)| attempt.to_string() == block);
    let Some((attempt, recorded)) = found else {
        return Err(unknown(attempts.keys().map(ToString::to_string).collect()));
    };
    let Some(measurement) = measurement else {
        return Ok(((*attempt).clone(), None));
    };
    let measured = recorded
        .measured
        .iter()
        .find(|it| it.id.to_string() == measurement);
    let measured = measured.ok_or_else(|| {
        unknown(
            recorded
                .measured
                .iter()
                .map(|it| format!("{block}/{}", it.id))
                .collect(),
        )
    })?;
    Ok(((*attempt).clone(), Some(measured.id.clone())))
}

fn nearest(what: &str, names: &[String]) -> String {
    let closest = names
        .iter()
        .min_by_key(|name| strsim::levenshtein(what, name));
    closest.map_or_else(
        || "; it has none yet".to_owned(),
        |name| format!("; the nearest is `{name}`"),
    )
}
