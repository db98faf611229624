//! Plans as a whole: totals, keys, selection, and what a person reads.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

mod keys;
mod order;
mod shown;
mod standards;
#[path = "../web_study/mod.rs"]
mod web_study;

use loadlab::plan::{self, Plan};
use serde_json::Value;

use web_study::machine::{Machine, pin};

/// The plan of a model that is pinned on a machine like any other.
fn planned(model: &Value) -> Plan {
    let experiment = web_study::experiment(model);
    plan::build(&experiment, Some(&pin(&experiment, Machine::default())))
}
