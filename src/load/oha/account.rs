//! From what oha wrote to an account in integers.
//!
//! The identities: planned = sent + not sent; sent = answered + aborted + errors; answered = the sum
//! over all statuses. `sent` is derived: oha does not count what it sends.

use std::collections::BTreeMap;

use super::output::{self, Output};
use super::quantile::{self, Printed};
use super::requests::{self, KeptRequest};
use super::{REQUESTS_FILE, RESULT_FILE, WATCH_FILE, Watch};
use crate::load::RawOutput;
use crate::model::account::Late;
use crate::model::{Account, Count, Known, LatencyValue, Quantile, Shot};

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// oha's timer releases requests at whole milliseconds: none is this far behind the plan unless the
/// generator itself was kept from running, which its run delay shows.
const TIMER_LAG_NS: u64 = 2 * MILLISECOND;
/// How much longer than window and timeout together a run may take to end.
const SLACK_NS: u64 = 10 * SECOND;

pub(super) fn account(raw: &RawOutput, shot: &Shot) -> Result<Account, String> {
    let bytes = raw
        .get(RESULT_FILE)
        .ok_or_else(|| format!("there is no {RESULT_FILE}"))?;
    let output = output::read(bytes).map_err(|fault| format!("{RESULT_FILE}: {fault}"))?;
    check_length(&output, shot)?;
    let sent = check_identity(&output, shot)?;
    let kept = kept(raw, shot, &output).map_err(|fault| format!("{REQUESTS_FILE}: {fault}"))?;
    let watch = watched(raw);
    let complete = output.aborted == 0 && output.errors.is_empty();
    Ok(Account {
        planned: shot.planned(),
        sent: Count::Derived(sent),
        answered: Count::Observed(output.answered()),
        by_status: output.by_status.clone(),
        aborted: Count::Observed(output.aborted),
        late: late(&output, shot, sent, kept.as_deref()),
        body_bytes: output.body_bytes,
        elapsed_ns: output.total_ns,
        latency: latencies(&output, shot, sent, kept.as_deref())?,
        release_lag_p99_ns: release(shot, kept.as_deref(), complete, release_lag_p99),
        burst: release(shot, kept.as_deref(), complete, |_, kept| burst(kept)),
        longest_pause_ns: Known::from(watch.clone().map(|watch| watch.longest_pause_ns)),
        run_delay_ns: Known::from(watch.and_then(|watch| {
            let unknown = || "the kernel shows no schedstat of its threads".to_owned();
            watch.run_delay_ns.ok_or_else(unknown)
        })),
        errors: output.errors,
    })
}

/// What the generator saw of itself.
fn watched(raw: &RawOutput) -> Result<Watch, String> {
    let bytes = raw
        .get(WATCH_FILE)
        .ok_or_else(|| format!("there is no {WATCH_FILE}"))?;
    serde_json::from_slice(bytes).map_err(|fault| format!("{WATCH_FILE}: {fault}"))
}

/// A run that was cut short writes complete JSON too; only its length tells.
fn check_length(output: &Output, shot: &Shot) -> Result<(), String> {
    let planned = shot.duration.0;
    let most = planned
        .saturating_add(shot.timeout.0)
        .saturating_add(SLACK_NS);
    let found = output.total_ns;
    let seconds = |time: u64| format!("{}.{:09} s", time / SECOND, time % SECOND);
    if found < planned {
        let (found, planned) = (seconds(found), seconds(planned));
        Err(format!(
            "the run took {found}, expected at least {planned}: it was cut short"
        ))
    } else if found > most {
        let (found, most) = (seconds(found), seconds(most));
        Err(format!("the run took {found}, expected at most {most}"))
    } else {
        Ok(())
    }
}

/// Requests sent. oha may release one more than planned where rate times duration is no whole
/// number.
fn check_identity(output: &Output, shot: &Shot) -> Result<u64, String> {
    let sent = output.answered() + output.aborted + output.error_count();
    match shot.planned() {
        Some(planned) if sent > planned.saturating_add(1) => Err(format!(
            "{sent} requests were sent, but only {planned} were planned"
        )),
        None if output.aborted > u64::from(shot.connections) => Err(format!(
            "{} requests were given up on {} connections",
            output.aborted, shot.connections
        )),
        _ => Ok(sent),
    }
}

fn kept(raw: &RawOutput, shot: &Shot, output: &Output) -> Result<Option<Vec<KeptRequest>>, String> {
    if !shot.keep_requests {
        return Ok(None);
    }
    let bytes = raw.get(REQUESTS_FILE).ok_or("the file is missing")?;
    let mut kept = requests::read(bytes, output.answered())?;
    let mut by_status = BTreeMap::new();
    let mut body_bytes = 0_u64;
    for request in &kept {
        *by_status.entry(request.status).or_insert(0) += 1;
        body_bytes = body_bytes.saturating_add(request.body_bytes);
        if request.response_ns().is_none() || request.ended_ns > output.total_ns {
            return Err("a request's times are not in order".to_owned());
        }
    }
    if by_status != output.by_status || body_bytes != output.body_bytes {
        return Err(format!(
            "statuses or body bytes differ from those in {RESULT_FILE}"
        ));
    }
    kept.sort_by_key(|request| (request.released_ns, request.started_ns));
    Ok(Some(kept))
}

/// Answers after the load window's end: counted where every request was kept, else bounded.
///
/// Two bounds hold, the smaller counts. After the window's end a connection ends the request it is
/// at, and takes another only until oha notices; none takes less time than the fastest first byte.
/// And in an open loop a late answer was released within the slowest response time before the end:
/// the plan has no more requests there, but for those that the generator was behind with.
fn late(output: &Output, shot: &Shot, sent: u64, kept: Option<&[KeptRequest]>) -> Late {
    let window = shot.duration.0;
    if let Some(kept) = kept {
        let late = kept.iter().filter(|request| request.ended_ns > window);
        return Late::Exactly(count(late));
    }
    let answered = output.answered();
    let overrun = output.total_ns.saturating_sub(window);
    if answered == 0 || overrun == 0 {
        return Late::Exactly(0);
    }
    let turns = output.first_byte_ns.filter(|fastest| *fastest > 0);
    let by_connections = turns.map_or(u64::MAX, |fastest| {
        u64::from(shot.connections).saturating_mul(1 + overrun / fastest)
    });
    let by_plan = shot
        .rate()
        .zip(output.range_ns)
        .map_or(u64::MAX, |(rate, (_, slowest))| {
            let reach = u128::from(slowest.saturating_add(TIMER_LAG_NS));
            let planned = (u128::from(rate.get()) * reach).div_ceil(u128::from(SECOND)) + 1;
            let behind = shot.planned().unwrap_or(0).saturating_sub(sent);
            u64::try_from(planned)
                .unwrap_or(u64::MAX)
                .saturating_add(behind)
        });
    Late::AtMost(answered.min(by_connections).min(by_plan))
}

fn count<T>(items: impl Iterator<Item = T>) -> u64 {
    items.fold(0, |count, _| count + 1)
}

fn latencies(
    output: &Output,
    shot: &Shot,
    sent: u64,
    kept: Option<&[KeptRequest]>,
) -> Result<BTreeMap<Quantile, LatencyValue>, String> {
    let answered = output.answered();
    let requests = shot.planned().map_or(answered, |planned| planned.max(sent));
    let printed = Printed::of(output)?;
    let exact = kept.map(|kept| {
        let mut times: Vec<u64> = kept.iter().filter_map(KeptRequest::response_ns).collect();
        times.sort_unstable();
        times
    });
    let value = |rank: u64| match &exact {
        None => printed.answer(rank),
        Some(times) => {
            let at = usize::try_from(rank).ok().and_then(|rank| times.get(rank));
            at.map_or_else(
                || LatencyValue::Absent("the request was not kept".to_owned()),
                |time| LatencyValue::Exactly(*time),
            )
        }
    };
    let wanted = shot.quantiles.iter().copied().chain(Quantile::PRINTED);
    Ok(wanted
        .map(|quantile| (quantile, quantile::at(quantile, requests, answered, value)))
        .collect())
}

/// A number about the release of requests, which only every kept request of an open loop shows.
fn release(
    shot: &Shot,
    kept: Option<&[KeptRequest]>,
    complete: bool,
    number: impl FnOnce(u64, &[KeptRequest]) -> Option<u64>,
) -> Known<u64> {
    let absent = |reason: &str| Known::Absent(reason.to_owned());
    let Some(rate) = shot.rate() else {
        return absent("a closed loop has no plan of release");
    };
    let Some(kept) = kept else {
        return absent("only known where every request is kept");
    };
    if !complete {
        return absent("requests without an answer have no time of release");
    }
    number(rate.get(), kept).map_or_else(|| absent("no request was answered"), Known::Value)
}

/// The 99th percentile (floor index) of the delay behind the plan: request `i`, counted from 0, was
/// planned for `i / rate`.
fn release_lag_p99(rate: u64, kept: &[KeptRequest]) -> Option<u64> {
    let planned = |index: usize| {
        let index = u128::try_from(index).ok()?;
        u64::try_from(index * u128::from(SECOND) / u128::from(rate)).ok()
    };
    let lag = |(index, request): (usize, &KeptRequest)| {
        planned(index).map(|planned| request.released_ns.saturating_sub(planned))
    };
    let mut lags: Vec<u64> = kept.iter().enumerate().filter_map(lag).collect();
    lags.sort_unstable();
    lags.get(lags.len() * 99 / 100).copied()
}

/// The largest number of requests released within less than a millisecond.
fn burst(kept: &[KeptRequest]) -> Option<u64> {
    let mut first = 0;
    let mut largest = 0;
    for (last, request) in kept.iter().enumerate() {
        while kept[first].released_ns + MILLISECOND <= request.released_ns {
            first += 1;
        }
        largest = largest.max(last - first + 1);
    }
    u64::try_from(largest).ok().filter(|largest| *largest > 0)
}

#[cfg(test)]
mod tests;
