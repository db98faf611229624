//! Names of numbers: what they refer to exists, is estimated, and is one number.

use indexmap::IndexMap;

use super::context::{Context, Fault, texts};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::model::derived::ValueName;
use crate::model::name::{CandidateName, PhaseName, ScenarioName};
use crate::model::{LoadPoint, Metric, Phase, Role};

pub(super) type Phases = IndexMap<PhaseName, Phase>;

/// Where the parts of a name stand: each at a key of its own, or all in one text.
pub(super) enum At<'a> {
    Keys(&'a str),
    Text(&'a str, (usize, usize)),
}

impl At<'_> {
    fn fault(&self, code: DiagnosticCode, part: &str, message: String) -> Fault {
        match self {
            Self::Keys(pointer) => Fault::new(code, &below(pointer, part), message),
            Self::Text(pointer, (start, end)) => {
                Fault::new(code, pointer, message).part(*start, *end)
            }
        }
    }

    fn pointer(&self, part: &str) -> String {
        match self {
            // A comparison calls its candidate `compare`.
            Self::Keys(pointer) if part == "candidate" => below(pointer, "compare"),
            Self::Keys(pointer) => below(pointer, part),
            Self::Text(pointer, _) => (*pointer).to_owned(),
        }
    }
}

/// The phase of that name, reported when there is none.
pub(super) fn phase<'p>(
    name: &PhaseName,
    pointer: &str,
    phases: &'p Phases,
    context: &mut Context<'_>,
) -> Option<&'p Phase> {
    let found = phases.get(name);
    if found.is_none() {
        let known: Vec<PhaseName> = phases.keys().cloned().collect();
        context.unknown(pointer, "phase", name.as_str(), &texts(&known), "/phases");
    }
    found
}

pub(super) fn candidate(name: &CandidateName, pointer: &str, context: &mut Context<'_>) {
    if !context.names.candidates.contains(name) {
        let known = texts(&context.names.candidates);
        context.unknown(pointer, "candidate", name.as_str(), &known, "/candidates");
    }
}

/// The candidate takes part in the phase.
pub(super) fn takes_part(
    name: &CandidateName,
    phase: &Phase,
    pointer: &str,
    context: &mut Context<'_>,
) {
    let declared = context.names.candidates.contains(name);
    if declared && !phase.candidates.contains(name) {
        let message = format!(
            "candidate `{name}` does not take part in the phase `{}`",
            phase.name
        );
        let fault = Fault::new(DiagnosticCode::UnknownName, pointer, message);
        let at = below(&below("/phases", phase.name.as_str()), "candidates");
        context.report(fault.label(&at, "these take part"));
    }
}

/// The scenario exists and the phase measures it.
pub(super) fn scenario(
    name: &ScenarioName,
    phase: &Phase,
    pointer: &str,
    context: &mut Context<'_>,
) {
    if !context.names.scenarios.contains(name) {
        let known = texts(&context.names.scenarios);
        context.unknown(pointer, "scenario", name.as_str(), &known, "/scenarios");
    } else if !phase.load.scenarios().contains(&name) {
        let message = format!(
            "the phase `{}` does not measure the scenario `{name}`",
            phase.name
        );
        let fault = Fault::new(DiagnosticCode::UnknownName, pointer, message);
        context.report(fault.touching(below("/phases", phase.name.as_str())));
    }
}

/// The phase estimates the metric.
pub(super) fn estimated(metric: Metric, phase: &Phase, at: &At<'_>, context: &mut Context<'_>) {
    if phase.estimate.contains_key(&metric) {
        return;
    }
    let listed: Vec<String> = phase.estimate.keys().map(ToString::to_string).collect();
    let message = format!("the phase `{}` does not estimate `{metric}`", phase.name);
    let fault = at.fault(DiagnosticCode::NotEstimated, "metric", message);
    let declared = below(&below("/phases", phase.name.as_str()), "estimate");
    context.report(
        fault
            .touching(declared)
            .help(format!("it estimates {}", listed.join(", "))),
    );
}

/// A whole name: every part exists, and parts left out have only one choice.
pub(super) fn value(name: &ValueName, at: &At<'_>, phases: &Phases, context: &mut Context<'_>) {
    match &name.candidate {
        Some(candidate_name) => candidate(candidate_name, &at.pointer("candidate"), context),
        None if context.names.candidates.len() > 1 => unclear("candidate", at, context),
        None => {}
    }
    role(name, at, context);
    let phase = match &name.phase {
        Some(phase_name) => phase(phase_name, &at.pointer("phase"), phases, context),
        None if phases.len() > 1 => {
            unclear("phase", at, context);
            None
        }
        None => phases.values().next(),
    };
    let Some(phase) = phase else { return };
    if let Some(name) = &name.candidate {
        takes_part(name, phase, &at.pointer("candidate"), context);
    }
    estimated(name.metric, phase, at, context);
    let measured = phase.load.scenarios();
    let scenario_name = match &name.scenario {
        Some(scenario_name) => {
            scenario(scenario_name, phase, &at.pointer("scenario"), context);
            measured.contains(&scenario_name).then_some(scenario_name)
        }
        None if measured.len() > 1 => {
            unclear("scenario", at, context);
            None
        }
        None => measured.first().copied(),
    };
    if let Some(scenario_name) = scenario_name {
        point(name, phase, scenario_name, at, context);
    }
}

fn role(name: &ValueName, at: &At<'_>, context: &mut Context<'_>) {
    let Some(role) = &name.role else { return };
    if let Role::Service(service) = role
        && !context.names.services.contains(service)
    {
        let message = format!("there is no role `{role}`");
        let fault = at.fault(DiagnosticCode::UnknownRole, "role", message);
        context.report(fault.touching(below("/services", service.as_str())));
    }
    if *role != Role::Candidate && !name.metric.is_per_role() {
        let message = format!("`{}` is not a metric of the role `{role}`", name.metric);
        context.report(at.fault(DiagnosticCode::NotEstimated, "role", message));
    }
}

fn point(
    name: &ValueName,
    phase: &Phase,
    scenario: &ScenarioName,
    at: &At<'_>,
    context: &mut Context<'_>,
) {
    let points = phase.load.points(scenario);
    let listed = || {
        points
            .iter()
            .map(LoadPoint::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match name.at {
        Some(point) if !points.contains(&point) => {
            let message = format!(
                "the phase `{}` has no load point {point} of `{scenario}`",
                phase.name
            );
            let fault = at.fault(DiagnosticCode::UnknownName, "at", message);
            let load = below(&below("/phases", phase.name.as_str()), "load");
            context.report(
                fault
                    .touching(load)
                    .help(format!("load points are {}", listed())),
            );
        }
        None if points.len() > 1 => {
            let over_points = phase
                .estimate
                .get(&name.metric)
                .is_some_and(|rule| rule.points.is_some());
            let estimated = phase.estimate.contains_key(&name.metric);
            if estimated && !over_points {
                let message = format!("`{}` has an estimate at each of {}", name.metric, listed());
                let fault = at.fault(DiagnosticCode::Unclear, "metric", message);
                context.report(
                    fault.help("say which load point with `at`, or estimate over `points`"),
                );
            }
        }
        _ => {}
    }
}

fn unclear(part: &str, at: &At<'_>, context: &mut Context<'_>) {
    let message = format!("which {part} is meant is left open, and there are several");
    let fault = at.fault(DiagnosticCode::Unclear, "metric", message);
    context.report(
        fault
            .help(format!("say it with `{part}`"))
            .touching(format!("/{part}s")),
    );
}
