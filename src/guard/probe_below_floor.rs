//! `probe_below_floor`: the reference nginx did not reach the rate demanded of the rig.

use crate::model::GuardCode;
use crate::probe::verdict;
use crate::record::AttemptRecords;

use super::fixed_work_drift::probed_when;
use super::{Context, Verdict};

pub(super) fn judge(attempt: &AttemptRecords<'_>, context: &Context<'_>) -> Verdict {
    let mut judged = Verdict::default();
    for probed in &attempt.probes {
        if let Some(found) = verdict::below_floor(&probed.reading, &context.experiment.probe) {
            let evidence = format!("{found} {} the block", probed_when(probed.when));
            judged.add(Verdict::breach(GuardCode::ProbeBelowFloor, evidence, None));
        }
    }
    judged
}
