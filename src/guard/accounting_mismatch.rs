//! `accounting_mismatch`: the generator's counts do not add up, or an independent count differs.

use crate::model::account::{Count, Late};
use crate::model::{Account, GuardCode, Known, Share};
use crate::record::AttemptRecords;
use crate::record::event::{Measured, WitnessCount};

use super::share::exceeds;
use super::{Context, Verdict};

/// The probe's counts.
pub(super) fn judge(attempt: &AttemptRecords<'_>, context: &Context<'_>) -> Verdict {
    let explained = context.experiment.guards.accounting;
    let mut verdict = Verdict::default();
    for probed in &attempt.probes {
        if let (Known::Value(account), Known::Value(seen)) =
            (&probed.reading.account, &probed.reading.witness)
            && let Some(evidence) = differs_from_witness(account, *seen, explained)
        {
            let evidence = format!("probe {:?} the block: {evidence}", probed.when).to_lowercase();
            verdict.add(Verdict::breach(
                GuardCode::AccountingMismatch,
                evidence,
                None,
            ));
        }
    }
    verdict
}

/// The counts of a measurement.
pub(super) fn judge_measurement(measured: &Measured, context: &Context<'_>) -> Verdict {
    let explained = context.experiment.guards.accounting;
    let Known::Value(account) = &measured.account else {
        return Verdict::default();
    };
    let mut verdict = Verdict::default();
    let mut breach = |evidence: String| {
        let breach = Verdict::breach(GuardCode::AccountingMismatch, evidence, Some(&measured.id));
        verdict.add(breach);
    };
    if let Some(evidence) = does_not_add_up(account) {
        breach(evidence);
    }
    if let Some(Known::Value(witness)) = &measured.witness {
        match seen_by(witness) {
            Some(seen) => {
                if let Some(evidence) = differs_from_witness(account, seen, explained) {
                    breach(evidence);
                }
            }
            None => breach(format!(
                "the candidate's own count went from {} to {} with {} of loadlab's own between",
                witness.before, witness.after, witness.own
            )),
        }
    }
    verdict
}

fn seen_by(witness: &WitnessCount) -> Option<u64> {
    witness
        .after
        .checked_sub(witness.before)?
        .checked_sub(witness.own)
}

/// What does not add up in the generator's own counts. A number obtained by subtraction proves
/// nothing and is not asked.
pub(crate) fn does_not_add_up(account: &Account) -> Option<String> {
    let answered = account.answered.get();
    let by_status: u64 = account.by_status.values().sum();
    if answered != by_status {
        return Some(format!("{answered} answers, but {by_status} by status"));
    }
    if let Count::Observed(sent) = account.sent
        && sent < answered
    {
        return Some(format!("{answered} answers to {sent} requests"));
    }
    match account.late {
        Late::Exactly(late) if late > answered => {
            Some(format!("{late} late answers of {answered} answers"))
        }
        _ => None,
    }
}

/// How an independent count differs from the answers. Requests that were sent and got no answer
/// that counts may or may not have been seen.
fn differs_from_witness(account: &Account, seen: u64, explained: Share) -> Option<String> {
    let answered = account.answered.get();
    let most = answered
        .saturating_add(account.aborted.get())
        .saturating_add(account.error_count());
    let (missing, surplus) = (answered.saturating_sub(seen), seen.saturating_sub(most));
    let off = missing.max(surplus);
    exceeds(off, answered.max(1), explained).then(|| {
        format!("{answered} answers (at most {most} requests), an independent count saw {seen}")
    })
}
