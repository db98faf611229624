//! Phases: load points, estimators, and whether the numbers that they ask for can exist.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::context::{Context, Fault, texts};
use super::definition::longer_than_nothing;
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::estimator::{Centre, EstimateRule};
use crate::model::name::{CandidateName, PhaseName, ScenarioName};
use crate::model::phase::{Accept, LoadCommon, LoadShape, Phase};
use crate::model::scenario::Scenario;
use crate::model::{Budget, Bytes, Metric, Nanoseconds, Quantile, Rate, Role, Share};

/// What the load generator keeps of each answer: 0.42 KiB, in hundredths of a byte.
const KEPT_PER_ANSWER: u64 = 43_008;
/// What it may use where its budget does not say.
const USUAL_MEMORY: Bytes = Bytes(1 << 30);

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
    let time = |time: Option<wire::Duration>, usual| {
        time.map_or(Nanoseconds::seconds(usual), |time| time.0)
    };
    let known = context.names.scenarios.clone();
    let exists = |pointer: String, name: &ScenarioName, context: &mut Context<'_>| {
        if !known.contains(name) {
            context.unknown(
                &pointer,
                "scenario",
                name.as_str(),
                &texts(&known),
                "/scenarios",
            );
        }
    };
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
            for name in rates.0.keys() {
                exists(
                    below(&below(at, "rates"), name.0.as_str()),
                    &name.0,
                    context,
                );
            }
            let rates = rates.0.into_iter();
            LoadShape::FixedRate {
                rates: rates
                    .map(|(name, rates)| (name.0, rates.0.iter().map(|rate| rate.0).collect()))
                    .collect(),
                connections,
                held_at: share_held(held_at, at, context),
                common: LoadCommon {
                    warmup: time(warmup, 5),
                    duration: duration.0,
                    timeout: time(timeout, 10),
                    quiet: time(quiet, 5),
                    keep_requests: keep_requests.unwrap_or(0),
                },
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
            for (index, name) in scenarios.iter().flatten().enumerate() {
                exists(
                    below(&below(at, "scenarios"), &index.to_string()),
                    &name.0,
                    context,
                );
            }
            let named = scenarios.map(|names| names.into_iter().map(|name| name.0).collect());
            LoadShape::Ceiling {
                scenarios: named.unwrap_or_else(|| known.clone()),
                connections: connections.0.iter().map(|count| count.0).collect(),
                common: LoadCommon {
                    warmup: time(warmup, 5),
                    duration: duration.0,
                    timeout: time(timeout, 10),
                    quiet: time(quiet, 5),
                    keep_requests: 0,
                },
            }
        }
    };
    longer_than_nothing(
        shape.common().duration,
        "the load window",
        &below(at, "duration"),
        context,
    );
    longer_than_nothing(
        shape.common().timeout,
        "the longest wait for an answer",
        &below(at, "timeout"),
        context,
    );
    shape
}

fn share_held(wire: Option<wire::Share>, at: &str, context: &mut Context<'_>) -> Share {
    let share = wire.map_or(Share::percent(99), |share| share.0);
    if share.millionths() == 0 || share.millionths() > 1_000_000 {
        let message = format!("`held_at` is {share}; expected more than 0% and at most 100%");
        context.report(Fault::new(
            DiagnosticCode::OutOfRange,
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

/// A scenario that changes data is measured last.
fn shape_is_measurable(phase: &Phase, at: &str, scenarios: &Scenarios, context: &mut Context<'_>) {
    let order = phase.load.scenarios();
    let Some((_, earlier)) = order.split_last() else {
        return;
    };
    for (index, name) in earlier.iter().enumerate() {
        let changes = scenarios
            .get(*name)
            .is_some_and(|scenario| scenario.changes_data);
        let named = match phase.load {
            LoadShape::FixedRate { .. } => {
                below(&below(&below(at, "load"), "rates"), name.as_str())
            }
            LoadShape::Ceiling { .. } => {
                below(&below(&below(at, "load"), "scenarios"), &index.to_string())
            }
        };
        // Where the phase takes the order of `scenarios`, the fault stands there.
        let is_written = context.tree.find(&named).key.is_some()
            || matches!(phase.load, LoadShape::Ceiling { .. });
        let declared = below("/scenarios", name.as_str());
        let takes_all =
            order.len() == scenarios.len() && order.iter().copied().eq(scenarios.keys());
        if changes && is_written && !takes_all {
            let message = format!("scenario `{name}` changes data and is not measured last");
            let fault = Fault::new(DiagnosticCode::ChangesData, &named, message).on_key();
            context.report(fault.label(&below(&declared, "changes_data"), "it changes data"));
        }
    }
}

/// Rate times duration is large enough for every quantile that is estimated.
fn enough_requests(phase: &Phase, at: &str, context: &mut Context<'_>) {
    let LoadShape::FixedRate { rates, common, .. } = &phase.load else {
        return;
    };
    let quantiles = phase.estimate.keys().filter_map(|metric| match metric {
        Metric::Latency(quantile) => Some(*quantile),
        _ => None,
    });
    let Some(highest) = quantiles.max_by_key(|quantile| quantile.needs()) else {
        return;
    };
    if common.duration.0 == 0 {
        return;
    }
    for (scenario, rates) in rates {
        let Some(lowest) = rates.iter().min() else {
            continue;
        };
        let planned = lowest.planned(common.duration);
        if planned < highest.needs() {
            let duration = common.duration;
            let message = format!(
                "{lowest} for {duration} plans {planned} requests; `{highest}` needs at least {}",
                highest.needs()
            );
            let pointer = below(&below(&below(at, "load"), "rates"), scenario.as_str());
            let fault = Fault::new(DiagnosticCode::TooFewRequests, &pointer, message);
            context.report(
                fault
                    .label(&below(&below(at, "load"), "duration"), "for this long")
                    .touching(below(at, "estimate")),
            );
        }
    }
}

/// The answers of one window fit the load generator's memory.
fn answers_fit(phase: &Phase, at: &str, budgets: &Budgets, context: &mut Context<'_>) {
    let LoadShape::FixedRate { rates, common, .. } = &phase.load else {
        return;
    };
    let declared = budgets.get(&Role::Load).and_then(|budget| budget.memory);
    let limit = declared.unwrap_or(USUAL_MEMORY);
    for (scenario, rates) in rates {
        let Some(highest) = rates.iter().max() else {
            continue;
        };
        let planned = highest.planned(common.duration);
        let kept = u128::from(planned) * u128::from(KEPT_PER_ANSWER) / 100;
        if kept > u128::from(limit.0) {
            let mebibytes = kept.div_ceil(1 << 20);
            let budget = if declared.is_some() {
                "its budget"
            } else {
                "the usual 1 GiB"
            };
            let message = format!(
                "{planned} answers in one window need {mebibytes} MiB of the load generator; {budget} is {limit}"
            );
            let pointer = below(&below(&below(at, "load"), "rates"), scenario.as_str());
            let fault = Fault::new(DiagnosticCode::GeneratorMemory, &pointer, message);
            context.report(
                fault
                    .touching("/budgets/load/memory")
                    .touching(below(&below(at, "load"), "duration")),
            );
        }
    }
}

fn not_measured(
    phases: &IndexMap<PhaseName, Phase>,
    scenarios: &Scenarios,
    context: &mut Context<'_>,
) {
    for name in scenarios.keys() {
        if phases
            .values()
            .any(|phase| phase.load.scenarios().contains(&name))
        {
            continue;
        }
        let message = format!("no phase measures the scenario `{name}`");
        let fault = Fault::new(
            DiagnosticCode::NotMeasured,
            &below("/scenarios", name.as_str()),
            message,
        );
        context.report(fault.note().on_key().touching("/phases"));
    }
}

/// Durations and rates of a rehearsal. Nothing becomes zero: a window keeps at least 1 ms and a rate 1/s.
fn scaled(load: &LoadShape, scale: Share) -> LoadShape {
    let part = |value: u64| {
        let product = u128::from(value) * u128::from(scale.millionths()) / 1_000_000;
        u64::try_from(product).unwrap_or(u64::MAX)
    };
    let mut load = load.clone();
    let common = match &mut load {
        LoadShape::FixedRate { common, .. } | LoadShape::Ceiling { common, .. } => common,
    };
    common.duration = Nanoseconds(part(common.duration.0).max(1_000_000));
    common.warmup = Nanoseconds(part(common.warmup.0));
    if let LoadShape::FixedRate { rates, .. } = &mut load {
        for rates in rates.values_mut() {
            for rate in rates.iter_mut() {
                *rate = Rate::per_second(part(rate.get()).max(1)).expect("at least one a second");
            }
            rates.dedup();
        }
    }
    load
}
