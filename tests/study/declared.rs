//! The derived numbers that the study declares.

use indexmap::IndexMap;
use loadlab::model::derived::{Derived, DerivedRule};
use loadlab::model::{Metric, Rate, ScenarioName, Share};

use super::figures::name;

pub fn derived() -> IndexMap<loadlab::model::DerivedName, Derived> {
    let target = Rate::per_second(50_000).unwrap();
    let (scenario, go): (ScenarioName, _) = (name("read"), Some(name("go")));
    let rules = [
        (
            "by-cpu-time",
            DerivedRule::CoresByCpuTime {
                target,
                scenario: scenario.clone(),
                phase: name("fixed-rate"),
                against: go.clone(),
            },
        ),
        (
            "by-instance",
            DerivedRule::CoresByInstance {
                target,
                scenario,
                phase: name("ceiling"),
                against: go,
            },
        ),
        (
            "token-share",
            DerivedRule::Share {
                of: name("token-check"),
                within: name("read"),
                metric: Metric::CpuPerRequest,
                phase: name("fixed-rate"),
            },
        ),
        (
            "phases-agree",
            DerivedRule::Corroboration {
                target: name("fixed-rate"),
                ceiling: name("ceiling"),
                within: Share::percent(10),
            },
        ),
    ];
    for_each_database_ratio(rules.map(|(key, rule)| (key.to_owned(), rule)).into())
}

fn for_each_database_ratio(
    mut rules: Vec<(String, DerivedRule)>,
) -> IndexMap<loadlab::model::DerivedName, Derived> {
    for scenario in ["read", "write"] {
        let value = |candidate: &str| {
            format!(
                "value(candidate=\"{candidate}\", scenario=\"{scenario}\", phase=\"fixed-rate\", role=\"postgres\", metric=\"cpu_per_request\")"
            )
        };
        let formula = format!("{} / {} - 1", value("php-fpm"), value("go"));
        let rule = DerivedRule::Formula {
            formula,
            unit: loadlab::model::Unit::One,
        };
        rules.push((format!("database-{scenario}"), rule));
    }
    let derived = rules.into_iter().map(|(key, rule)| {
        let key: loadlab::model::DerivedName = name(&key);
        (
            key.clone(),
            Derived {
                title: key.to_string(),
                name: key,
                rule,
            },
        )
    });
    derived.collect()
}
