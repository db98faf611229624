//! Known weights: an experiment whose every result is known beforehand, and the table that compares what
//! was seen with what had to come out.
//!
//! The experiment is measured like any other; nothing here starts, reads or waits. A row is `not ok` only
//! where the instrument could have told: where it could not, the row says why.

mod accounting;
mod cost;
mod delay;
mod known;
mod seen;
mod split;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Summary;
use crate::estimate::summary::Decimal;
use crate::model::CpuSet;
use crate::record::Records;

pub use delay::HALT;
pub use split::{Split, split};

/// The candidate whose generator is stopped for [`HALT`] in each window, by whoever runs the experiment.
pub const HALTED: &str = "halted";

/// The manifest of the experiment for these cores.
#[must_use]
pub fn manifest(split: &Split) -> String {
    include_str!("experiment.yaml")
        .replace("{CANDIDATE}", &split.candidate.to_string())
        .replace("{LOAD}", &split.load.to_string())
}

/// What a row comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Inside its bounds.
    Ok,
    /// Outside its bounds.
    NotOk,
    /// The instrument could not have told; the row says why.
    CannotTell,
    /// A number without bounds, for the reader.
    Reported,
}

/// The unit of a row's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowUnit {
    /// A pure number.
    Ratio,
    /// Microseconds of CPU time.
    CpuMicroseconds,
    /// Milliseconds of time.
    Milliseconds,
}

/// A known weight against what was seen of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Its name, for programs.
    pub name: String,
    /// What was compared with what.
    pub weight: String,
    /// What had to come out.
    pub expected: Decimal,
    /// What came out; absent: see `because`.
    pub seen: Option<Decimal>,
    /// The smallest value that is right; absent: there is none.
    pub low: Option<Decimal>,
    /// The largest value that is right; absent: there is none.
    pub high: Option<Decimal>,
    /// The unit of all these.
    pub unit: RowUnit,
    /// The value of each repetition, in the order of rounds.
    pub values: Vec<Decimal>,
    /// What it comes to.
    pub judgement: Judgement,
    /// Why it cannot be told, or what stands beside the number.
    pub because: Option<String>,
}

/// The table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Table {
    /// Every weight, in the order of what rests on what.
    pub rows: Vec<Row>,
}

impl Table {
    /// Rows with this judgement.
    #[must_use]
    pub fn count(&self, judgement: Judgement) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| row.judgement == judgement).count()
    }
}

/// What independent clocks showed of known amounts of work, outside any run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burnt {
    /// CPU time that was to be burnt each time, nanoseconds.
    pub work_ns: u64,
    /// How often.
    pub times: u64,
    /// CPU time of the process over all times, nanoseconds.
    pub cpu_ns: u64,
    /// The shortest time that one of them took, nanoseconds.
    pub fastest_ns: u64,
}

/// Everything that the table is made from.
#[derive(Debug, Clone, Copy)]
pub struct Weighed<'a> {
    /// The records of the run.
    pub records: &'a Records,
    /// Its summary.
    pub summary: &'a Summary,
    /// The candidate's CPUs.
    pub candidate: &'a CpuSet,
    /// The yardstick's own calibration.
    pub burnt: &'a [Burnt],
}

/// Compares every weight with what was seen.
#[must_use]
pub fn judge(weighed: &Weighed<'_>) -> Table {
    let mut rows = accounting::rows(weighed);
    rows.extend(cost::rows(weighed));
    rows.extend(delay::rows(weighed));
    Table { rows }
}

#[cfg(test)]
mod tests;
