//! The functions of the author's texts.
//!
//! ```text
//! value(metric="p99", candidate="go", scenario="read", phase="fixed-rate", at="1000/s", role="candidate")
//! interval(…)                      the interval of the same number
//! ratio(compare="a", against="b", metric="cpu_per_request", …, show="ratio" | "interval" | "verdict")
//! derived("name", candidate="go")  a declared number
//! planned("duration", phase="ceiling")   a setting of the manifest
//! cited("64 µs", "https://…")      a figure from elsewhere with its source
//! ```

use std::sync::Arc;

use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind};

use super::names::{Numbers, Parts};
use super::planned::planned;

/// Adds every function.
pub(super) fn add(engine: &mut Environment<'_>, numbers: &Arc<Numbers>) {
    let known = Arc::clone(numbers);
    engine.add_function("value", move |arguments: Kwargs| value(&known, &arguments));
    let known = Arc::clone(numbers);
    engine.add_function("interval", move |arguments: Kwargs| {
        interval(&known, &arguments)
    });
    let known = Arc::clone(numbers);
    engine.add_function("ratio", move |arguments: Kwargs| ratio(&known, &arguments));
    let known = Arc::clone(numbers);
    engine.add_function("derived", move |name: String, arguments: Kwargs| {
        let candidate: Option<String> = arguments.get("candidate")?;
        let scenario: Option<String> = arguments.get("scenario")?;
        arguments.assert_all_used()?;
        known
            .derived(&name, candidate.as_deref(), scenario.as_deref())
            .map_err(fault)
    });
    let known = Arc::clone(numbers);
    engine.add_function("planned", move |what: String, arguments: Kwargs| {
        let [phase, scenario, role] =
            ["phase", "scenario", "role"].map(|it| arguments.get::<Option<String>>(it));
        let (phase, scenario, role) = (phase?, scenario?, role?);
        arguments.assert_all_used()?;
        planned(
            &known.experiment,
            &what,
            phase.as_deref(),
            scenario.as_deref(),
            role.as_deref(),
        )
        .map_err(fault)
    });
    engine.add_function("cited", |value: String, source: String| {
        if source.trim().is_empty() {
            return Err(fault(
                "cited(value, source) needs the source of the figure".to_owned(),
            ));
        }
        Ok(format!("{value} ({source})"))
    });
}

fn fault(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// The parts of a name from the arguments; those of `candidate` by another word for a ratio.
fn parts(arguments: &Kwargs, candidate: &str) -> Result<Parts, Error> {
    let at: Option<Value> = arguments.get("at")?;
    Ok(Parts {
        phase: arguments.get("phase")?,
        scenario: arguments.get("scenario")?,
        candidate: arguments.get(candidate)?,
        at: at.map(|at| at.to_string()),
        role: arguments.get("role")?,
        metric: arguments.get("metric")?,
    })
}

/// A number; a CPU cost with the achieved rate that it was measured at, unless `rate="elsewhere"` says
/// that the sentence names it.
fn value(numbers: &Numbers, arguments: &Kwargs) -> Result<String, Error> {
    let parts = parts(arguments, "candidate")?;
    let rate: Option<String> = arguments.get("rate")?;
    arguments.assert_all_used()?;
    let named = numbers.value(&parts).map_err(fault)?;
    match (rate.as_deref(), &named.rate) {
        (Some("elsewhere"), _) | (None, None) => Ok(named.text.clone()),
        (None, Some(rate)) => Ok(format!("{} at {rate}", named.text)),
        (Some(other), _) => Err(fault(format!(
            "`rate` is `elsewhere` or not given, found `{}`",
            super::super::escape::plain(other)
        ))),
    }
}

fn interval(numbers: &Numbers, arguments: &Kwargs) -> Result<String, Error> {
    let parts = parts(arguments, "candidate")?;
    arguments.assert_all_used()?;
    let named = numbers.value(&parts).map_err(fault)?;
    let none = named.interval.is_empty();
    Ok(if none {
        "no interval (too few repetitions)".to_owned()
    } else {
        named.interval.clone()
    })
}

fn ratio(numbers: &Numbers, arguments: &Kwargs) -> Result<String, Error> {
    let parts = parts(arguments, "compare")?;
    let against: String = arguments.get("against")?;
    let show: Option<String> = arguments.get("show")?;
    arguments.assert_all_used()?;
    let named = numbers.ratio(&parts, &against).map_err(fault)?;
    match show.as_deref().unwrap_or("ratio") {
        "ratio" => Ok(named.text().to_owned()),
        "interval" if named.interval().is_empty() => {
            Ok("no interval (too few repetitions)".to_owned())
        }
        "interval" => Ok(named.interval().to_owned()),
        "verdict" => Ok(named.verdict.clone()),
        other => Err(fault(format!(
            "`show` is `ratio`, `interval` or `verdict`, found `{}`",
            super::super::escape::plain(other)
        ))),
    }
}
