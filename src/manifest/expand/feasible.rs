//! Whether the numbers that a phase asks for can exist, and what a rehearsal makes of it.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::context::{Context, Fault};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::model::name::{PhaseName, ScenarioName};
use crate::model::phase::{LoadShape, Phase};
use crate::model::plural::counted;
use crate::model::scenario::Scenario;
use crate::model::{Budget, Bytes, Metric, Nanoseconds, Rate, Role, Share};

/// What the load generator keeps of each answer: 0.42 KiB, in hundredths of a byte.
const KEPT_PER_ANSWER: u64 = 43_008;
/// What it may use where its budget does not say.
const USUAL_MEMORY: Bytes = Bytes(1 << 30);

type Scenarios = IndexMap<ScenarioName, Scenario>;
type Budgets = BTreeMap<Role, Budget>;

/// A scenario that changes data is measured last.
pub(super) fn shape_is_measurable(
    phase: &Phase,
    at: &str,
    scenarios: &Scenarios,
    context: &mut Context<'_>,
) {
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
pub(super) fn enough_requests(phase: &Phase, at: &str, context: &mut Context<'_>) {
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
                "{lowest} for {duration} plans {}; `{highest}` needs at least {}",
                counted(planned, "request", "requests"),
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
pub(super) fn answers_fit(phase: &Phase, at: &str, budgets: &Budgets, context: &mut Context<'_>) {
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
            let whose = if declared.is_some() {
                "its budget is"
            } else {
                "without a budget it has"
            };
            let message = format!(
                "{planned} answers in one window need {mebibytes} MiB of the load generator; {whose} {limit}"
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

/// Says which scenarios no phase measures.
pub(super) fn not_measured(
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
pub(super) fn scaled(load: &LoadShape, scale: Share) -> LoadShape {
    let part = |value: u64| part_of(value, scale);
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

/// A share of a number, rounded down.
pub(super) fn part_of(value: u64, scale: Share) -> u64 {
    let product = u128::from(value) * u128::from(scale.millionths()) / 1_000_000;
    u64::try_from(product).unwrap_or(u64::MAX)
}
