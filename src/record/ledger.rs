//! The ledger: what people decided about a draft, one JSON line each. Nothing is deleted.

use serde::{Deserialize, Serialize};

use super::event::Attempt;
use crate::model::MeasurementId;

/// One decision of a person: a line of `ledger.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerLine {
    /// What is excluded.
    pub attempt: Attempt,
    /// Which of its measurements; absent: the whole block.
    pub measurement: Option<MeasurementId>,
    /// The reason.
    pub because: String,
    /// Who decided.
    pub by: String,
    /// The day, UTC, `YYYY-MM-DD`.
    pub on: String,
}
