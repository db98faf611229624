//! The verdict on readings of the reference nginx. Pure, exact, in integers.
//!
//! Gate, never divisor: nothing here corrects a result.

use std::collections::BTreeMap;
use std::fmt;

use crate::model::account::Late;
use crate::model::probe::Probe;
use crate::model::reading::{FixedWork, ProbeReading};
use crate::model::thresholds::Thresholds;
use crate::model::{CpuSet, Known, LatencyValue, Quantile};

/// The status that the reference nginx answers with.
pub const PROBE_STATUS: u16 = 200;

/// The quantile of the response time that is watched.
pub const PROBE_QUANTILE: Quantile = Quantile::PRINTED[6];

/// The generator releases requests once a millisecond: a response time cannot be told apart finer.
const RELEASE_STEP_NS: u64 = 1_000_000;

/// Expected answers inside the probe's load window, the fewest there can have been; absent: no count.
#[must_use]
pub fn answered_inside(reading: &ProbeReading) -> Option<u64> {
    let account = reading.account.value()?;
    let (Late::Exactly(late) | Late::AtMost(late)) = account.late;
    Some(account.with_status(PROBE_STATUS).saturating_sub(late))
}

/// CPU time of the reference nginx per answer, thousandths of a nanosecond; absent: not known.
#[must_use]
pub fn cpu_per_request_ps(reading: &ProbeReading) -> Option<u64> {
    let answered = u128::from(reading.account.value()?.answered.get());
    let cpu_ns = u128::from(*reading.cpu_ns.value()?);
    let per_request = (cpu_ns * 1000).checked_div(answered)?;
    u64::try_from(per_request).ok()
}

/// How far [`cpu_per_request_ps`] may be off for the steps of its counter, thousandths of a nanosecond.
fn cpu_unsure_ps(reading: &ProbeReading) -> u64 {
    let answered = reading
        .account
        .value()
        .map_or(0, |account| account.answered.get());
    let unsure = u128::from(reading.cpu_unsure_ns) * 1000;
    let per_request = unsure.checked_div(u128::from(answered)).unwrap_or(0);
    u64::try_from(per_request).unwrap_or(u64::MAX / 2)
}

/// The watched quantile of the response time, nanoseconds; its upper bound where only bounds are
/// known; absent where the rank has no value.
#[must_use]
pub fn response_ns(reading: &ProbeReading) -> Option<u64> {
    match reading.account.value()?.latency.get(&PROBE_QUANTILE)? {
        LatencyValue::Exactly(value) | LatencyValue::Between(_, value) => Some(*value),
        LatencyValue::Absent(_) => None,
    }
}

/// How the reading falls short of the rate demanded of the rig; absent: it does not.
#[must_use]
pub fn below_floor(reading: &ProbeReading, probe: &Probe) -> Option<String> {
    let needed = probe.at_least.planned(probe.duration);
    let inside = answered_inside(reading)?;
    (inside < needed).then(|| {
        format!(
            "the probe answered {inside} requests in {}, {needed} are demanded",
            probe.duration
        )
    })
}

/// Why the reading proves nothing; empty: it does.
#[must_use]
pub fn invalid(
    reading: &ProbeReading,
    load_cores: Option<u64>,
    thresholds: &Thresholds,
) -> Vec<String> {
    let account = match &reading.account {
        Known::Value(account) => account,
        Known::Absent(because) => return vec![format!("the probe has no count: {because}")],
    };
    let mut found = Vec::new();
    let errors = account.error_count();
    if errors > 0 {
        found.push(format!("the probe had {errors} errors"));
    }
    let (answered, expected) = (account.answered.get(), account.with_status(PROBE_STATUS));
    if expected != answered {
        let others = answered.saturating_sub(expected);
        found.push(format!("the probe had {others} answers of another status"));
    }
    if answered == 0 {
        found.push("the probe had no answers".to_owned());
    }
    if let (Known::Value(busy), Some(cores)) = (&reading.load_cpu_ns, load_cores) {
        let capacity = u128::from(reading.window_ns) * u128::from(cores);
        let limit = thresholds.generator_busy_invalid;
        if u128::from(*busy) * 1_000_000 > capacity * u128::from(limit.millionths()) {
            found.push(format!(
                "the probe's load generator used more than {limit} of its cores"
            ));
        }
    }
    found
}

/// How the reading drifted from the calibration readings; empty: it did not.
///
/// A change is drift when it is beyond `probe_drift_deviations` robust standard deviations of the
/// calibration and at least `probe_drift_at_least` of its median. CPU per request drifts both ways, by
/// more than the steps of its counter can make of it;
/// the response time only upwards, and by no less than the generator's release step.
#[must_use]
pub fn drift(
    reading: &ProbeReading,
    calibration: &[ProbeReading],
    thresholds: &Thresholds,
) -> Vec<String> {
    let mut found = Vec::new();
    let unsure_ps =
        cpu_unsure_ps(reading) + calibration.iter().map(cpu_unsure_ps).max().unwrap_or(0);
    if let Some((now, usual)) = changed(
        cpu_per_request_ps(reading),
        calibration,
        cpu_per_request_ps,
        thresholds,
    ) && now.abs_diff(usual) > unsure_ps
    {
        found.push(format!(
            "the probe's CPU per request was {} ns, {} ns at the start",
            now / 1000,
            usual / 1000
        ));
    }
    if let Some((now, usual)) = changed(response_ns(reading), calibration, response_ns, thresholds)
        && now >= usual.saturating_add(RELEASE_STEP_NS)
    {
        found.push(format!(
            "the probe's {PROBE_QUANTILE} was {now} ns, {usual} ns at the start"
        ));
    }
    found
}

/// The value and the calibration's median, where the value is off by too much.
fn changed(
    now: Option<u64>,
    calibration: &[ProbeReading],
    of: impl Fn(&ProbeReading) -> Option<u64>,
    thresholds: &Thresholds,
) -> Option<(u64, u64)> {
    let now = now?;
    let mut usual: Vec<u64> = calibration.iter().filter_map(of).collect();
    let median = middle(&mut usual)?;
    let off = u128::from(now.abs_diff(median));
    let share = u128::from(thresholds.probe_drift_at_least.millionths());
    let beyond_share = off * 1_000_000 >= u128::from(median) * share;
    let deviations = u128::from(thresholds.probe_drift_deviations);
    let beyond_deviations = off * 1_000_000 > deviations * deviation_millionths(&usual, median);
    (beyond_share && beyond_deviations).then_some((now, median))
}

/// The middle value, the lower one of two; sorts. Absent for none.
fn middle(values: &mut [u64]) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// What the median absolute deviation of n normal values is too small by, thousandths: n = 2 to 9
/// (Croux and Rousseeuw, "Time-efficient algorithms for two highly robust estimators of scale",
/// 1992); from 10 on n / (n - 0.8).
const SMALL_SAMPLE: [u128; 8] = [1196, 1495, 1363, 1206, 1200, 1140, 1129, 1107];

/// The robust standard deviation: 1.4826 x correction x median absolute deviation, in millionths.
fn deviation_millionths(values: &[u64], median: u64) -> u128 {
    let mut deviations: Vec<u64> = values.iter().map(|value| value.abs_diff(median)).collect();
    let spread = u128::from(middle(&mut deviations).unwrap_or(0));
    let count = values.len();
    let correction = match count {
        0 | 1 => 1000,
        2..=9 => SMALL_SAMPLE[count - 2],
        _ => {
            let count = u128::try_from(count).unwrap_or(u128::MAX / 20_000);
            10_000 * count / (10 * count - 8)
        }
    };
    spread * 1_482_600 * correction / 1000
}

/// The fixed piece of work on one CPU, now and at the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedWorkChange {
    /// Which CPU.
    pub cpu: u32,
    /// What it took, nanoseconds.
    pub found_ns: u64,
    /// What it took at the start, nanoseconds.
    pub baseline_ns: u64,
}

impl fmt::Display for FixedWorkChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a fixed piece of work took {} ns on CPU {}, {} ns at the start,",
            self.found_ns, self.cpu, self.baseline_ns
        )
    }
}

/// What the fixed piece of work took at the start on each CPU: the median of all readings,
/// nanoseconds.
#[must_use]
pub fn fixed_work_baseline(
    apart: Option<&FixedWork>,
    calibration: &[ProbeReading],
) -> BTreeMap<u32, u64> {
    let beside = calibration
        .iter()
        .filter_map(|reading| reading.fixed_work.value());
    let mut values: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for work in apart.into_iter().chain(beside) {
        for (cpu, took) in &work.per_cpu_ns {
            values.entry(*cpu).or_default().push(*took);
        }
    }
    let medians = values
        .into_iter()
        .filter_map(|(cpu, mut took)| Some((cpu, middle(&mut took)?)));
    medians.collect()
}

/// The fixed piece of work beside a reading, against the start, on each of some CPUs.
#[must_use]
pub fn fixed_work_changes(
    reading: &ProbeReading,
    baseline: &BTreeMap<u32, u64>,
    cpus: &CpuSet,
) -> Vec<FixedWorkChange> {
    let Known::Value(work) = &reading.fixed_work else {
        return Vec::new();
    };
    let change = |cpu: u32| {
        Some(FixedWorkChange {
            cpu,
            found_ns: *work.per_cpu_ns.get(&cpu)?,
            baseline_ns: *baseline.get(&cpu)?,
        })
    };
    cpus.iter().filter_map(change).collect()
}
