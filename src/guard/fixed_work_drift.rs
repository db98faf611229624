//! `fixed_work_drift`: a fixed piece of work took much longer or shorter on a candidate's core.

use crate::model::{Caveat, GuardCode, Role};
use crate::probe::verdict;
use crate::record::AttemptRecords;

use super::share::exceeds;
use super::{Context, Verdict, attempt_of};

pub(super) fn judge(attempt: &AttemptRecords<'_>, context: &Context<'_>) -> Verdict {
    let (Some(calibrated), Some(cpus)) = (
        context.calibrated,
        context.experiment.cores.get(&Role::Candidate),
    ) else {
        return Verdict::default();
    };
    let guards = &context.experiment.guards;
    let baseline = verdict::fixed_work_baseline(calibrated.fixed_work.value(), &calibrated.probe);
    let mut judged = Verdict::default();
    for probed in &attempt.probes {
        for change in verdict::fixed_work_changes(&probed.reading, &baseline, cpus) {
            let off = change.found_ns.abs_diff(change.baseline_ns);
            let seen = || format!("{change} {} the block", probed_when(probed.when));
            if exceeds(off, change.baseline_ns, guards.fixed_work_invalid) {
                let evidence = format!("{}, invalid beyond {}", seen(), guards.fixed_work_invalid);
                judged.add(Verdict::breach(GuardCode::FixedWorkDrift, evidence, None));
            } else if exceeds(off, change.baseline_ns, guards.fixed_work_caveat) {
                let place = attempt_of(attempt).map(|attempt| format!("{attempt}: "));
                let detail = format!("{}{}", place.unwrap_or_default(), seen());
                judged.add(Verdict::caveat(Caveat::FixedWorkChanged, detail));
            }
        }
    }
    judged
}

pub(super) const fn probed_when(when: crate::record::event::ProbeTime) -> &'static str {
    match when {
        crate::record::event::ProbeTime::Before => "before",
        crate::record::event::ProbeTime::After => "after",
    }
}
