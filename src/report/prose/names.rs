//! Every number of a report by the names that an author may use.

use std::collections::BTreeSet;

use super::super::format::{NONE, Scale};
use super::super::view::{comparisons, results, shown};
use crate::estimate::Summary;
use crate::estimate::summary::{Decimal, Estimate, PointsEstimate};
use crate::model::{Experiment, Metric};

/// The parts of a name, each as text; absent: the only one there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The phase.
    pub(crate) phase: Option<String>,
    /// The scenario.
    pub(crate) scenario: Option<String>,
    /// The candidate.
    pub(crate) candidate: Option<String>,
    /// The load point.
    pub(crate) at: Option<String>,
    /// The role; absent: the candidate.
    pub(crate) role: Option<String>,
    /// The metric.
    pub(crate) metric: String,
}

/// A number with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    phase: String,
    scenario: String,
    candidate: String,
    at: Option<String>,
    role: String,
    metric: String,
    /// The value with its unit.
    pub(crate) text: String,
    /// The interval with its unit; empty where there is none.
    pub(crate) interval: String,
    /// The achieved rate that belongs beside it.
    pub(crate) rate: Option<String>,
}

/// A ratio with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedRatio {
    parts: Named,
    against: String,
    /// The verdict in words.
    pub(crate) verdict: String,
}

/// A declared number with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedDerived {
    name: String,
    candidate: Option<String>,
    scenario: Option<String>,
    text: String,
}

/// Every number of a report by its name.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    values: Vec<Named>,
    ratios: Vec<NamedRatio>,
    derived: Vec<NamedDerived>,
    /// The experiment, for what was planned.
    pub(crate) experiment: Experiment,
}

impl Numbers {
    /// The numbers of a summary.
    pub(crate) fn of(experiment: &Experiment, summary: &Summary) -> Self {
        let points = summary.over_points.iter().map(over_points);
        let values = summary.estimates.iter().map(value).chain(points);
        Self {
            values: values.collect(),
            ratios: ratios(summary),
            derived: derived(summary),
            experiment: experiment.clone(),
        }
    }

    /// The number of this name.
    pub(crate) fn value(&self, parts: &Parts) -> Result<&Named, String> {
        let all: Vec<&Named> = self.values.iter().collect();
        choose(&all, parts, "value")
    }

    /// The ratio of this name; `parts.candidate` is the numerator.
    pub(crate) fn ratio(&self, parts: &Parts, against: &str) -> Result<&NamedRatio, String> {
        let of: Vec<&NamedRatio> = self
            .ratios
            .iter()
            .filter(|it| it.against == against)
            .collect();
        if of.is_empty() {
            let known: BTreeSet<&str> = self.ratios.iter().map(|it| it.against.as_str()).collect();
            return Err(format!(
                "nothing is compared against `{}`; {}",
                plain(against),
                one_of(known)
            ));
        }
        let named: Vec<&Named> = of.iter().map(|it| &it.parts).collect();
        let found = choose(&named, parts, "ratio")?;
        of.into_iter()
            .find(|it| std::ptr::eq(&raw const it.parts, &raw const *found))
            .ok_or_else(String::new)
    }

    /// The declared number of this name.
    pub(crate) fn derived(
        &self,
        name: &str,
        candidate: Option<&str>,
        scenario: Option<&str>,
    ) -> Result<String, String> {
        let of: Vec<&NamedDerived> = self.derived.iter().filter(|it| it.name == name).collect();
        if of.is_empty() {
            let known = self.derived.iter().map(|it| it.name.as_str()).collect();
            return Err(format!(
                "no number `{}` is declared; {}",
                plain(name),
                one_of(known)
            ));
        }
        let fits = |wanted: Option<&str>, has: &Option<String>| {
            wanted.is_none() || wanted == has.as_deref()
        };
        let rows: Vec<&&NamedDerived> = of
            .iter()
            .filter(|it| fits(candidate, &it.candidate) && fits(scenario, &it.scenario))
            .collect();
        match rows.as_slice() {
            [only] => Ok(only.text.clone()),
            _ => {
                let key = |it: &&NamedDerived| {
                    let parts = [("candidate", &it.candidate), ("scenario", &it.scenario)];
                    let part = |(name, value): (&str, &Option<String>)| {
                        value.as_ref().map(|it| format!("{name}=\"{it}\""))
                    };
                    parts
                        .into_iter()
                        .filter_map(part)
                        .collect::<Vec<_>>()
                        .join(", ")
                };
                let choices: Vec<String> = of.iter().map(key).collect();
                Err(format!(
                    "derived(\"{name}\") needs one of: {}",
                    choices.join(" | ")
                ))
            }
        }
    }
}

/// The only number that a name fits; else an error that names the choices.
fn choose<'a>(all: &[&'a Named], parts: &Parts, function: &str) -> Result<&'a Named, String> {
    let role = parts.role.as_deref().unwrap_or("candidate");
    let mut left: Vec<&Named> = all.to_vec();
    for (part, wanted, of) in [
        (
            "metric",
            Some(parts.metric.as_str()),
            (|it| Some(&it.metric)) as fn(&Named) -> Option<&String>,
        ),
        ("role", Some(role), |it| Some(&it.role)),
        ("phase", parts.phase.as_deref(), |it| Some(&it.phase)),
        ("scenario", parts.scenario.as_deref(), |it| {
            Some(&it.scenario)
        }),
        ("candidate", parts.candidate.as_deref(), |it| {
            Some(&it.candidate)
        }),
    ] {
        left = narrow(left, part, wanted, of, function)?;
    }
    // Without a load point the estimate over all of them is meant, where there is one.
    if parts.at.is_none()
        && let [only] = left
            .iter()
            .filter(|it| it.at.is_none())
            .collect::<Vec<_>>()
            .as_slice()
    {
        return Ok(only);
    }
    left = narrow(
        left,
        "at",
        parts.at.as_deref(),
        |it| it.at.as_ref(),
        function,
    )?;
    left.first()
        .copied()
        .ok_or_else(|| format!("{function}(…) names nothing"))
}

/// Those that have the wanted part; without one, all of them must have the same.
fn narrow<'a>(
    left: Vec<&'a Named>,
    part: &str,
    wanted: Option<&str>,
    of: fn(&Named) -> Option<&String>,
    function: &str,
) -> Result<Vec<&'a Named>, String> {
    let known: BTreeSet<&str> = left
        .iter()
        .filter_map(|it| of(it))
        .map(String::as_str)
        .collect();
    let Some(wanted) = wanted else {
        return if known.len() > 1 {
            Err(format!(
                "{function}(…) needs `{part}`, there are several; {}",
                one_of(known)
            ))
        } else {
            Ok(left)
        };
    };
    if !known.contains(wanted) {
        return Err(format!(
            "{function}(…) has no number with {part} `{}`; {}",
            plain(wanted),
            one_of(known)
        ));
    }
    Ok(left
        .into_iter()
        .filter(|it| of(it).is_some_and(|it| it == wanted))
        .collect())
}

pub(super) fn one_of(known: BTreeSet<&str>) -> String {
    if known.is_empty() {
        return "there is none".to_owned();
    }
    format!(
        "expected one of {}",
        known.into_iter().collect::<Vec<_>>().join(", ")
    )
}

pub(super) fn plain(text: &str) -> String {
    super::super::escape::plain(text)
}

fn value(estimate: &Estimate) -> Named {
    let scale = shown::scale(estimate);
    let text = shown::value(estimate, scale);
    let absent = text == NONE;
    let reason = estimate.because.as_deref().filter(|_| absent);
    let rate = estimate
        .achieved
        .as_ref()
        .filter(|_| estimate.metric == Metric::CpuPerRequest && !absent);
    let interval = shown::interval(estimate.interval.as_ref(), scale);
    Named {
        phase: estimate.phase.to_string(),
        scenario: estimate.scenario.to_string(),
        candidate: estimate.candidate.to_string(),
        at: Some(estimate.at.to_string()),
        role: estimate.role.to_string(),
        metric: estimate.metric.to_string(),
        text: reason.map_or(text, |reason| format!("no value ({reason})")),
        interval: if interval.is_empty() {
            interval
        } else {
            scale.with(&interval)
        },
        rate: rate.map(shown::rate),
    }
}

fn over_points(it: &PointsEstimate) -> Named {
    let scale = Scale::of(it.unit, it.value.as_ref().map(Decimal::get));
    let text = results::over(it, scale);
    let reason = it.because.as_deref().filter(|_| it.value.is_none());
    Named {
        phase: it.phase.to_string(),
        scenario: it.scenario.to_string(),
        candidate: it.candidate.to_string(),
        at: None,
        role: it.role.to_string(),
        metric: it.metric.to_string(),
        text: reason.map_or(text, |reason| format!("no value ({reason})")),
        interval: String::new(),
        rate: None,
    }
}

fn ratios(summary: &Summary) -> Vec<NamedRatio> {
    let ratio = |it: &crate::estimate::summary::ComparisonResult| {
        let text = comparisons::ratio(it);
        let reason = it.because.as_deref().filter(|_| it.ratio.is_none());
        NamedRatio {
            parts: Named {
                phase: it.comparison.phase.to_string(),
                scenario: it
                    .comparison
                    .scenario
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
                candidate: it.comparison.compare.to_string(),
                at: it.comparison.at.map(|at| at.to_string()),
                role: it
                    .comparison
                    .role
                    .as_ref()
                    .map_or_else(|| "candidate".to_owned(), ToString::to_string),
                metric: it.comparison.metric.to_string(),
                text: reason.map_or(text, |reason| format!("no ratio ({reason})")),
                interval: comparisons::interval(it),
                rate: None,
            },
            against: it.comparison.against.to_string(),
            verdict: comparisons::verdict(it),
        }
    };
    summary.comparisons.iter().map(ratio).collect()
}

impl NamedRatio {
    /// The ratio.
    pub(crate) fn text(&self) -> &str {
        &self.parts.text
    }

    /// Its interval; empty where there is none.
    pub(crate) fn interval(&self) -> &str {
        &self.parts.interval
    }
}

fn derived(summary: &Summary) -> Vec<NamedDerived> {
    let mut all = Vec::new();
    for result in &summary.derived {
        for row in &result.rows {
            let scale = Scale::of(row.unit, row.value.as_ref().map(Decimal::get));
            let value = comparisons::derived_value(row.value.as_ref(), scale);
            let text = match (&row.value, &row.note, row.mark) {
                (None, Some(because), _) => format!("no value ({because})"),
                (Some(_), _, crate::estimate::summary::Mark::Extrapolated) => {
                    format!("{value} (extrapolated)")
                }
                _ => value,
            };
            all.push(NamedDerived {
                name: result.name.to_string(),
                candidate: row.candidate.as_ref().map(ToString::to_string),
                scenario: row.scenario.as_ref().map(ToString::to_string),
                text,
            });
        }
    }
    all
}
