//! The words of a page for what the code names by types.

use crate::estimate::summary::{Mark, RanOut, Verdict};
use crate::model::metric::Unit;
use crate::model::plural::noun;
use crate::model::{
    Bytes, CandidateName, Centre, Experiment, LoadPoint, Metric, Nanoseconds, PhaseName, Role,
    ScenarioName,
};
use crate::report::format::{GAP, NONE, Scale, count};

/// How the page calls a metric.
pub(crate) fn metric(metric: Metric) -> String {
    match metric {
        Metric::Achieved => "Achieved rate".to_owned(),
        Metric::CpuPerRequest => "CPU per request".to_owned(),
        Metric::CoresUsed => "Cores used".to_owned(),
        Metric::BytesPerAnswer => "Bytes per answer".to_owned(),
        Metric::MemoryPeak => "Peak memory".to_owned(),
        Metric::MemoryMean => "Mean memory".to_owned(),
        Metric::Latency(quantile) => format!("Latency {quantile}"),
    }
}

/// What a metric is, in a sentence.
pub(crate) fn metric_means(metric: Metric) -> &'static str {
    match metric {
        Metric::Achieved => "Expected answers inside the load window per second.",
        Metric::CpuPerRequest => {
            "CPU time of the role's group over the requests answered, both of the counter window. It depends on the rate, so the achieved rate stands below it."
        }
        Metric::CoresUsed => "CPU time of the role's group over the length of the counter window.",
        Metric::BytesPerAnswer => "Body bytes as they came over the wire, over answers.",
        Metric::MemoryPeak => {
            "Highest sample of anonymous plus shared memory; page cache is not counted."
        }
        Metric::MemoryMean => {
            "Mean of the samples of anonymous plus shared memory; page cache is not counted."
        }
        Metric::Latency(_) => {
            "Response time at that rank among planned requests (floor index), corrected for coordinated omission; what was not answered counts as infinitely late."
        }
    }
}

/// A role in words.
pub(crate) fn role(role: &Role) -> String {
    match role {
        Role::Candidate => "candidate".to_owned(),
        Role::Load => "load generator".to_owned(),
        Role::Probe => "probe".to_owned(),
        Role::Service(name) => name.to_string(),
    }
}

/// A load point in words.
pub(crate) fn point(point: LoadPoint) -> String {
    match point {
        LoadPoint::Rate(rate) => format!("{}/s", count(rate.get())),
        LoadPoint::Connections(1) => format!("1{GAP}connection"),
        LoadPoint::Connections(connections) => {
            format!("{}{GAP}connections", count(u64::from(connections)))
        }
    }
}

/// An estimator in words.
pub(crate) const fn centre(centre: Centre) -> &'static str {
    match centre {
        Centre::Median => "median",
        Centre::Best => "best",
        Centre::Mean => "mean",
        Centre::TrimmedMean => "trimmed mean",
        Centre::Min => "smallest",
        Centre::Max => "largest",
        Centre::Range => "range",
    }
}

/// How sure a number is.
pub(crate) const fn mark(mark: Mark) -> &'static str {
    match mark {
        Mark::Measured => "measured",
        Mark::Calculated => "calculated",
        Mark::Extrapolated => "extrapolated",
    }
}

/// Who ran out.
pub(crate) const fn ran_out(who: RanOut) -> &'static str {
    match who {
        RanOut::Nobody => "nobody",
        RanOut::Candidate => "candidate",
        RanOut::Service => "service",
        RanOut::Generator => "load generator",
        RanOut::Budget => "another limit of the budget",
    }
}

/// A verdict as a word about the first of the two.
pub(crate) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Lower => "lower",
        Verdict::Higher => "higher",
        Verdict::NoDifferenceShown => "no difference shown",
        Verdict::EquivalentWithin => "equivalent",
        Verdict::BelowResolution => "below what this run resolves",
    }
}

/// An outcome in words.
pub(crate) fn outcome(outcome: crate::model::Outcome) -> String {
    outcome.code().replace('_', " ")
}

/// The name of a unit in a heading or an axis; empty for a pure number.
pub(crate) fn unit(unit: Unit, scale: Scale) -> String {
    match unit {
        Unit::PerSecond => "requests per second".to_owned(),
        Unit::One => String::new(),
        Unit::Nanoseconds | Unit::NanosecondsPerByte | Unit::Cores | Unit::Bytes => {
            scale.word.to_owned()
        }
    }
}

/// A length of time of the manifest, exact.
pub(crate) fn time(time: Nanoseconds) -> String {
    spaced(&time.to_string()).replace("us", "µs")
}

/// An amount of memory of the manifest, exact.
pub(crate) fn bytes(bytes: Bytes) -> String {
    spaced(&bytes.to_string())
}

/// `30s` as `30 s`.
fn spaced(text: &str) -> String {
    let unit = text
        .find(|it: char| !it.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(unit);
    let digits = digits.parse().map_or_else(|_| digits.to_owned(), count);
    if unit.is_empty() {
        digits
    } else {
        format!("{digits}{GAP}{unit}")
    }
}

/// `no`, `1 block`, `3 blocks`.
pub(crate) fn plural(number: u64, one: &str, many: &str) -> String {
    match number {
        0 => format!("no {many}"),
        _ => format!("{}{GAP}{}", count(number), noun(number, one, many)),
    }
}

/// `a, b and c`.
pub(crate) fn list(words: &[String]) -> String {
    match words {
        [] => NONE.to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// How the report calls a candidate.
pub(crate) fn candidate(experiment: &Experiment, name: &CandidateName) -> String {
    experiment
        .candidates
        .get(name)
        .map_or_else(|| name.to_string(), |it| it.title.clone())
}

/// How the report calls a scenario.
pub(crate) fn scenario(experiment: &Experiment, name: &ScenarioName) -> String {
    experiment
        .scenarios
        .get(name)
        .map_or_else(|| name.to_string(), |it| it.title.clone())
}

/// How the report calls a phase.
pub(crate) fn phase(experiment: &Experiment, name: &PhaseName) -> String {
    experiment
        .phases
        .get(name)
        .map_or_else(|| name.to_string(), |it| it.title.clone())
}
