//! The parts that name a number in `value(…)`.

use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;

use super::{FormulaFault, UnknownWord};
use crate::model::derived::ValueName;
use crate::model::metric::Metric;
use crate::model::{CandidateName, LoadPoint, PhaseName, Role, ScenarioName};

/// What a named number has.
const PARTS: [&str; 6] = ["candidate", "scenario", "phase", "at", "role", "metric"];

/// The parts of a number's name as they come.
#[derive(Default)]
pub(super) struct Parts {
    candidate: Option<CandidateName>,
    scenario: Option<ScenarioName>,
    phase: Option<PhaseName>,
    at: Option<LoadPoint>,
    role: Option<Role>,
    metric: Option<Metric>,
}

impl Parts {
    /// Takes a part in: its name and its text, each with its place.
    pub(super) fn take(
        &mut self,
        (name, name_at): (&str, Range<usize>),
        (text, text_at): (&str, Range<usize>),
    ) -> Result<(), FormulaFault> {
        match name {
            "candidate" => set(&mut self.candidate, name, text, name_at, text_at),
            "scenario" => set(&mut self.scenario, name, text, name_at, text_at),
            "phase" => set(&mut self.phase, name, text, name_at, text_at),
            "at" => set(&mut self.at, name, text, name_at, text_at),
            "role" => set(&mut self.role, name, text, name_at, text_at),
            "metric" if self.metric.is_none() && text.parse::<Metric>().is_err() => {
                let message = format!("there is no metric `{}`", text.escape_debug());
                let plain = Metric::PLAIN.map(|metric| metric.to_string());
                let known = plain.into_iter().chain(["p99".to_owned()]).collect();
                Err(unknown(text_at, message, text, known))
            }
            "metric" => set(&mut self.metric, name, text, name_at, text_at),
            other => {
                let message = format!("`value(…)` has no part `{other}`");
                let known = PARTS.map(str::to_owned).into();
                Err(unknown(name_at, message, other, known))
            }
        }
    }

    /// The whole name; absent: it has no metric.
    pub(super) fn into_name(self) -> Option<ValueName> {
        Some(ValueName {
            candidate: self.candidate,
            scenario: self.scenario,
            phase: self.phase,
            at: self.at,
            role: self.role,
            metric: self.metric?,
        })
    }
}

fn set<T: FromStr<Err: Display>>(
    slot: &mut Option<T>,
    name: &str,
    text: &str,
    name_range: Range<usize>,
    text_range: Range<usize>,
) -> Result<(), FormulaFault> {
    if slot.is_some() {
        return Err(FormulaFault {
            range: name_range,
            message: format!("`{name}` is given twice"),
            unknown: None,
        });
    }
    let parsed = text.parse().map_err(|error: T::Err| FormulaFault {
        range: text_range,
        message: format!("{name}: {error}"),
        unknown: None,
    })?;
    *slot = Some(parsed);
    Ok(())
}

fn unknown(range: Range<usize>, message: String, word: &str, known: Vec<String>) -> FormulaFault {
    FormulaFault {
        range,
        message,
        unknown: Some(UnknownWord {
            word: word.to_owned(),
            known,
        }),
    }
}
