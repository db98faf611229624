//! The table of known weights: what is compared with what, and between which values it is right.

use super::seen::median;
use super::{Judgement, Row, RowUnit};
use crate::estimate::summary::Decimal;

/// What a row is about, before anything was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) weight: &'static str,
    pub(super) expected: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) unit: RowUnit,
}

impl Known {
    /// A row whose number is the median of these; without any, the reason why.
    pub(super) fn of(self, values: &[f64], nothing: impl FnOnce() -> String) -> Row {
        self.seen(median(values), values, nothing)
    }

    /// A row with this number.
    pub(super) fn seen(
        self,
        seen: Option<f64>,
        values: &[f64],
        nothing: impl FnOnce() -> String,
    ) -> Row {
        let right = |seen: f64| {
            self.low.is_none_or(|low| seen >= low) && self.high.is_none_or(|high| seen <= high)
        };
        let judgement = match seen {
            None => Judgement::CannotTell,
            Some(_) if self.low.is_none() && self.high.is_none() => Judgement::Reported,
            Some(seen) if right(seen) => Judgement::Ok,
            Some(_) => Judgement::NotOk,
        };
        Row {
            name: self.name.to_owned(),
            weight: self.weight.to_owned(),
            expected: Decimal::from(self.expected),
            seen: seen.map(Decimal::from),
            low: self.low.map(Decimal::from),
            high: self.high.map(Decimal::from),
            unit: self.unit,
            values: values.iter().copied().map(Decimal::from).collect(),
            judgement,
            because: seen.is_none().then(nothing),
        }
    }
}

pub(super) const YARDSTICK: Known = ratio(
    "yardstick",
    "work of the test server by its process's CPU clock / as asked, alone",
    0.99,
    1.01,
);
pub(super) const CLOCKS: Known = ratio(
    "clocks",
    "the same work by the monotonic clock, undisturbed / as asked",
    0.99,
    1.02,
);
pub(super) const COUNT: Known = ratio(
    "count",
    "answers that the test server counted / `answered`, in every window",
    1.0,
    1.0,
);
pub(super) const ACCOUNTING: Known = ratio(
    "accounting",
    "CPU time of the group / what the test server's process says it used",
    0.99,
    1.01,
);
pub(super) const EMPTY: Known = Known {
    name: "empty",
    weight: "CPU time of a request without work, at 1500/s",
    expected: 0.0,
    low: None,
    high: None,
    unit: RowUnit::CpuMicroseconds,
};
pub(super) const SLOPE: Known = ratio(
    "slope",
    "(CPU per request at 300 us - at 150 us) / 150 us, at 1500/s",
    0.97,
    1.03,
);
pub(super) const THEORY: Known = ratio(
    "theory",
    "rate x CPU per request / busy cores by the machine's counter and clock",
    0.95,
    1.05,
);
pub(super) const MEMORY: Known = ratio(
    "memory",
    "memory peak with 64 MiB held - without / 64 MiB",
    0.98,
    1.02,
);
pub(super) const DELAY: Known = Known {
    name: "delay",
    weight: "p50 of a server that waits 5 ms before each answer",
    expected: 5.0,
    low: Some(5.0),
    high: Some(7.0),
    unit: RowUnit::Milliseconds,
};
pub(super) const STALL: Known = Known {
    name: "stall",
    weight: "p99 of a server that stands still for 500 ms each second",
    expected: 500.0,
    low: Some(400.0),
    high: Some(700.0),
    unit: RowUnit::Milliseconds,
};
/// A stop of 500 ms that is no longer than `low` at p99 was not seen.
pub(super) const HALT: Known = Known {
    name: "halt",
    weight: "p99 while the generator is stopped for 500 ms, or why there is none",
    expected: 500.0,
    low: Some(100.0),
    high: None,
    unit: RowUnit::Milliseconds,
};

/// A quotient that is to be 1.
const fn ratio(name: &'static str, weight: &'static str, low: f64, high: f64) -> Known {
    Known {
        name,
        weight,
        expected: 1.0,
        low: Some(low),
        high: Some(high),
        unit: RowUnit::Ratio,
    }
}
