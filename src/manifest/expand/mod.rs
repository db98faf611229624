//! From the wire types to the model: every default filled in, every semantic rule checked.
//!
//! A part that is at fault is reported and stands in with something harmless, so that the rest is
//! checked too; the model is handed out only when nothing was at fault.

mod analysis;
mod context;
mod cores;
mod definition;
mod derived;
mod feasible;
mod member;
mod phase;
mod placeholders;
mod reference;
mod scenario;
mod standards;
mod steps;
mod stub;
mod words;

use std::path::PathBuf;

use super::code::DiagnosticCode;
use super::files::Files;
use super::findings::Findings;
use super::tree::Node;
use super::wire;
use crate::model::cores::{Isolation, Sharing};
use crate::model::experiment::{
    Author, Confidence, Experiment, Finding, NamedResult, PROTOCOL, Page, ResultState,
};
use crate::model::plural::counted;
use crate::model::probe::{Probe, ProbeTimes};
use crate::model::unit::Share;
use crate::model::{Nanoseconds, Quantile, Rate};

use context::{Context, Fault, Names};

/// What a profile adds beside core sets, which are merged into the tree.
#[derive(Default)]
pub(super) struct Machine {
    pub(super) share: bool,
    pub(super) scale: Option<Share>,
    /// Names of the profiles that could have been asked for.
    pub(super) known: Vec<String>,
}

/// Makes the model. What it returns is to be used only if nothing was at fault.
pub(super) fn expand(
    manifest: wire::Manifest,
    tree: &Node,
    machine: &Machine,
    folder: PathBuf,
    findings: &mut Findings,
) -> Experiment {
    let context = &mut Context {
        tree,
        findings,
        files: Files::new(folder),
        names: names(&manifest),
    };
    let page = page(&manifest);
    let isolation = isolation(manifest.isolation);
    let split = cores::expand(
        manifest.cores,
        manifest.budgets,
        isolation,
        machine,
        context,
    );
    let budgets = &split.budgets;
    let probe = probe(manifest.probe.unwrap_or_default(), context);
    let services = definition::services(manifest.services, budgets, context);
    let candidates = definition::candidates(manifest.candidates, budgets, context);
    let prewarm = steps::early_steps(manifest.prewarm, context);
    let scenarios = scenario::scenarios(manifest.scenarios, &candidates, budgets, context);
    let contract = scenario::contract(manifest.contract, &candidates, budgets, context);
    let phases = phase::phases(manifest.phases, &scenarios, budgets, machine.scale, context);
    let order = analysis::order(manifest.order, &phases, context);
    let derived = derived::derived(manifest.derived, &phases, budgets, context);
    words::check(&page, &phases, &derived, context);
    let primary = manifest
        .primary
        .map(|it| analysis::primary(it, &phases, context));
    let coverage = analysis::coverage(manifest.coverage, context);
    let of = (&manifest.name.0, machine.scale);
    let standards = standards::standards(manifest.standards, of, &phases, budgets, context);
    Experiment {
        protocol: PROTOCOL,
        name: manifest.name.0,
        page,
        isolation,
        cores: split.cores,
        sharing: sharing(machine),
        budgets: split.budgets,
        probe,
        services,
        prewarm,
        candidates,
        scenarios,
        contract,
        phases,
        order,
        attempts: manifest.attempts.unwrap_or(3),
        guards: analysis::guards(manifest.guards.unwrap_or_default()),
        coverage,
        ratio_interval: analysis::interval(manifest.interval),
        spread_bound: manifest.spread_bound.map(|bound| bound.0),
        primary,
        derived,
        standards,
        scale: machine.scale,
        files: context.files.to_named(),
    }
}

fn names(manifest: &wire::Manifest) -> Names {
    let services = manifest
        .services
        .iter()
        .flat_map(|services| services.0.keys());
    Names {
        candidates: manifest
            .candidates
            .0
            .keys()
            .map(|name| name.0.clone())
            .collect(),
        scenarios: manifest
            .scenarios
            .0
            .keys()
            .map(|name| name.0.clone())
            .collect(),
        services: services.map(|name| name.0.clone()).collect(),
    }
}

const fn isolation(wire: Option<wire::Isolation>) -> Isolation {
    match wire {
        Some(wire::Isolation::Strict) => Isolation::Strict,
        Some(wire::Isolation::Declared) | None => Isolation::Declared,
    }
}

const fn sharing(machine: &Machine) -> Sharing {
    if machine.share {
        Sharing::Declared
    } else {
        Sharing::Disjoint
    }
}

fn page(manifest: &wire::Manifest) -> Page {
    let author = |author: &wire::Author| Author {
        name: author.name.clone(),
        id: author.id.clone(),
    };
    let finding = |finding: &wire::Finding| Finding {
        text: finding.text.clone(),
        confidence: match finding.confidence {
            wire::Confidence::Low => Confidence::Low,
            wire::Confidence::Medium => Confidence::Medium,
            wire::Confidence::High => Confidence::High,
        },
        because: finding.because.clone(),
    };
    let result = |result: &wire::NamedResult| NamedResult {
        id: result.id.0.to_string(),
        title: result.title.clone(),
        setup: result.setup.clone(),
        measured: result.measured.clone(),
        fix: result.fix.clone(),
        state: match result.state {
            wire::ResultState::Shown => ResultState::Shown,
            wire::ResultState::FixNotMeasured => ResultState::FixNotMeasured,
            wire::ResultState::Open => ResultState::Open,
        },
    };
    Page {
        title: manifest.title.clone(),
        question: manifest.question.trim().to_owned(),
        authors: manifest.authors.0.iter().map(author).collect(),
        licence: manifest.licence.clone(),
        programme: manifest.programme.clone(),
        technologies: manifest.technologies.clone().unwrap_or_default(),
        finding: manifest.finding.as_ref().map(finding),
        limits: manifest.limits.clone().unwrap_or_default(),
        questions: manifest.open_questions.clone().unwrap_or_default(),
        results: manifest.results.iter().flatten().map(result).collect(),
    }
}

fn probe(wire: wire::Probe, context: &mut Context<'_>) -> Probe {
    let (rate, connections, duration) = match wire.load {
        Some(wire::ProbeLoad::FixedRate {
            rate,
            connections,
            duration,
        }) => (rate, connections, duration),
        None => (None, None, None),
    };
    let whole = |requests| Rate::per_second(requests).expect("at least one a second");
    let rate = rate.map_or_else(|| whole(2_000), |rate| rate.0);
    let duration = duration.map_or(Nanoseconds::seconds(1), |duration| duration.0);
    let at_least = wire
        .at_least
        .map_or_else(|| whole((rate.get() * 99 / 100).max(1)), |rate| rate.0);
    if at_least > rate {
        let message = format!("the probe is to reach {at_least} but is driven at {rate}");
        let fault = Fault::new(DiagnosticCode::ProbeFloor, "/probe/at_least", message);
        context.report(fault.touching("/probe/load/rate"));
    }
    let needs = p99().needs();
    if duration.0 == 0 {
        let message = "the probe's load window is zero; expected a length of time";
        context.report(Fault::new(
            DiagnosticCode::NoTime,
            "/probe/load/duration",
            message,
        ));
    } else if rate.planned(duration) < needs {
        let planned = rate.planned(duration);
        let message = format!(
            "{rate} for {duration} plans {} of the probe; its p99 needs {needs}",
            counted(planned, "request", "requests")
        );
        let fault = Fault::new(DiagnosticCode::TooFewRequests, "/probe/load", message);
        context.report(
            fault
                .touching("/probe/load/rate")
                .touching("/probe/load/duration"),
        );
    }
    Probe {
        when: match wire.when {
            Some(wire::ProbeTimes::Before) => ProbeTimes::Before,
            Some(wire::ProbeTimes::BeforeAndAfter) | None => ProbeTimes::BeforeAndAfter,
        },
        rate,
        connections: connections.unwrap_or(16),
        duration,
        at_least,
        calibration: wire.calibration.unwrap_or(5),
        ceiling: wire.ceiling,
    }
}

fn p99() -> Quantile {
    "p99".parse().expect("a quantile as it is written")
}
