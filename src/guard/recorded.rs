//! Breaches that the run loop recorded and no reading can show: taken as they are.

use crate::model::GuardCode;
use crate::record::AttemptRecords;

use super::Verdict;

/// Codes that only whoever measured could know.
const SEEN_BY_THE_RUN: [GuardCode; 6] = [
    GuardCode::ImageMismatch,
    GuardCode::DataMismatch,
    GuardCode::ServiceLost,
    GuardCode::EngineLost,
    GuardCode::Interrupted,
    GuardCode::HarnessError,
];

pub(super) fn judge(attempt: &AttemptRecords<'_>) -> Verdict {
    let recorded = attempt.finished.into_iter().flat_map(|end| &end.breaches);
    Verdict {
        breaches: recorded
            .filter(|breach| SEEN_BY_THE_RUN.contains(&breach.code))
            .cloned()
            .collect(),
        caveats: Vec::new(),
    }
}
