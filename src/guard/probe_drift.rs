//! `probe_drift`: the reference nginx cost more or less, or answered slower, than at the start.

use crate::model::GuardCode;
use crate::probe::verdict;
use crate::record::AttemptRecords;

use super::fixed_work_drift::probed_when;
use super::{Context, Verdict};

pub(super) fn judge(attempt: &AttemptRecords<'_>, context: &Context<'_>) -> Verdict {
    let Some(calibrated) = context.calibrated else {
        return Verdict::default();
    };
    let mut judged = Verdict::default();
    for probed in &attempt.probes {
        let guards = &context.experiment.guards;
        for found in verdict::drift(&probed.reading, &calibrated.probe, guards) {
            let evidence = format!("{found} {} the block", probed_when(probed.when));
            judged.add(Verdict::breach(GuardCode::ProbeDrift, evidence, None));
        }
    }
    judged
}
