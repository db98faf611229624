//! How a phase is loaded and estimated, in words.

use crate::model::{Experiment, LoadPoint, LoadShape, Phase};
use crate::report::format;
use crate::report::view::wording;

/// The load and the estimators of a phase in words.
pub(crate) fn lead(experiment: &Experiment, phase: &Phase) -> String {
    let common = phase.load.common();
    let shape = match &phase.load {
        LoadShape::FixedRate {
            rates,
            connections,
            held_at,
            ..
        } => {
            let rate = |(scenario, rates): (&_, &Vec<crate::model::Rate>)| {
                let rates: Vec<String> = rates
                    .iter()
                    .map(|it| format!("{}/s", format::count(it.get())))
                    .collect();
                format!(
                    "{} at {}",
                    wording::scenario(experiment, scenario),
                    wording::list(&rates)
                )
            };
            let rates: Vec<String> = rates.iter().map(rate).collect();
            format!(
                "Open loop, corrected for coordinated omission: {}; {}. A rate counts as held from {held_at} of the planned requests",
                rates.join("; "),
                wording::point(LoadPoint::Connections(*connections)),
            )
        }
        LoadShape::Ceiling {
            scenarios,
            connections,
            ..
        } => {
            let points: Vec<String> = connections
                .iter()
                .map(|it| format::count(u64::from(*it)))
                .collect();
            let names: Vec<String> = scenarios
                .iter()
                .map(|it| wording::scenario(experiment, it))
                .collect();
            format!(
                "Closed loop, as fast as answers come: {}; {} connections",
                names.join("; "),
                wording::list(&points)
            )
        }
    };
    let warmup = if common.warmup.0 == 0 {
        "without warm-up".to_owned()
    } else {
        format!(
            "after {} of warm-up per scenario and block",
            wording::time(common.warmup)
        )
    };
    format!(
        "{shape}. Windows of {} {warmup}; {}. Estimates: {}.",
        wording::time(common.duration),
        wording::plural(u64::from(phase.repetitions), "repetition", "repetitions"),
        rules(phase)
    )
}

/// The estimators of a phase, metrics of one rule together.
fn rules(phase: &Phase) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (metric, rule) in &phase.estimate {
        let mut words = format!("{} of the repetitions", wording::centre(rule.repetitions));
        if let Some(points) = rule.points {
            words.push_str(&format!(
                ", then {} of the load points",
                wording::centre(points)
            ));
        }
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, metrics)) => metrics.push(wording::metric(*metric)),
            None => groups.push((words, vec![wording::metric(*metric)])),
        }
    }
    let group = |(words, metrics): &(String, Vec<String>)| {
        format!("{words} for {}", wording::list(metrics))
    };
    groups.iter().map(group).collect::<Vec<_>>().join("; ")
}

pub(super) fn rules_sentence(phase: &Phase) -> String {
    let rules = rules(phase);
    let mut letters = rules.chars();
    letters.next().map_or_else(String::new, |first| {
        format!("{}{}.", first.to_uppercase(), letters.as_str())
    })
}
