//! Settings of the manifest by name, for the author's words.

use super::super::format;
use super::super::view::wording;
use super::names::{one_of, plain};
use crate::model::Experiment;

/// A setting of the manifest as text: `duration`, `warmup`, `repetitions`, `connections` or `rate` of a
/// phase, `cores`, `memory` or `processes` of a role's budget.
pub(crate) fn planned(
    experiment: &Experiment,
    what: &str,
    phase: Option<&str>,
    scenario: Option<&str>,
    role: Option<&str>,
) -> Result<String, String> {
    use crate::model::LoadShape;
    if ["cores", "memory", "processes"].contains(&what) {
        return budget(experiment, what, role.unwrap_or("candidate"));
    }
    let has = |it: &&crate::model::Phase| {
        what != "rate" || matches!(it.load, LoadShape::FixedRate { .. })
    };
    let phases: Vec<_> = experiment
        .phases
        .values()
        .filter(|it| phase.is_none_or(|name| it.name.as_str() == name))
        .filter(has)
        .collect();
    let [phase] = phases.as_slice() else {
        let known = experiment.phases.keys().map(|it| it.as_str()).collect();
        return Err(format!(
            "planned(\"{}\") needs `phase`; {}",
            plain(what),
            one_of(known)
        ));
    };
    let count = |numbers: Vec<u64>| {
        wording::list(&numbers.into_iter().map(format::count).collect::<Vec<_>>())
    };
    match (what, &phase.load) {
        ("duration", load) => Ok(wording::time(load.common().duration)),
        ("warmup", load) => Ok(wording::time(load.common().warmup)),
        ("repetitions", _) => Ok(format::count(u64::from(phase.repetitions))),
        ("connections", LoadShape::FixedRate { connections, .. }) => {
            Ok(count(vec![u64::from(*connections)]))
        }
        ("connections", LoadShape::Ceiling { connections, .. }) => {
            Ok(count(connections.iter().map(|it| u64::from(*it)).collect()))
        }
        ("rate", LoadShape::FixedRate { rates, .. }) => {
            let of: Vec<_> = rates
                .iter()
                .filter(|(name, _)| scenario.is_none_or(|it| name.as_str() == it))
                .collect();
            let [(_, rates)] = of.as_slice() else {
                let known = rates.keys().map(|it| it.as_str()).collect();
                return Err(format!(
                    "planned(\"rate\") needs `scenario`; {}",
                    one_of(known)
                ));
            };
            Ok(wording::list(
                &rates
                    .iter()
                    .map(|it| format!("{}/s", format::count(it.get())))
                    .collect::<Vec<_>>(),
            ))
        }
        _ => Err(format!(
            "planned(…) has no `{}` here; expected duration, warmup, repetitions, connections, rate (of a fixed-rate phase), cores, memory or processes",
            plain(what)
        )),
    }
}

fn budget(experiment: &Experiment, what: &str, role: &str) -> Result<String, String> {
    let found = experiment
        .budgets
        .iter()
        .find(|(name, _)| name.to_string() == role);
    let Some((_, budget)) = found else {
        let known: Vec<String> = experiment.budgets.keys().map(ToString::to_string).collect();
        return Err(format!(
            "planned(\"{what}\") has no budget of role `{}`; {}",
            plain(role),
            one_of(known.iter().map(String::as_str).collect())
        ));
    };
    let text = match what {
        "cores" => budget
            .cores
            .map(|it| wording::plural(u64::from(it), "core", "cores")),
        "memory" => budget.memory.map(wording::bytes),
        _ => budget
            .processes
            .map(|it| wording::plural(u64::from(it), "process", "processes")),
    };
    text.ok_or_else(|| format!("the budget of role `{role}` has no limit of {what}"))
}
