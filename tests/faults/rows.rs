//! A row of the table: a code and a fault that brings it about.

use crate::bench::Case;
use crate::guards::GUARDS;
use crate::outcomes::OUTCOMES;
use loadlab::record::event::Measured;

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Row> {
    OUTCOMES.iter().chain(GUARDS)
}

/// A fault and what it is recorded as.
pub struct Row {
    pub code: &'static str,
    pub fault: &'static str,
    pub case: fn() -> Case,
    /// Codes that the same fault may bring with it.
    pub also: &'static [&'static str],
    /// A code that may come in its place.
    pub or: Option<&'static str>,
    /// Needs a quiet machine: what is done must fall into a probe of 300 ms.
    pub quiet: bool,
    /// What else must be seen of it.
    pub seen: fn(&[Measured]) -> bool,
}

pub const fn row(code: &'static str, fault: &'static str, case: fn() -> Case) -> Row {
    Row {
        code,
        fault,
        case,
        also: &[],
        or: None,
        quiet: false,
        seen: |_| true,
    }
}

/// Codes that no fault brings about here, each with what it needs.
pub const ELSEWHERE: [(&str, &str); 6] = [
    ("image_mismatch", "a run by the command line: see `killed`"),
    ("data_mismatch", "a data template"),
    ("manual", "a person who excludes a block"),
    ("engine_lost", "an engine that is a service"),
    ("connections_over_budget", "a database"),
    ("restarted", "an engine that starts members again"),
];
