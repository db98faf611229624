//! The method in words, from the model: one paragraph for the head, and how each thing was measured.

use super::results;
use super::table::Fact;
use super::wording;
use crate::estimate::Summary;
use crate::model::candidate::PrewarmStep;
use crate::model::estimator::RatioInterval;
use crate::model::experiment::OrderRule;
use crate::model::probe::ProbeTimes;
use crate::model::{Experiment, LoadPoint, LoadShape};
use crate::report::Context;
use crate::report::format::{self, span};

/// The method in one paragraph.
pub(crate) fn paragraph(experiment: &Experiment, summary: &Summary) -> String {
    let candidates: Vec<String> = experiment
        .candidates
        .values()
        .map(|it| it.title.clone())
        .collect();
    let scenarios: Vec<String> = experiment
        .scenarios
        .values()
        .map(|it| it.title.clone())
        .collect();
    let phases: Vec<String> = experiment.phases.values().map(phase).collect();
    format!(
        "{} ({}) answered {} ({}). {} {} {} {}",
        capital(&wording::plural(
            candidates.len() as u64,
            "candidate",
            "candidates"
        )),
        wording::list(&candidates),
        wording::plural(
            scenarios.len() as u64,
            "kind of request",
            "kinds of request"
        ),
        wording::list(&scenarios),
        phases.join(" "),
        block(experiment),
        probe(experiment, summary),
        load(summary),
    )
}

/// The load of all windows, and how many of them count: the time is that of excluded windows and of
/// standards too.
fn load(summary: &Summary) -> String {
    let kept: u64 = summary.cells.iter().map(|it| it.kept).sum();
    let excluded = summary.timeline.iter().filter(|it| !it.kept).count() as u64;
    let time = span(summary.time.load_ms);
    let mut besides = Vec::new();
    if excluded > 0 {
        besides.push(wording::plural(
            excluded,
            "excluded measurement",
            "excluded measurements",
        ));
    }
    if summary.standards.is_some() {
        besides.push("the standards".to_owned());
    }
    let measurements = wording::plural(kept, "measurement", "measurements");
    if besides.is_empty() {
        return format!("In total {time} of load in {measurements} that count.");
    }
    format!(
        "In total {time} of load, that of {} included; {measurements} {}.",
        besides.join(" and of "),
        if kept == 1 { "counts" } else { "count" },
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        format!("{}{}", first.to_uppercase(), letters.as_str())
    })
}

fn phase(phase: &crate::model::Phase) -> String {
    let shape = match &phase.load {
        LoadShape::FixedRate {
            rates, connections, ..
        } => {
            let mut rates: Vec<u64> = rates.values().flatten().map(|it| it.get()).collect();
            rates.sort_unstable();
            rates.dedup();
            let rates: Vec<String> = rates
                .into_iter()
                .map(|it| format!("{}/s", format::count(it)))
                .collect();
            format!(
                "ran open loop at {} over {}",
                wording::list(&rates),
                wording::point(LoadPoint::Connections(*connections))
            )
        }
        LoadShape::Ceiling { connections, .. } => {
            let points: Vec<String> = connections
                .iter()
                .map(|it| format::count(u64::from(*it)))
                .collect();
            format!("ran closed loop at {} connections", wording::list(&points))
        }
    };
    format!(
        "Phase {} {shape}, {} per window, {}.",
        phase.title,
        wording::time(phase.load.common().duration),
        wording::plural(u64::from(phase.repetitions), "repetition", "repetitions"),
    )
}

fn block(experiment: &Experiment) -> String {
    let prewarm = if experiment.prewarm.is_empty() {
        ""
    } else {
        " and the same prewarm steps"
    };
    format!(
        "Every block began with a fresh candidate{prewarm}; {}.",
        order(experiment.order.rule)
    )
}

const fn order(rule: OrderRule) -> &'static str {
    match rule {
        OrderRule::Balanced => {
            "the order of candidates is balanced against carry-over (a Williams design)"
        }
        OrderRule::Random => {
            "the order of candidates is random in each round, from a recorded seed"
        }
        OrderRule::Rotated => {
            "the order of candidates is rotated, so each stays behind the same neighbour"
        }
    }
}

fn probe(experiment: &Experiment, summary: &Summary) -> String {
    let probe = &experiment.probe;
    let when = match probe.when {
        ProbeTimes::BeforeAndAfter => "before and after",
        ProbeTimes::Before => "before",
    };
    let lowest = summary.probe.achieved.as_ref().map_or_else(
        || "its rate is not known".to_owned(),
        |it| format!("its lowest rate was {}", super::shown::rate(&it[0])),
    );
    format!(
        "An nginx without application code was driven at {}/s on the candidate's cores {when} each block; {lowest}.",
        format::count(probe.rate.get())
    )
}

/// How it was measured, fact by fact.
pub(crate) fn how(context: &Context<'_>, summary: &Summary) -> Vec<Fact> {
    let experiment = context.experiment;
    let mut facts = vec![
        Fact::new(
            "Order",
            format!(
                "{}; seed {}.",
                capital(order(experiment.order.rule)),
                seed(context)
            ),
        ),
        Fact::new("A block", steps(experiment)),
        Fact::new("The probe", probe_rule(experiment)),
        Fact::new(
            "Trying again",
            format!(
                "A breach of a guard makes the whole block invalid; it is measured again from its start, {} at most. What a candidate does is a result and never a reason to try again.",
                wording::plural(u64::from(experiment.attempts), "attempt", "attempts")
            ),
        ),
        Fact::new(
            "Quantiles",
            "Floor index over planned requests, per measurement; then the estimator goes over the repetitions. Of a rate that was not held, latency is queueing and is not printed.",
        ),
        Fact::new(
            "CPU and memory",
            "CPU is read at the edges of the counter window, which begins before the first request and ends when the last answer has drained; the load window is the planned time. Memory is sampled once a second: anonymous plus shared, without page cache.",
        ),
        Fact::new("Ratios", ratios(experiment)),
        Fact::new("Answers", answers(experiment)),
        super::observed::answers(summary),
    ];
    for (role, words) in &summary.counters {
        facts.push(Fact::new(
            &format!("Counters of the {}", wording::role(role)),
            words.clone(),
        ));
    }
    facts.push(Fact::new(
        "Counters of the machine",
        summary.machine_counters.clone(),
    ));
    facts.push(Fact::new("Database maintenance", database(experiment)));
    facts.push(Fact::new("Where the time went", time(summary)));
    facts.extend(sessions(context));
    facts
}

fn seed(context: &Context<'_>) -> String {
    let seed = context
        .lock
        .map(|lock| lock.seed)
        .or(context.experiment.order.seed);
    seed.map_or_else(|| "in the plan".to_owned(), |it| it.to_string())
}

fn steps(experiment: &Experiment) -> String {
    let mut steps = vec!["host readings".to_owned(), "probe".to_owned()];
    if !experiment.services.is_empty() {
        let names: Vec<String> = experiment
            .services
            .values()
            .map(|it| it.title.clone())
            .collect();
        steps.push(format!("services ready ({})", names.join(", ")));
    }
    for step in &experiment.prewarm {
        steps.push(prewarm(step));
    }
    steps.push("fresh candidate, ready when it answers correctly".to_owned());
    if !experiment.contract.is_empty() {
        steps.push(wording::plural(
            experiment.contract.len() as u64,
            "check of the contract",
            "checks of the contract",
        ));
    }
    steps.push("per scenario: warm-up, quiet, one window per load point".to_owned());
    steps.push("candidate stopped".to_owned());
    if experiment.probe.when == ProbeTimes::BeforeAndAfter {
        steps.push("probe again".to_owned());
    }
    format!("{}.", capital(&steps.join(" → ")))
}

fn prewarm(step: &PrewarmStep) -> String {
    match step {
        PrewarmStep::Command { command, .. } => {
            let words: Vec<&str> = command.iter().map(crate::model::Template::source).collect();
            format!("prewarm `{}`", words.join(" "))
        }
        PrewarmStep::Http { path, times, .. } => format!("prewarm GET {path} × {times}"),
    }
}

fn probe_rule(experiment: &Experiment) -> String {
    let probe = &experiment.probe;
    format!(
        "nginx without application code, {}/s over {} for {}; below {}/s, or when its CPU per request or p99 is more than {} and {} robust standard deviations off its {} calibration readings, the block is invalid.",
        format::count(probe.rate.get()),
        wording::point(LoadPoint::Connections(probe.connections)),
        wording::time(probe.duration),
        format::count(probe.at_least.get()),
        experiment.guards.probe_drift_at_least,
        experiment.guards.probe_drift_deviations,
        probe.calibration,
    )
}

fn ratios(experiment: &Experiment) -> String {
    let kind = match experiment.ratio_interval {
        RatioInterval::TwoSample => "exact two-sample ranks",
        RatioInterval::Paired => "exact signed ranks, paired by round",
    };
    let bound = experiment.spread_bound.map_or_else(String::new, |it| {
        format!(" Where the largest value of a metric exceeds the smallest by more than {it}, it is context: no ratio, no verdict.")
    });
    format!(
        "Intervals by {kind}, declared coverage {}; where the repetitions cannot reach it there is no verdict. No ratio of CPU costs gets a verdict at unequal achieved rates.{bound}",
        experiment.coverage
    )
}

fn answers(experiment: &Experiment) -> String {
    let checked = experiment
        .scenarios
        .values()
        .filter(|it| it.expect.body.is_some())
        .count() as u64;
    if checked == 0 {
        return "Every answer's status is counted; no body is compared.".to_owned();
    }
    format!(
        "Every answer's status is counted; bodies of {} are compared by samples at the window's edges and by their total length, not one by one.",
        wording::plural(checked, "scenario", "scenarios")
    )
}

fn database(experiment: &Experiment) -> String {
    if experiment.services.is_empty() {
        "There is no database in this experiment.".to_owned()
    } else {
        "Not measured: checkpoints, WAL and vacuum are not read from the services of this experiment.".to_owned()
    }
}

fn time(summary: &Summary) -> String {
    let time = &summary.time;
    let share = |part: u64| {
        crate::estimate::summary::Decimal::from(part as f64 / time.wall_ms.max(1) as f64)
    };
    let own = time.own_cores.as_ref().map_or_else(
        || "loadlab's own CPU inside windows is not known".to_owned(),
        |it| {
            format!(
                "loadlab itself used {} of a core inside windows",
                format::percent(it)
            )
        },
    );
    format!(
        "{} in all: {} of load ({}), {} of warm-up, {} of probe; {own}.",
        span(time.wall_ms),
        span(time.load_ms),
        format::percent(&share(time.load_ms)),
        span(time.warmup_ms),
        span(time.probe_ms),
    )
}

fn sessions(context: &Context<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let count = context.sessions.len() as u64;
    if count > 1 {
        facts.push(Fact::new(
            "Sessions",
            format!(
                "Measured in {}.",
                wording::plural(count, "session", "sessions")
            ),
        ));
    }
    for session in context.sessions {
        if let Some(set_aside) = &session.set_aside {
            facts.push(Fact::new(
                "Set aside",
                format!(
                    "Before session {} a torn last line of {} bytes was set aside in {}.",
                    session.number,
                    format::count(set_aside.bytes),
                    set_aside.file
                ),
            ));
        }
    }
    facts
}

/// The load and the estimators of each phase, as facts.
pub(crate) fn phases(experiment: &Experiment) -> Vec<Fact> {
    experiment
        .phases
        .values()
        .map(|it| Fact::new(&it.title, results::lead(experiment, it)))
        .collect()
}
