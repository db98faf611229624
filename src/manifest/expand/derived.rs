//! Numbers that are computed from estimates alone: what they name exists, their units fit.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::context::{Context, Fault};
use super::reference::{self, At, Phases};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::nearest::did_you_mean;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::derived::{Derived, DerivedRule};
use crate::model::formula::{self, Dimension, UnknownWord};
use crate::model::metric::Unit;
use crate::model::name::{CandidateName, DerivedName, PhaseName, ScenarioName};
use crate::model::{Budget, LoadShape, Metric, Role};

type Budgets = BTreeMap<Role, Budget>;

pub(super) fn derived(
    wire: Option<wire::Named<wire::Name<DerivedName>, wire::Derived>>,
    phases: &Phases,
    budgets: &Budgets,
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
    fn rule(&mut self, wire: wire::Derived, budgets: &Budgets) -> (Option<String>, DerivedRule) {
        use wire::Derived::{CoresByCpuTime, CoresByInstance, Corroboration, Formula, Share};
        match wire {
            CoresByCpuTime(cores) => {
                let against = self.against(cores.against.map(|name| name.0), &cores.phase.0);
                self.of_scenario(&cores.phase.0, &cores.scenario.0, Metric::CpuPerRequest);
                let (target, scenario, phase) = (cores.target.0, cores.scenario.0, cores.phase.0);
                let rule = DerivedRule::CoresByCpuTime {
                    target,
                    scenario,
                    phase,
                    against,
                };
                (cores.title, rule)
            }
            CoresByInstance(cores) => {
                let against = self.against(cores.against.map(|name| name.0), &cores.phase.0);
                self.instance(&cores.phase.0, &cores.scenario.0, budgets);
                let (target, scenario, phase) = (cores.target.0, cores.scenario.0, cores.phase.0);
                let rule = DerivedRule::CoresByInstance {
                    target,
                    scenario,
                    phase,
                    against,
                };
                (cores.title, rule)
            }
            Share(share) => self.share(share),
            Corroboration {
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
            Formula {
                title,
                formula,
                unit,
            } => {
                let unit = self.formula(&formula, unit);
                (title, DerivedRule::Formula { formula, unit })
            }
        }
    }

    fn instance(&mut self, phase: &PhaseName, scenario: &ScenarioName, budgets: &Budgets) {
        self.of_scenario(phase, scenario, Metric::Achieved);
        self.kind_of_phase("phase", phase, true);
        let budget = budgets.get(&Role::Candidate);
        if budget.is_none_or(|budget| budget.cores.is_none()) {
            let message = "cores by instance need the number of cores in `budgets.candidate`";
            let fault = Fault::new(DiagnosticCode::NoBudget, self.at, message).on_key();
            self.context.report(
                fault
                    .touching("/budgets/candidate/cores")
                    .touching("/budgets"),
            );
        }
    }

    fn share(&mut self, wire: wire::ShareOf) -> (Option<String>, DerivedRule) {
        let (of, within, phase) = (wire.of.0, wire.r#in.0, wire.phase.0);
        let metric = wire.metric.0;
        self.of_scenario(&phase, &within, metric);
        if let Some(phase) = self.phases.get(&phase) {
            reference::scenario(&of, phase, &below(self.at, "of"), self.context);
        }
        let rule = DerivedRule::Share {
            of,
            within,
            metric,
            phase,
        };
        (wire.title, rule)
    }

    /// The phase exists, measures the scenario and estimates the metric.
    fn of_scenario(&mut self, phase: &PhaseName, scenario: &ScenarioName, metric: Metric) {
        let pointer = below(self.at, "phase");
        let Some(phase) = reference::phase(phase, &pointer, self.phases, self.context) else {
            return;
        };
        let key = if self.is_given("scenario") {
            "scenario"
        } else {
            "in"
        };
        let at = below(self.at, key);
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
                let mut found = Fault::new(DiagnosticCode::Formula, &pointer, fault.message);
                if end > start {
                    found = found.part(start, end);
                }
                if let Some(UnknownWord { word, known }) = fault.unknown {
                    let all = || format!("expected one of {}", known.join(", "));
                    found = found.help(did_you_mean(&word, known.iter().map(String::as_str), all));
                }
                self.context.report(found);
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
