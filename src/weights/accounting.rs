//! The yardstick itself, and loadlab's account of it against its own.

use super::seen::{self, account, group_ns, ratio};
use super::{Burnt, Row, Weighed, known};
use crate::record::event::{Measured, WitnessCount};

/// The shortest work that the yardstick is judged by: below it the calls for the clock show, nanoseconds.
const JUDGED_FROM_NS: u64 = 150_000;

pub(super) fn rows(weighed: &Weighed<'_>) -> Vec<Row> {
    let measured: Vec<&Measured> = ["light", "heavy"]
        .iter()
        .flat_map(|candidate| weighed.kept("cost", candidate))
        .collect();
    let nothing = || weighed.nothing_because("cost", "heavy");
    vec![
        burnt(weighed.burnt),
        by_the_wall_clock(weighed.burnt),
        count(&measured, nothing),
        cpu(&measured, nothing),
    ]
}

fn uncalibrated() -> String {
    "the test server's calibration could not be read".to_owned()
}

/// The value furthest from 1.
fn furthest(values: &[f64]) -> Option<f64> {
    let distance = |value: &f64| (value - 1.0).abs();
    let mut values = values.iter().copied();
    let first = values.next()?;
    Some(values.fold(first, |worst, value| {
        if distance(&value) > distance(&worst) {
            value
        } else {
            worst
        }
    }))
}

fn burnt(tried: &[Burnt]) -> Row {
    let judged = tried.iter().filter(|it| it.work_ns >= JUDGED_FROM_NS);
    let values: Vec<f64> = judged
        .filter_map(|it| ratio(it.cpu_ns, it.times.checked_mul(it.work_ns)?))
        .collect();
    known::YARDSTICK.seen(furthest(&values), &values, uncalibrated)
}

fn by_the_wall_clock(tried: &[Burnt]) -> Row {
    let judged = tried.iter().filter(|it| it.work_ns >= JUDGED_FROM_NS);
    let values: Vec<f64> = judged
        .filter_map(|it| ratio(it.fastest_ns, it.work_ns))
        .collect();
    known::CLOCKS.seen(furthest(&values), &values, uncalibrated)
}

fn witness(measured: &Measured) -> Option<&WitnessCount> {
    measured.witness.as_ref()?.value()
}

/// Exact: one answer too few or too many in any measurement is not ok.
fn count(measured: &[&Measured], nothing: impl FnOnce() -> String) -> Row {
    let counts = measured.iter().filter_map(|it| {
        let witness = witness(it)?;
        let own = witness
            .after
            .checked_sub(witness.before)?
            .checked_sub(witness.own)?;
        ratio(own, account(it)?.answered.get())
    });
    let values: Vec<f64> = counts.collect();
    known::COUNT.seen(furthest(&values), &values, nothing)
}

fn cpu(measured: &[&Measured], nothing: impl FnOnce() -> String) -> Row {
    let shares = measured.iter().filter_map(|it| {
        let own = witness(it)?.cpu.as_ref()?;
        ratio(group_ns(it)?, own.after_ns.checked_sub(own.before_ns)?)
    });
    let values: Vec<f64> = shares.collect();
    known::ACCOUNTING
        .of(&values, nothing)
        .unless(seen::coarse(measured))
}
