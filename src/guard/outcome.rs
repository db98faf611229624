//! What a measurement showed of the candidate. A result, never a reason to try again.

use crate::model::scenario::{Expect, ExpectBody};
use crate::model::{Account, Experiment, Known, LoadPoint, LoadShape, Nanoseconds, Outcome, Share};
use crate::record::event::{Check, Incident, Measured};

use super::{holds, inside};

/// Everything that an outcome follows from.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeFacts<'a> {
    /// What the generator counted.
    pub account: &'a Known<Account>,
    /// What must come back.
    pub expect: &'a Expect,
    /// Planned requests and the share of them that counts as held; absent: a closed loop.
    pub target: Option<(u64, Share)>,
    /// Answers sampled by loadlab itself at the window's edges.
    pub answers: &'a [Check],
    /// What the engine saw happen to the candidate.
    pub incidents: &'a [Incident],
}

impl<'a> OutcomeFacts<'a> {
    /// The facts of a recorded measurement; absent when the experiment has no such phase or scenario.
    #[must_use]
    pub fn of(measured: &'a Measured, experiment: &'a Experiment) -> Option<Self> {
        let phase = experiment.phases.get(&measured.attempt.block.phase)?;
        let target = match (&phase.load, measured.id.at) {
            (LoadShape::FixedRate { held_at, .. }, LoadPoint::Rate(rate)) => {
                Some((rate.planned(Nanoseconds(measured.window_ns)), *held_at))
            }
            _ => None,
        };
        Some(Self {
            account: &measured.account,
            expect: &experiment.scenarios.get(&measured.id.scenario)?.expect,
            target,
            answers: &measured.answers,
            incidents: &measured.incidents,
        })
    }
}

/// Outcomes that the engine sees, the one that explains the others first.
const INCIDENTS: [Outcome; 8] = [
    Outcome::NotReady,
    Outcome::ContractFailed,
    Outcome::Oom,
    Outcome::Exited,
    Outcome::Hung,
    Outcome::Restarted,
    Outcome::EscapedCpu,
    Outcome::ConnectionsOverBudget,
];

/// The outcome of a measurement, with more about it.
///
/// The first that applies: out of memory, exited, hung, restarted; errors; unexpected status; wrong
/// answer; escaped CPU, connections over budget; limit reached; then held, not held or, in a closed
/// loop, completed. A target is held only for certain: where late answers cannot be told apart the
/// fewest possible inside the window count.
#[must_use]
pub fn outcome(facts: &OutcomeFacts<'_>) -> (Outcome, Option<String>) {
    let (first, last) = INCIDENTS.split_at(6);
    incident(facts, first)
        .or_else(|| fell_silent(facts))
        .or_else(|| failed_requests(facts))
        .or_else(|| unexpected_status(facts))
        .or_else(|| wrong_answer(facts))
        .or_else(|| incident(facts, last))
        .or_else(|| incident(facts, &[Outcome::LimitReached]))
        .map_or_else(
            || reached(facts),
            |(outcome, detail)| (outcome, Some(detail)),
        )
}

fn incident(facts: &OutcomeFacts<'_>, order: &[Outcome]) -> Option<(Outcome, String)> {
    let seen = |outcome: &Outcome| {
        let mut incidents = facts.incidents.iter();
        incidents.find(|incident| incident.outcome == *outcome)
    };
    let incident = order.iter().find_map(seen)?;
    Some((incident.outcome, incident.detail.clone()))
}

/// Requests were left without an answer, and when the window was over the candidate answered loadlab
/// itself no more, twice: one lost answer is an error.
fn fell_silent(facts: &OutcomeFacts<'_>) -> Option<(Outcome, String)> {
    let [.., first, again] = facts.answers else {
        return None;
    };
    let account = facts.account.value()?;
    let unanswered = account.error_count() + account.aborted.get();
    let silent = first.status.is_none() && again.status.is_none() && unanswered > 0;
    let because = again.difference.as_deref().unwrap_or("no answer came");
    let answered = account.answered.get();
    let detail = format!(
        "{answered} answers, then none; {}: {because}",
        again.request
    );
    silent.then_some((Outcome::Hung, detail))
}

fn failed_requests(facts: &OutcomeFacts<'_>) -> Option<(Outcome, String)> {
    let account = match facts.account {
        Known::Value(account) => account,
        Known::Absent(because) => {
            return Some((Outcome::Errors, format!("nothing was counted: {because}")));
        }
    };
    let (answered, errors) = (account.answered.get(), account.error_count());
    if answered == 0 && errors == 0 && account.sent.get() > 0 {
        let detail = format!("none of {} requests was answered", account.sent.get());
        return Some((Outcome::Hung, detail));
    }
    let (message, times) = account.errors.iter().max_by_key(|(_, times)| **times)?;
    let detail = format!("{errors} errors and {answered} answers; {times} times: {message}");
    (errors > 0).then_some((Outcome::Errors, detail))
}

fn unexpected_status(facts: &OutcomeFacts<'_>) -> Option<(Outcome, String)> {
    let account = facts.account.value()?;
    let status = facts.expect.status;
    let others = account.by_status.iter();
    let others: Vec<String> = others
        .filter(|(found, times)| **found != status && **times > 0)
        .map(|(found, times)| format!("{times} with status {found}"))
        .collect();
    let detail = format!("expected status {status}; {}", others.join(", "));
    (!others.is_empty()).then_some((Outcome::UnexpectedStatus, detail))
}

fn wrong_answer(facts: &OutcomeFacts<'_>) -> Option<(Outcome, String)> {
    let different = |check: &Check| {
        let difference = check.difference.as_ref()?;
        Some(format!("{}: {difference}", check.request))
    };
    let detail = facts
        .answers
        .iter()
        .find_map(different)
        .or_else(|| wrong_length(facts))?;
    Some((Outcome::WrongAnswer, detail))
}

/// Bodies that are the same every time have a known length over the wire: all of them together
/// must add up to it.
fn wrong_length(facts: &OutcomeFacts<'_>) -> Option<String> {
    let fixed = matches!(
        facts.expect.body,
        Some(ExpectBody::SameAsFile { .. } | ExpectBody::Text { .. })
    );
    let mut lengths = facts.answers.iter().map(|check| check.wire_bytes);
    let length = lengths.next().flatten().filter(|_| fixed)?;
    if !lengths.all(|other| other == Some(length)) {
        return None;
    }
    let account = facts.account.value()?;
    let expected = u128::from(account.answered.get()) * u128::from(length);
    (u128::from(account.body_bytes) != expected).then(|| {
        format!(
            "{} answers have {} bytes of body, expected are {expected} ({length} each)",
            account.answered.get(),
            account.body_bytes
        )
    })
}

fn reached(facts: &OutcomeFacts<'_>) -> (Outcome, Option<String>) {
    let (Some((planned, held_at)), Some(account)) = (facts.target, facts.account.value()) else {
        return (Outcome::Completed, None);
    };
    let reached = inside(account, facts.expect.status);
    if holds(reached, planned, held_at) {
        return (Outcome::Held, None);
    }
    let answers = if reached.low == reached.high {
        reached.low.to_string()
    } else {
        format!("{} to {}", reached.low, reached.high)
    };
    let detail = format!("{answers} of {planned} planned requests answered in the window");
    (Outcome::NotHeld, Some(detail))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::guard::tests::account;
    use crate::model::account::Count;

    #[test]
    fn a_candidate_that_answers_no_more_when_the_window_is_over_hung() {
        let check = |status: Option<u16>| Check {
            request: "GET /".to_owned(),
            status,
            body: None,
            wire_bytes: None,
            difference: status.is_none().then(|| "timed out".to_owned()),
        };
        let shown = |last: [Option<u16>; 2], failed: u64| {
            let mut account = account(4_000, 3_900);
            account.aborted = Count::Observed(0);
            account.errors = [("timeout".to_owned(), failed)].into();
            let answers = [check(Some(200)), check(last[0]), check(last[1])];
            let facts = OutcomeFacts {
                account: &Known::Value(account),
                expect: &Expect {
                    status: 200,
                    headers: BTreeMap::new(),
                    body: None,
                },
                target: None,
                answers: &answers,
                incidents: &[],
            };
            outcome(&facts)
        };
        let (hung, detail) = shown([None, None], 4);
        assert_eq!(hung, Outcome::Hung);
        assert_eq!(
            detail.as_deref(),
            Some("3900 answers, then none; GET /: timed out")
        );
        assert_eq!(shown([None, Some(200)], 4).0, Outcome::Errors);
        assert_eq!(shown([None, None], 0).0, Outcome::WrongAnswer);
    }
}
