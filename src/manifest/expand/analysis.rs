//! What is made of the measurements: order, thresholds, comparisons, derived numbers.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::context::{Context, Fault};
use super::reference::{self, At, Phases};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::derived::{Comparison, Derived, DerivedRule, ValueName};
use crate::model::estimator::RatioInterval;
use crate::model::experiment::{Order, OrderRule};
use crate::model::formula::{self, Dimension};
use crate::model::metric::Unit;
use crate::model::name::{CandidateName, DerivedName, PhaseName, ScenarioName};
use crate::model::thresholds::Thresholds;
use crate::model::{Budget, LoadShape, Metric, Phase, Role, Share};

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
        "{} rounds of {candidates} candidates are not balanced fully; a balanced order has {design} rounds or a multiple",
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
        context.report(Fault::new(DiagnosticCode::OutOfRange, "/coverage", message));
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

pub(super) fn derived(
    wire: Option<wire::Named<wire::Name<DerivedName>, wire::Derived>>,
    phases: &Phases,
    budgets: &BTreeMap<Role, Budget>,
    context: &mut Context<'_>,
) -> IndexMap<DerivedName, Derived> {
    let mut derived = IndexMap::new();
    for (wire::Name(name), number) in wire.into_iter().flat_map(|derived| derived.0) {
        let at = below("/derived", name.as_str());
        let mut check = Check {
            at: &at,
            phases,
            context: &mut *context,
        };
        let (title, rule) = check.rule(number, budgets);
        let title = title.unwrap_or_else(|| name.to_string());
        derived.insert(name.clone(), Derived { name, title, rule });
    }
    derived
}

/// Checks one derived number.
struct Check<'c, 'a> {
    at: &'c str,
    phases: &'c Phases,
    context: &'c mut Context<'a>,
}

impl Check<'_, '_> {
    fn rule(
        &mut self,
        wire: wire::Derived,
        budgets: &BTreeMap<Role, Budget>,
    ) -> (Option<String>, DerivedRule) {
        match wire {
            wire::Derived::CoresByCpuTime {
                title,
                target,
                scenario,
                phase,
                against,
            } => {
                self.of_scenario(&phase.0, &scenario.0, Metric::CpuPerRequest);
                let against = self.against(against.map(|name| name.0), &phase.0);
                let (target, scenario, phase) = (target.0, scenario.0, phase.0);
                (
                    title,
                    DerivedRule::CoresByCpuTime {
                        target,
                        scenario,
                        phase,
                        against,
                    },
                )
            }
            wire::Derived::CoresByInstance {
                title,
                target,
                scenario,
                phase,
                against,
            } => {
                self.of_scenario(&phase.0, &scenario.0, Metric::Achieved);
                self.kind_of_phase("phase", &phase.0, true);
                let against = self.against(against.map(|name| name.0), &phase.0);
                if budgets
                    .get(&Role::Candidate)
                    .is_none_or(|budget| budget.cores.is_none())
                {
                    let message =
                        "cores by instance need the number of cores in `budgets.candidate`";
                    let fault = Fault::new(DiagnosticCode::NoBudget, self.at, message).on_key();
                    self.context.report(
                        fault
                            .touching("/budgets/candidate/cores")
                            .touching("/budgets"),
                    );
                }
                let (target, scenario, phase) = (target.0, scenario.0, phase.0);
                (
                    title,
                    DerivedRule::CoresByInstance {
                        target,
                        scenario,
                        phase,
                        against,
                    },
                )
            }
            wire::Derived::Share {
                title,
                of,
                r#in,
                metric,
                phase,
            } => {
                self.of_scenario(&phase.0, &r#in.0, metric.0);
                if let Some(phase) = self.phases.get(&phase.0) {
                    reference::scenario(&of.0, phase, &below(self.at, "of"), self.context);
                }
                let (of, within, metric, phase) = (of.0, r#in.0, metric.0, phase.0);
                (
                    title,
                    DerivedRule::Share {
                        of,
                        within,
                        metric,
                        phase,
                    },
                )
            }
            wire::Derived::Corroboration {
                title,
                target,
                ceiling,
                within,
            } => {
                self.kind_of_phase("target", &target.0, false);
                self.kind_of_phase("ceiling", &ceiling.0, true);
                let (target, ceiling, within) = (target.0, ceiling.0, within.0);
                (
                    title,
                    DerivedRule::Corroboration {
                        target,
                        ceiling,
                        within,
                    },
                )
            }
            wire::Derived::Formula {
                title,
                formula,
                unit,
            } => {
                let unit = self.formula(&formula, unit);
                (title, DerivedRule::Formula { formula, unit })
            }
        }
    }

    /// The phase exists, measures the scenario and estimates the metric.
    fn of_scenario(&mut self, phase: &PhaseName, scenario: &ScenarioName, metric: Metric) {
        let pointer = below(self.at, "phase");
        let Some(phase) = reference::phase(phase, &pointer, self.phases, self.context) else {
            return;
        };
        let has_scenario = self
            .context
            .tree
            .find(&below(self.at, "scenario"))
            .key
            .is_some();
        let at = below(
            self.at,
            if has_scenario && self.is_given("scenario") {
                "scenario"
            } else {
                "in"
            },
        );
        reference::scenario(scenario, phase, &at, self.context);
        let given = if self.is_given("metric") {
            At::Keys(self.at)
        } else {
            At::Text(&pointer, (0, phase.name.as_str().len()))
        };
        reference::estimated(metric, phase, &given, self.context);
    }

    fn is_given(&self, key: &str) -> bool {
        let mapping = self.context.tree.find(self.at).node;
        mapping.get(key).is_some()
    }

    fn against(
        &mut self,
        against: Option<CandidateName>,
        phase: &PhaseName,
    ) -> Option<CandidateName> {
        let name = against?;
        let pointer = below(self.at, "against");
        reference::candidate(&name, &pointer, self.context);
        if let Some(phase) = self.phases.get(phase) {
            reference::takes_part(&name, phase, &pointer, self.context);
        }
        Some(name)
    }

    fn kind_of_phase(&mut self, key: &str, name: &PhaseName, ceiling: bool) {
        let pointer = below(self.at, key);
        let found = if key == "phase" {
            self.phases.get(name)
        } else {
            reference::phase(name, &pointer, self.phases, self.context)
        };
        let Some(phase) = found else { return };
        if matches!(phase.load, LoadShape::Ceiling { .. }) != ceiling {
            let wanted = if ceiling { "ceiling" } else { "fixed-rate" };
            let message = format!("`{name}` is no {wanted} phase");
            let fault = Fault::new(DiagnosticCode::WrongPhase, &pointer, message);
            let kind = below(&below(&below("/phases", name.as_str()), "load"), "kind");
            self.context.report(fault.label(&kind, "its kind"));
        }
    }

    fn formula(&mut self, text: &str, wanted: Option<wire::FormulaUnit>) -> Unit {
        let pointer = below(self.at, "formula");
        let wanted = wanted.map(unit);
        let read = match formula::parse(text) {
            Ok(read) => read,
            Err(fault) => {
                let (start, end) = (fault.range.start, fault.range.end);
                let fault = Fault::new(DiagnosticCode::Formula, &pointer, fault.message);
                self.context.report(if end > start {
                    fault.part(start, end)
                } else {
                    fault
                });
                return Unit::One;
            }
        };
        for (name, range) in read.values() {
            let at = At::Text(&pointer, (range.start, range.end));
            reference::value(name, &at, self.phases, self.context);
        }
        match wanted {
            Some(wanted) => {
                if !read.has_unit(wanted) {
                    let message = format!(
                        "the formula comes to {}, not to {}",
                        read.dimension,
                        Dimension::of(wanted)
                    );
                    let fault =
                        Fault::new(DiagnosticCode::Formula, &below(self.at, "unit"), message);
                    self.context.report(fault.touching(pointer));
                }
                wanted
            }
            None => self.unit_of(read.dimension, &pointer),
        }
    }

    /// The unit that a dimension is printed in.
    fn unit_of(&mut self, dimension: Dimension, pointer: &str) -> Unit {
        let units = [
            Unit::PerSecond,
            Unit::Nanoseconds,
            Unit::Bytes,
            Unit::NanosecondsPerByte,
            Unit::One,
        ];
        let unit = units
            .into_iter()
            .find(|unit| Dimension::of(*unit) == dimension);
        if unit.is_none() {
            let message = format!("the formula comes to {dimension}, for which there is no unit");
            self.context
                .report(Fault::new(DiagnosticCode::Formula, pointer, message));
        }
        unit.unwrap_or(Unit::One)
    }
}

const fn unit(wire: wire::FormulaUnit) -> Unit {
    match wire {
        wire::FormulaUnit::PerSecond => Unit::PerSecond,
        wire::FormulaUnit::Nanoseconds => Unit::Nanoseconds,
        wire::FormulaUnit::Cores => Unit::Cores,
        wire::FormulaUnit::Bytes => Unit::Bytes,
        wire::FormulaUnit::NanosecondsPerByte => Unit::NanosecondsPerByte,
        wire::FormulaUnit::One => Unit::One,
    }
}
