//! What is made of the measurements: order, thresholds, comparisons.

use super::context::{Context, Fault};
use super::reference::{self, At, Phases};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::derived::{Comparison, ValueName};
use crate::model::estimator::RatioInterval;
use crate::model::experiment::{Order, OrderRule};
use crate::model::thresholds::Thresholds;
use crate::model::{Phase, Share};

pub(super) fn order(
    wire: Option<wire::Order>,
    phases: &Phases,
    context: &mut Context<'_>,
) -> Order {
    let (word, seed) = match wire {
        None => (None, None),
        Some(wire::Order::Word(word)) => (Some(word), None),
        Some(wire::Order::Rule(rule)) => (rule.rule, rule.seed),
    };
    let rule = match word {
        Some(wire::OrderWords::Balanced) | None => OrderRule::Balanced,
        Some(wire::OrderWords::Random) => OrderRule::Random,
        Some(wire::OrderWords::Rotated) => OrderRule::Rotated,
    };
    if rule == OrderRule::Balanced {
        phases.values().for_each(|phase| balance(phase, context));
    }
    Order { rule, seed }
}

/// Says when the rounds cannot balance the order.
fn balance(phase: &Phase, context: &mut Context<'_>) {
    let candidates = phase.candidates.len();
    let design = if candidates.is_multiple_of(2) {
        candidates
    } else {
        2 * candidates
    };
    if candidates < 2 || (phase.repetitions as usize).is_multiple_of(design) {
        return;
    }
    let message = format!(
        "`repetitions: {}` for {candidates} candidates is not balanced fully; a balanced order has {design} rounds or a multiple",
        phase.repetitions
    );
    let pointer = below(&below("/phases", phase.name.as_str()), "repetitions");
    context.report(
        Fault::new(DiagnosticCode::Balance, &pointer, message)
            .note()
            .touching("/candidates"),
    );
}

pub(super) fn interval(wire: Option<wire::Interval>) -> RatioInterval {
    match wire {
        Some(wire::Interval::Paired) => RatioInterval::Paired,
        Some(wire::Interval::TwoSample) | None => RatioInterval::TwoSample,
    }
}

pub(super) fn coverage(wire: Option<wire::Share>, context: &mut Context<'_>) -> Share {
    let coverage = wire.map_or(Share::percent(95), |share| share.0);
    if coverage.millionths() < 500_000 || coverage.millionths() >= 1_000_000 {
        let message = format!("`coverage` is {coverage}; expected at least 50% and less than 100%");
        context.report(Fault::new(
            DiagnosticCode::BeyondMeaning,
            "/coverage",
            message,
        ));
    }
    coverage
}

/// The thresholds that are written, the others as they are by default.
pub(super) fn guards(wire: wire::Guards) -> Thresholds {
    let mut thresholds = Thresholds::default();
    macro_rules! written {
        ($($field:ident),*; $($number:ident),*) => {
            $(if let Some(value) = wire.$field { thresholds.$field = value.0; })*
            $(if let Some(value) = wire.$number { thresholds.$number = value; })*
        };
    }
    written!(
        probe_drift_at_least, fixed_work_caveat, fixed_work_invalid, generator_busy_caveat,
        generator_busy_invalid, generator_late, foreign_load, steal_caveat, steal_invalid, clock_step,
        suspended, accounting, late_unknown, not_steady;
        probe_drift_deviations, swap_pages
    );
    thresholds
}

pub(super) fn primary(
    wire: wire::Comparison,
    phases: &Phases,
    context: &mut Context<'_>,
) -> Comparison {
    let at = "/primary";
    let (compare, against) = (wire.compare.0, wire.against.0);
    let name = ValueName {
        candidate: Some(compare.clone()),
        scenario: wire.scenario.as_ref().map(|name| name.0.clone()),
        phase: Some(wire.phase.0.clone()),
        at: wire.at.as_ref().map(|point| point.0),
        role: wire.role.as_ref().map(|role| role.0.clone()),
        metric: wire.metric.0,
    };
    reference::candidate(&compare, &below(at, "compare"), context);
    if context.names.candidates.contains(&compare) {
        reference::value(&name, &At::Keys(at), phases, context);
    } else {
        let first = context.names.candidates.first().cloned();
        reference::value(
            &ValueName {
                candidate: first,
                ..name.clone()
            },
            &At::Keys(at),
            phases,
            context,
        );
    }
    reference::candidate(&against, &below(at, "against"), context);
    if let Some(phase) = phases.get(&wire.phase.0) {
        reference::takes_part(&against, phase, &below(at, "against"), context);
    }
    if compare == against {
        let message = format!("candidate `{compare}` is compared with itself");
        let fault = Fault::new(
            DiagnosticCode::SameCandidate,
            &below(at, "against"),
            message,
        );
        context.report(fault.touching(below(at, "compare")));
    }
    Comparison {
        metric: name.metric,
        phase: wire.phase.0,
        scenario: name.scenario,
        at: name.at,
        role: name.role,
        compare,
        against,
        equivalent_within: wire.equivalent_within.map(|share| share.0),
    }
}
