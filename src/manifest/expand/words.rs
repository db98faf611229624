//! Numbers that the author's words name: what a `value(…)` refers to exists and is one number.
//!
//! Only calls whose arguments are written out are checked; what a template computes is left to the
//! report, which refuses it with the same words.

mod calls;

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::context::{Context, Fault};
use super::reference::Phases;
use crate::manifest::code::DiagnosticCode;
use crate::manifest::nearest::did_you_mean;
use crate::model::experiment::Page;
use crate::model::name::DerivedName;
use crate::model::{Derived, Metric, Phase, Role};
use calls::{Argument, Call};

/// The parts that name a number, in the order in which they narrow the choice.
const PARTS: [&str; 6] = ["metric", "role", "phase", "scenario", "candidate", "at"];
/// What `planned(…)` can say.
const PLANNED: [&str; 8] = [
    "duration",
    "warmup",
    "repetitions",
    "connections",
    "rate",
    "cores",
    "memory",
    "processes",
];

/// A number that the report will have, by the parts of its name in the order of [`PARTS`]; no load
/// point: the estimate over all of them.
type Name = [Option<String>; 6];

/// Checks every text of the page that may name numbers.
pub(super) fn check(
    page: &Page,
    phases: &Phases,
    derived: &IndexMap<DerivedName, Derived>,
    context: &mut Context<'_>,
) {
    let mut known: Option<Vec<Name>> = None;
    for (pointer, text) in texts(page) {
        for call in calls::calls(text) {
            let names = known.get_or_insert_with(|| names(phases, context));
            let check = Check {
                call: &call,
                pointer: &pointer,
                names,
                derived,
            };
            for fault in check.faults() {
                context.report(fault);
            }
        }
    }
}

/// Every text that may name numbers, with its pointer.
fn texts(page: &Page) -> Vec<(String, &str)> {
    let mut texts: Vec<(String, &str)> = Vec::new();
    if let Some(finding) = &page.finding {
        texts.push(("/finding/text".to_owned(), &finding.text));
        texts.push(("/finding/because".to_owned(), &finding.because));
    }
    for (list, of) in [
        ("limits", &page.limits),
        ("open_questions", &page.questions),
    ] {
        let numbered = of.iter().enumerate();
        texts.extend(numbered.map(|(index, text)| (format!("/{list}/{index}"), text.as_str())));
    }
    for (index, result) in page.results.iter().enumerate() {
        let parts = [
            ("setup", Some(&result.setup)),
            ("measured", Some(&result.measured)),
            ("fix", result.fix.as_ref()),
        ];
        for (part, text) in parts {
            texts.extend(text.map(|text| (format!("/results/{index}/{part}"), text.as_str())));
        }
    }
    texts
}

/// Every number that the report will have.
fn names(phases: &Phases, context: &Context<'_>) -> Vec<Name> {
    let mut names = Vec::new();
    for phase in phases.values() {
        for (metric, rule) in &phase.estimate {
            for role in roles(*metric, context) {
                names.extend(of_phase(phase, *metric, &role, rule.points.is_some()));
            }
        }
    }
    names
}

fn roles(metric: Metric, context: &Context<'_>) -> Vec<Role> {
    let mut roles = vec![Role::Candidate];
    if metric.is_per_role() {
        roles.push(Role::Load);
        roles.extend(context.names.services.iter().cloned().map(Role::Service));
    }
    roles
}

fn of_phase(phase: &Phase, metric: Metric, role: &Role, over_points: bool) -> Vec<Name> {
    let mut names = Vec::new();
    for scenario in phase.load.scenarios() {
        let points = phase.load.points(scenario);
        let points = points.iter().map(|at| Some(at.to_string()));
        for at in points.chain(over_points.then_some(None)) {
            for candidate in &phase.candidates {
                names.push([
                    Some(metric.to_string()),
                    Some(role.to_string()),
                    Some(phase.name.to_string()),
                    Some(scenario.to_string()),
                    Some(candidate.to_string()),
                    at.clone(),
                ]);
            }
        }
    }
    names
}

/// Checks one call.
struct Check<'c> {
    call: &'c Call,
    pointer: &'c str,
    names: &'c [Name],
    derived: &'c IndexMap<DerivedName, Derived>,
}

impl Check<'_> {
    fn faults(&self) -> Vec<Fault> {
        let mut faults = match self.call.function {
            "value" => self.number(&["rate"], "candidate", true),
            "interval" => self.number(&[], "candidate", true),
            "ratio" => self.number(&["against", "show"], "compare", false),
            "derived" => self.unknown_keys(&["candidate", "scenario"]),
            _ => self.unknown_keys(&["phase", "scenario", "role"]),
        };
        match self.call.function {
            "ratio" => faults.extend(self.exists("against", 4)),
            "derived" => {
                let known: BTreeSet<&str> = self.derived.keys().map(DerivedName::as_str).collect();
                faults.extend(self.first("declared number", &known));
                faults.extend(self.exists("candidate", 4));
                faults.extend(self.exists("scenario", 3));
            }
            "planned" => {
                faults.extend(self.first("setting", &PLANNED.into_iter().collect()));
                faults.extend(self.exists("phase", 2));
                faults.extend(self.exists("scenario", 3));
            }
            _ => {}
        }
        faults
    }

    fn fault(&self, code: DiagnosticCode, (start, end): (usize, usize), message: String) -> Fault {
        Fault::new(code, self.pointer, message).part(start, end)
    }

    fn argument(&self, key: &str) -> Option<&Argument> {
        self.call.arguments.iter().find(|it| it.key == key)
    }

    /// Keys that the function does not have.
    fn unknown_keys(&self, known: &[&str]) -> Vec<Fault> {
        let unknown = |it: &&Argument| !it.key.is_empty() && !known.contains(&it.key.as_str());
        let fault = |it: &Argument| {
            let message = format!(
                "`{}(…)` has no part `{}`",
                self.call.function,
                it.key.escape_debug()
            );
            let fault = self.fault(DiagnosticCode::Formula, it.range, message);
            fault.help(meant(&it.key, &known.iter().copied().collect()))
        };
        let arguments = self.call.arguments.iter();
        arguments.filter(unknown).map(fault).collect()
    }

    /// The name of a number: every part exists, and parts left out have only one choice.
    fn number(&self, more: &[&str], candidate: &str, is_one: bool) -> Vec<Fault> {
        let key = |part: &'static str| if part == "candidate" { candidate } else { part };
        let keys: Vec<&str> = PARTS
            .into_iter()
            .map(key)
            .chain(more.iter().copied())
            .collect();
        let mut faults = self.unknown_keys(&keys);
        if self.argument("metric").is_none() {
            let message = format!("`{}(…)` needs `metric`", self.call.function);
            faults.push(self.fault(DiagnosticCode::Formula, self.call.range, message));
            return faults;
        }
        let is_written_out = self.call.arguments.iter().all(|it| it.value.is_some());
        let mut left: Vec<&Name> = self.names.iter().collect();
        let mut is_whole = is_written_out && faults.is_empty() && is_one;
        for (index, part) in PARTS.into_iter().enumerate() {
            let given = self.argument(key(part)).map(|it| (it, it.value.as_deref()));
            let wanted = match given {
                Some((argument, Some(wanted))) => Some((argument, wanted)),
                Some((_, None)) => continue,
                None if part == "role" => None,
                None => {
                    if is_whole {
                        let open = self.left_open(&left, index);
                        is_whole = open.is_none();
                        faults.extend(open);
                    }
                    continue;
                }
            };
            let word = wanted.map_or("candidate", |(_, wanted)| wanted);
            let fits = |it: &&&Name| it[index].as_deref() == Some(word);
            if left.iter().any(|it| fits(&it)) {
                left.retain(|it| fits(&it));
            } else if let Some((argument, _)) = wanted {
                faults.push(self.unknown(argument, key(part), index, &left));
                is_whole = false;
            }
        }
        faults
    }

    /// A part that is left out though there are several.
    fn left_open(&self, left: &[&Name], index: usize) -> Option<Fault> {
        let known: BTreeSet<&str> = left.iter().filter_map(|it| it[index].as_deref()).collect();
        let over_points = PARTS[index] == "at" && left.iter().any(|it| it[index].is_none());
        if known.len() < 2 || over_points {
            return None;
        }
        let part = PARTS[index];
        let message = format!(
            "which {} is meant is left open, and there are several",
            word(part)
        );
        let fault = self.fault(DiagnosticCode::Unclear, self.call.range, message);
        let listed: Vec<&str> = known.into_iter().collect();
        Some(fault.help(format!("say it with `{part}`: {}", listed.join(", "))))
    }

    /// A part that no number has, among those that the parts before it leave.
    fn unknown(&self, argument: &Argument, key: &str, index: usize, left: &[&Name]) -> Fault {
        let known: BTreeSet<&str> = left.iter().filter_map(|it| it[index].as_deref()).collect();
        let wanted = argument.value.as_deref().unwrap_or_default();
        let elsewhere = self
            .names
            .iter()
            .any(|it| it[index].as_deref() == Some(wanted));
        let what = word(PARTS[index]);
        let message = if elsewhere {
            format!(
                "there is no such number with {key} `{}`",
                wanted.escape_debug()
            )
        } else {
            format!("there is no {what} `{}`", wanted.escape_debug())
        };
        let fault = self.fault(DiagnosticCode::UnknownName, argument.range, message);
        fault.help(meant(wanted, &known))
    }

    /// An argument that is to be one part of any number.
    fn exists(&self, key: &str, index: usize) -> Option<Fault> {
        let argument = self.argument(key)?;
        let wanted = argument.value.as_deref()?;
        let all: Vec<&Name> = self.names.iter().collect();
        let is_known = all.iter().any(|it| it[index].as_deref() == Some(wanted));
        (!is_known).then(|| self.unknown(argument, key, index, &all))
    }

    /// The first argument, which has no key, is one of the words.
    fn first(&self, what: &str, known: &BTreeSet<&str>) -> Option<Fault> {
        let argument = self.argument("")?;
        let wanted = argument.value.as_deref()?;
        if known.contains(wanted) {
            return None;
        }
        let message = format!("there is no {what} `{}`", wanted.escape_debug());
        let fault = self.fault(DiagnosticCode::UnknownName, argument.range, message);
        Some(fault.help(meant(wanted, known)))
    }
}

fn word(part: &str) -> &str {
    if part == "at" { "load point" } else { part }
}

fn meant(wanted: &str, known: &BTreeSet<&str>) -> String {
    if known.is_empty() {
        return "there is none".to_owned();
    }
    did_you_mean(wanted, known.iter().copied(), || {
        let listed: Vec<&str> = known.iter().copied().collect();
        format!("expected one of {}", listed.join(", "))
    })
}
