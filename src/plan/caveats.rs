//! Caveats that are known before anything runs.

use super::Plan;
use super::order::{Balance, balance};
use super::standards::reaches;
use crate::model::Experiment;
use crate::model::code::Caveat;
use crate::model::cores::Sharing;
use crate::model::experiment::OrderRule;
use crate::model::plural::counted;

/// The caveats of a plan, each with what it is about here, in a fixed order.
#[must_use]
pub fn caveats(experiment: &Experiment, plan: &Plan) -> Vec<(Caveat, String)> {
    let mut found = Vec::new();
    if experiment.sharing == Sharing::Declared {
        let split = experiment.cores.iter();
        let split: Vec<String> = split.map(|(role, cpus)| format!("{role} {cpus}")).collect();
        let text = format!("roles may share CPUs: {}", split.join(", "));
        found.push((Caveat::SharedCores, text));
    }
    if let Some(scale) = experiment.scale {
        let text = format!("durations and rates are {scale} of the experiment's own");
        found.push((Caveat::Scaled, text));
    }
    found.extend(of_standards(experiment, plan));
    for phase in experiment.phases.values() {
        let planned = plan.blocks.iter().any(|block| block.id.phase == phase.name);
        if !planned {
            continue;
        }
        found.extend(of_order(experiment.order.rule, phase));
        let scenarios = phase.load.scenarios().len();
        if scenarios > 1 {
            let text = format!(
                "phase `{}` measures {scenarios} scenarios in each block",
                phase.name
            );
            found.push((Caveat::SharedProcess, text));
        }
    }
    found
}

/// Standards that stand in too few rounds to say anything at the declared coverage.
fn of_standards(experiment: &Experiment, plan: &Plan) -> Option<(Caveat, String)> {
    let standards = experiment.standards.as_ref()?;
    let rounds = plan.totals.standards?.rounds;
    let n = u32::try_from(rounds).unwrap_or(u32::MAX);
    let kind = experiment.ratio_interval;
    let needed = (1..).find(|n| reaches(*n, kind, experiment.coverage))?;
    (n < needed).then(|| {
        let text = format!(
            "standards stand in {}; a coverage of {} needs {needed}: raise `standards.share` above {} or `repetitions`",
            counted(rounds, "round", "rounds"),
            experiment.coverage, standards.share
        );
        (Caveat::FewStandards, text)
    })
}

fn of_order(rule: OrderRule, phase: &crate::model::Phase) -> Option<(Caveat, String)> {
    let several = phase.candidates.len() > 1;
    match (rule, balance(phase)) {
        (OrderRule::Balanced, Balance::Incomplete { rounds_needed }) => Some((
            Caveat::IncompleteBalance,
            format!(
                "phase `{}` has {} of {} candidates; a balanced order needs {rounds_needed}",
                phase.name,
                counted(u64::from(phase.repetitions), "round", "rounds"),
                phase.candidates.len()
            ),
        )),
        (OrderRule::Rotated, _) if several => Some((
            Caveat::PlainRotation,
            format!("phase `{}` rotates its candidates", phase.name),
        )),
        _ => None,
    }
}
