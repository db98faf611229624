//! `loadlab explain`: what a code means and what to do.

use serde::Serialize;

use super::args::{Explain, Format};
use super::failure::{Code, Failure};
use super::ui::{Ui, safe};
use crate::model::code::{Caveat, GuardCode, Outcome, Symptom};

/// A code with its explanation.
#[derive(Debug, Serialize)]
struct Entry {
    code: String,
    kind: &'static str,
    meaning: String,
    remedy: String,
}

/// Prints one code's explanation, or the list of all.
///
/// # Errors
/// When there is no such code.
pub fn explain(arguments: &Explain, ui: Ui) -> Result<(), Failure> {
    let entries = entries();
    let Some(code) = &arguments.code else {
        list(&entries, arguments.format, ui);
        return Ok(());
    };
    let entry = entries
        .iter()
        .find(|entry| entry.code.eq_ignore_ascii_case(code));
    let Some(entry) = entry else {
        return Err(unknown(code, &entries));
    };
    match arguments.format {
        Format::Json => ui.json(entry),
        Format::Text => ui.result(&format!(
            "{} ({})\n\n{}\n\n{}",
            entry.code, entry.kind, entry.meaning, entry.remedy
        )),
    }
    Ok(())
}

fn list(entries: &[Entry], format: Format, ui: Ui) {
    if format == Format::Json {
        return ui.json(&entries);
    }
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            let first = entry
                .meaning
                .split_inclusive(". ")
                .next()
                .unwrap_or_default();
            format!("{:<28}{:<12}{}", entry.code, entry.kind, first.trim())
        })
        .collect();
    ui.result(&lines.join("\n"));
}

fn entries() -> Vec<Entry> {
    let entry = |code: &str, kind, explanation: crate::model::code::Explanation| Entry {
        code: code.to_owned(),
        kind,
        meaning: explanation.meaning.to_owned(),
        remedy: explanation.remedy.to_owned(),
    };
    let diagnostics = crate::manifest::codes().iter().map(|code| Entry {
        code: code.code().to_owned(),
        kind: "diagnostic",
        meaning: code.explain().meaning.to_owned(),
        remedy: code.explain().remedy.to_owned(),
    });
    diagnostics
        .chain(
            GuardCode::ALL
                .iter()
                .map(|code| entry(code.code(), "guard", code.explain())),
        )
        .chain(
            Outcome::ALL
                .iter()
                .map(|code| entry(code.code(), "outcome", code.explain())),
        )
        .chain(
            Caveat::ALL
                .iter()
                .map(|code| entry(code.code(), "caveat", code.explain())),
        )
        .chain(
            Symptom::ALL
                .iter()
                .map(|code| entry(code.code(), "symptom", code.explain())),
        )
        .collect()
}

fn unknown(code: &str, entries: &[Entry]) -> Failure {
    let nearest = entries
        .iter()
        .max_by(|a, b| {
            let likeness = |entry: &Entry| strsim::jaro_winkler(&entry.code, code);
            likeness(a).total_cmp(&likeness(b))
        })
        .filter(|entry| strsim::jaro_winkler(&entry.code, code) > 0.8);
    let failure = Failure::new(Code::Usage, format!("there is no code `{}`", safe(code)));
    match nearest {
        Some(entry) => failure.hint(format!("the nearest is `{}`", entry.code)),
        None => failure.hint("`loadlab explain` lists all codes"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Arguments;

    #[test]
    fn a_remedy_names_no_verb_that_is_not_there() {
        let command = Arguments::command();
        for entry in entries() {
            for named in entry.remedy.split("`loadlab ").skip(1) {
                let verb = named.split([' ', '`']).next().unwrap();
                let found = command.find_subcommand(verb);
                assert!(found.is_some(), "{}: loadlab {verb}", entry.code);
            }
        }
    }
}
