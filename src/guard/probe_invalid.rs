//! `probe_invalid`: the probe itself had errors or its generator ran out, so it proves nothing.

use crate::model::{GuardCode, Role};
use crate::probe::verdict;
use crate::record::AttemptRecords;

use super::fixed_work_drift::probed_when;
use super::{Context, Verdict};

pub(super) fn judge(attempt: &AttemptRecords<'_>, context: &Context<'_>) -> Verdict {
    let experiment = context.experiment;
    let cores = experiment.cores.get(&Role::Load);
    let cores = cores.map(|cpus| u64::try_from(cpus.count()).unwrap_or(u64::MAX));
    let mut judged = Verdict::default();
    for probed in &attempt.probes {
        for found in verdict::invalid(&probed.reading, cores, &experiment.guards) {
            let evidence = format!("{found} {} the block", probed_when(probed.when));
            judged.add(Verdict::breach(GuardCode::ProbeInvalid, evidence, None));
        }
    }
    judged
}
