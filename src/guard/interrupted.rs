//! `interrupted`: a try at a block that has no end was cut off.

use crate::model::GuardCode;
use crate::record::AttemptRecords;

use super::Verdict;

pub(super) fn judge(attempt: &AttemptRecords<'_>) -> Verdict {
    match (attempt.started, attempt.finished) {
        (Some(started), None) => Verdict::breach(
            GuardCode::Interrupted,
            format!("{} has no end: it was cut off", started.attempt),
            None,
        ),
        _ => Verdict::default(),
    }
}
