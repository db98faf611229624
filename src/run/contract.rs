//! The contract: requests that every fresh candidate must answer as expected before it gets load.

use super::answers::{bound, checked};
use super::bench::Bench;
use super::broken::Broken;
use super::role::Running;
use super::turn::Turn;
use crate::model::{Nanoseconds, Outcome};
use crate::record::Event;
use crate::record::event::{Check, ContractChecked};

/// Longest wait for an answer of the contract.
pub(super) const ANSWER_WITHIN: Nanoseconds = Nanoseconds::seconds(10);

/// Asks every request of the contract, compares each answer with what is expected and, where it must
/// be the same for all candidates, with what was recorded in the rehearsals.
pub(super) async fn answers(
    bench: &Bench<'_>,
    candidate: &Running<'_>,
) -> Result<Vec<Check>, Broken> {
    let mut checks = Vec::new();
    for (index, contract) in bench.experiment.contract.iter().enumerate() {
        let request = bound(&contract.request, &candidate.bindings, &bench.files)?;
        let asked = checked(
            candidate,
            &request,
            &contract.expect,
            &bench.files,
            ANSWER_WITHIN,
        );
        let check = bench.unless_cancelled(asked).await??;
        checks.push(bench.reference.compare(index, check));
    }
    Ok(checks)
}

/// Checks the contract in a block: a candidate that does not keep it gets no load.
pub(super) async fn check(
    bench: &mut Bench<'_>,
    turn: &Turn<'_>,
    candidate: &Running<'_>,
) -> Result<(), Broken> {
    bench.check_cancel()?;
    let checks = answers(bench, candidate).await?;
    let failed = first_difference(&checks);
    if let Some(attempt) = turn.attempt.clone() {
        bench.record(Event::ContractChecked(ContractChecked { attempt, checks }))?;
    }
    failed.map_or(Ok(()), |detail| {
        Err(Broken::Outcome(Outcome::ContractFailed, detail))
    })
}

/// The first difference, with its request.
pub(super) fn first_difference(checks: &[Check]) -> Option<String> {
    checks.iter().find_map(|check| {
        let difference = check.difference.as_ref()?;
        Some(format!("{}: {difference}", check.request))
    })
}
