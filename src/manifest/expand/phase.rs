//! Phases: load points and estimators.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::context::{Context, Fault, texts};
use super::feasible::{answers_fit, enough_requests, not_measured, scaled, shape_is_measurable};
use super::steps::longer_than_nothing;
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::estimator::{Centre, EstimateRule};
use crate::model::name::{CandidateName, PhaseName, ScenarioName};
use crate::model::phase::{Accept, LoadCommon, LoadShape, Phase};
use crate::model::scenario::Scenario;
use crate::model::{Budget, Metric, Nanoseconds, Quantile, Role, Share};

type Scenarios = IndexMap<ScenarioName, Scenario>;
type Budgets = BTreeMap<Role, Budget>;

pub(super) fn phases(
    wire: wire::Named<wire::Name<PhaseName>, wire::Phase>,
    scenarios: &Scenarios,
    budgets: &Budgets,
    scale: Option<Share>,
    context: &mut Context<'_>,
) -> IndexMap<PhaseName, Phase> {
    let mut phases = IndexMap::new();
    for (wire::Name(name), phase) in wire.0 {
        let at = below("/phases", name.as_str());
        let expanded = expand(name.clone(), phase, &at, context);
        shape_is_measurable(&expanded, &at, scenarios, context);
        if scale.is_none() {
            enough_requests(&expanded, &at, context);
        }
        let load = scale.map_or_else(
            || expanded.load.clone(),
            |scale| scaled(&expanded.load, scale),
        );
        let expanded = Phase { load, ..expanded };
        answers_fit(&expanded, &at, budgets, context);
        phases.insert(name, expanded);
    }
    not_measured(&phases, scenarios, context);
    phases
}

fn expand(name: PhaseName, phase: wire::Phase, at: &str, context: &mut Context<'_>) -> Phase {
    let candidates = candidates(phase.candidates, at, context);
    let load = load(phase.load, &below(at, "load"), context);
    let is_ceiling = matches!(load, LoadShape::Ceiling { .. });
    if is_ceiling && phase.accept.is_some() {
        let message = "a ceiling plans no rate that could be held";
        context
            .report(Fault::new(DiagnosticCode::NeverHeld, &below(at, "accept"), message).on_key());
    }
    Phase {
        title: phase.title.unwrap_or_else(|| name.to_string()),
        name,
        estimate: estimate(phase.estimate, is_ceiling),
        load,
        repetitions: phase.repetitions,
        candidates,
        accept: phase.accept.map(|accept| Accept { held: accept.held }),
    }
}

/// The candidates that take part, in the order of the manifest.
fn candidates(
    wire: Option<Vec<wire::Name<CandidateName>>>,
    at: &str,
    context: &mut Context<'_>,
) -> Vec<CandidateName> {
    let all = context.names.candidates.clone();
    let Some(wire) = wire else { return all };
    for (index, name) in wire
        .iter()
        .enumerate()
        .filter(|(_, name)| !all.contains(&name.0))
    {
        let pointer = below(&below(at, "candidates"), &index.to_string());
        context.unknown(
            &pointer,
            "candidate",
            name.0.as_str(),
            &texts(&all),
            "/candidates",
        );
    }
    all.into_iter()
        .filter(|name| wire.iter().any(|wanted| wanted.0 == *name))
        .collect()
}

fn load(wire: wire::Load, at: &str, context: &mut Context<'_>) -> LoadShape {
    scenarios_are_declared(&wire, at, context);
    let shape = match wire {
        wire::Load::FixedRate {
            rates,
            connections,
            held_at,
            warmup,
            duration,
            timeout,
            quiet,
            keep_requests,
        } => {
            let points =
                |rates: wire::OneOrMany<wire::Rate>| rates.0.iter().map(|rate| rate.0).collect();
            let rates = rates.0.into_iter();
            LoadShape::FixedRate {
                rates: rates.map(|(name, rates)| (name.0, points(rates))).collect(),
                connections,
                held_at: share_held(held_at, at, context),
                common: common(
                    [warmup, timeout, quiet],
                    &duration,
                    keep_requests.unwrap_or(0),
                ),
            }
        }
        wire::Load::Ceiling {
            scenarios,
            connections,
            warmup,
            duration,
            timeout,
            quiet,
        } => {
            let named = scenarios.map(|names| names.into_iter().map(|name| name.0).collect());
            LoadShape::Ceiling {
                scenarios: named.unwrap_or_else(|| context.names.scenarios.clone()),
                connections: connections.0.iter().map(|count| count.0).collect(),
                common: common([warmup, timeout, quiet], &duration, 0),
            }
        }
    };
    let LoadCommon {
        duration, timeout, ..
    } = shape.common();
    longer_than_nothing(
        *duration,
        "the load window",
        &below(at, "duration"),
        context,
    );
    longer_than_nothing(
        *timeout,
        "the longest wait for an answer",
        &below(at, "timeout"),
        context,
    );
    shape
}

/// Settings that every load shape has: 5 s of warm-up, 10 s for an answer, 5 s of quiet by default.
fn common(
    times: [Option<wire::Duration>; 3],
    duration: &wire::Duration,
    keep_requests: u64,
) -> LoadCommon {
    let [warmup, timeout, quiet] = times;
    let or = |time: Option<wire::Duration>, usual| {
        time.map_or(Nanoseconds::seconds(usual), |time| time.0)
    };
    LoadCommon {
        warmup: or(warmup, 5),
        duration: duration.0,
        timeout: or(timeout, 10),
        quiet: or(quiet, 5),
        keep_requests,
    }
}

fn scenarios_are_declared(wire: &wire::Load, at: &str, context: &mut Context<'_>) {
    match wire {
        wire::Load::FixedRate { rates, .. } => {
            for name in rates.0.keys() {
                is_declared(
                    &name.0,
                    &below(&below(at, "rates"), name.0.as_str()),
                    context,
                );
            }
        }
        wire::Load::Ceiling { scenarios, .. } => {
            for (index, name) in scenarios.iter().flatten().enumerate() {
                is_declared(
                    &name.0,
                    &below(&below(at, "scenarios"), &index.to_string()),
                    context,
                );
            }
        }
    }
}

fn is_declared(name: &ScenarioName, pointer: &str, context: &mut Context<'_>) {
    if !context.names.scenarios.contains(name) {
        let known = texts(&context.names.scenarios);
        context.unknown(pointer, "scenario", name.as_str(), &known, "/scenarios");
    }
}

fn share_held(wire: Option<wire::Share>, at: &str, context: &mut Context<'_>) -> Share {
    let share = wire.map_or(Share::percent(99), |share| share.0);
    if share.millionths() == 0 || share.millionths() > 1_000_000 {
        let message = format!("`held_at` is {share}; expected more than 0% and at most 100%");
        context.report(Fault::new(
            DiagnosticCode::BeyondMeaning,
            &below(at, "held_at"),
            message,
        ));
    }
    share
}

/// The usual metrics of one word. Documented in the schema; a change is a new protocol number.
fn usual_metrics(is_ceiling: bool) -> Vec<Metric> {
    let p99: Quantile = "p99".parse().expect("a quantile as it is written");
    let mut metrics = vec![Metric::Achieved, Metric::CpuPerRequest, Metric::CoresUsed];
    if is_ceiling {
        metrics.push(Metric::MemoryPeak);
    } else {
        let more = [
            Metric::BytesPerAnswer,
            Metric::MemoryPeak,
            Metric::Latency(Quantile::P50),
            Metric::Latency(p99),
        ];
        metrics.extend(more);
    }
    metrics
}

fn estimate(wire: Option<wire::Estimate>, is_ceiling: bool) -> IndexMap<Metric, EstimateRule> {
    let points = |metric| (is_ceiling && metric == Metric::Achieved).then_some(Centre::Best);
    match wire.unwrap_or(wire::Estimate::Word(Centre::Median)) {
        wire::Estimate::Word(repetitions) => usual_metrics(is_ceiling)
            .into_iter()
            .map(|metric| {
                (
                    metric,
                    EstimateRule {
                        repetitions,
                        points: points(metric),
                    },
                )
            })
            .collect(),
        wire::Estimate::Metrics(metrics) => metrics
            .0
            .into_iter()
            .map(|(wire::MetricName(metric), rule)| {
                let rule = match rule {
                    wire::MetricRule::Word(repetitions) => EstimateRule {
                        repetitions,
                        points: points(metric),
                    },
                    wire::MetricRule::Steps(steps) => EstimateRule {
                        repetitions: steps.repetitions.0,
                        points: steps
                            .points
                            .map_or_else(|| points(metric), |word| Some(word.0)),
                    },
                };
                (metric, rule)
            })
            .collect(),
    }
}
