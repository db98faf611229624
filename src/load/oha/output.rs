//! What oha wrote: read strictly, checked against itself, nothing believed that it computed.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::decimal::{excerpt, nanoseconds};
use crate::model::Quantile;

/// The message under which oha counts requests that it gave up at the window's end.
const ABORTED: &str = "aborted due to deadline";
/// A result has some kilobytes; what is far longer is no result.
const LARGEST: usize = 4 << 20;

/// The counts and times of a run, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output {
    /// From oha's start until everything had come back.
    pub total_ns: u64,
    pub by_status: BTreeMap<u16, u64>,
    pub aborted: u64,
    pub errors: BTreeMap<String, u64>,
    pub body_bytes: u64,
    /// The smallest and the largest response time; absent without answers.
    pub range_ns: Option<(u64, u64)>,
    /// The shortest time from sending to the first byte of a body; absent without bodies.
    pub first_byte_ns: Option<u64>,
    /// Printed response times by quantile; empty without answers.
    pub percentiles: BTreeMap<Quantile, u64>,
}

impl Output {
    pub(super) fn answered(&self) -> u64 {
        self.by_status.values().sum()
    }

    pub(super) fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// The parts of oha's JSON that are used; the rest only has to be there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(borrow)]
    summary: Summary<'a>,
    #[serde(rename = "metrics")]
    _since_1_15: IgnoredAny,
    response_time_histogram: BTreeMap<String, u64>,
    #[serde(borrow)]
    latency_percentiles: BTreeMap<String, &'a RawValue>,
    #[serde(borrow)]
    details: Details<'a>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    #[serde(borrow)]
    total: &'a RawValue,
    #[serde(borrow)]
    slowest: &'a RawValue,
    #[serde(borrow)]
    fastest: &'a RawValue,
    total_data: u64,
    size_per_request: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    #[serde(borrow)]
    first_byte: FirstByte<'a>,
}

#[derive(Deserialize)]
struct FirstByte<'a> {
    #[serde(borrow)]
    fastest: &'a RawValue,
}

/// Reads and checks oha's JSON.
///
/// # Errors
/// What was found and what was expected, safe to print.
pub(super) fn read(bytes: &[u8]) -> Result<Output, String> {
    if bytes.is_empty() {
        return Err("the result is empty: oha was stopped before it could write it".to_owned());
    }
    if bytes.len() > LARGEST {
        return Err(format!(
            "the result has {} bytes, expected a few thousand",
            bytes.len()
        ));
    }
    let wire: Wire<'_> = serde_json::from_slice(bytes).map_err(|fault| {
        let fault = printable(&fault.to_string());
        format!(
            "expected the complete JSON of oha {}: {fault}",
            super::VERSION
        )
    })?;
    let output = translate(&wire)?;
    cross_check(&wire, &output)?;
    Ok(output)
}

fn translate(wire: &Wire<'_>) -> Result<Output, String> {
    let total_ns = seconds("summary.total", wire.summary.total)?
        .ok_or("summary.total is null, expected the seconds that the run took")?;
    let fastest = seconds("summary.fastest", wire.summary.fastest)?;
    let slowest = seconds("summary.slowest", wire.summary.slowest)?;
    let mut errors = wire.error_distribution.clone();
    let aborted = errors.remove(ABORTED).unwrap_or(0);
    errors.retain(|_, count| *count > 0);
    Ok(Output {
        total_ns,
        by_status: statuses(&wire.status_code_distribution)?,
        aborted,
        errors,
        body_bytes: wire.summary.total_data,
        range_ns: fastest.zip(slowest),
        first_byte_ns: seconds("details.firstByte.fastest", wire.details.first_byte.fastest)?,
        percentiles: percentiles(&wire.latency_percentiles)?,
    })
}

fn seconds(place: &str, value: &RawValue) -> Result<Option<u64>, String> {
    nanoseconds(value.get()).map_err(|fault| format!("{place}: {fault}"))
}

fn statuses(printed: &BTreeMap<String, u64>) -> Result<BTreeMap<u16, u64>, String> {
    let status = |(text, count): (&String, &u64)| match text.parse::<u16>() {
        Ok(status) if (100..1000).contains(&status) && text.len() == 3 => Ok((status, *count)),
        _ => Err(format!(
            "statusCodeDistribution: `{}` is no status",
            excerpt(text)
        )),
    };
    printed.iter().map(status).collect()
}

fn percentiles(printed: &BTreeMap<String, &RawValue>) -> Result<BTreeMap<Quantile, u64>, String> {
    let mut values = BTreeMap::new();
    for quantile in Quantile::PRINTED {
        let place = format!("latencyPercentiles.{quantile}");
        let value = printed
            .get(&quantile.to_string())
            .ok_or_else(|| format!("{place} is missing"))?;
        if let Some(value) = seconds(&place, value)? {
            values.insert(quantile, value);
        }
    }
    Ok(values)
}

/// What oha prints twice has to agree: a result that was cut, edited or mixed up does not.
fn cross_check(wire: &Wire<'_>, output: &Output) -> Result<(), String> {
    let counts = || output.by_status.values().chain(output.errors.values());
    let all = counts().chain([&output.aborted]);
    if all.copied().try_fold(0_u64, u64::checked_add).is_none() {
        return Err("the counts are too large to be added up".to_owned());
    }
    let answered = output.answered();
    check_histogram(&wire.response_time_histogram, answered)?;
    if wire.summary.size_per_request != output.body_bytes.checked_div(answered) {
        return Err(format!(
            "summary.sizePerRequest is not summary.totalData ({}) over {answered} answers",
            output.body_bytes
        ));
    }
    let printed = output.percentiles.len();
    let complete = printed == Quantile::PRINTED.len() && output.range_ns.is_some();
    let empty = printed == 0 && output.range_ns.is_none();
    match answered {
        0 if !empty => Err("response times without answers".to_owned()),
        1.. if !complete => Err(format!("{answered} answers without their response times")),
        _ => Ok(()),
    }
}

/// Each answer is in one of eleven bars; bars of equal response times share a name, and then only
/// the last of them is printed.
fn check_histogram(bars: &BTreeMap<String, u64>, answered: u64) -> Result<(), String> {
    let sum = bars
        .values()
        .try_fold(0_u64, |sum, bar| sum.checked_add(*bar));
    let agrees = if bars.len() == 11 {
        sum == Some(answered)
    } else {
        sum.is_some_and(|sum| sum <= answered)
    };
    if agrees {
        Ok(())
    } else {
        let shown = sum.map_or_else(|| "too many".to_owned(), |sum| sum.to_string());
        Err(format!(
            "responseTimeHistogram has {shown} answers, statusCodeDistribution {answered}"
        ))
    }
}

/// A message with every character escaped that is not plainly printable.
fn printable(text: &str) -> String {
    let escaped = |character: char| match character {
        '"' | '\'' | '`' => character.to_string(),
        other => other.escape_debug().to_string(),
    };
    text.chars().take(300).map(escaped).collect()
}
