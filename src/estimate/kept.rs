//! Which attempts count: judged again by the rules, with what people excluded.

use std::collections::{BTreeMap, BTreeSet};

use crate::guard::{self, Context, Verdict};
use crate::model::{BlockId, Experiment, GuardCode, MeasurementId};
use crate::plan::Plan;
use crate::record::event::{Attempt, Breach, Calibrated, Measured};
use crate::record::{AttemptRecords, LedgerLine, Records};

use super::summary::Exclusion;

/// One try at a block and what is said of it.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    pub(super) attempt: &'a Attempt,
    pub(super) records: AttemptRecords<'a>,
    pub(super) verdict: Verdict,
    /// Its load windows by what they measured.
    pub(super) by_id: BTreeMap<&'a MeasurementId, &'a Measured>,
    /// What people decided on it.
    decisions: Vec<&'a LedgerLine>,
    /// Whether it has an end and every planned window, or ended early by an outcome.
    pub(super) complete: bool,
}

impl Judged<'_> {
    pub(super) fn is_valid(&self) -> bool {
        self.complete && self.verdict.breaches.is_empty() && !self.is_excluded_by_hand()
    }

    fn is_excluded_by_hand(&self) -> bool {
        self.decisions.iter().any(|line| line.measurement.is_none())
    }

    /// Whether a person excluded this measurement alone.
    pub(super) fn is_without(&self, id: &MeasurementId) -> bool {
        self.decisions
            .iter()
            .any(|line| line.measurement.as_ref() == Some(id))
    }

    fn was_valid_when_measured(&self) -> bool {
        let end = self.records.finished;
        self.complete && end.is_some_and(|end| end.breaches.is_empty())
    }
}

/// Every attempt, and for each block the one that counts.
#[derive(Debug)]
pub(super) struct Selection<'a> {
    pub(super) attempts: Vec<Judged<'a>>,
    /// The first valid attempt of each block, by position in `attempts`.
    pub(super) kept: BTreeMap<&'a BlockId, usize>,
    /// The first complete attempt of each block, whatever guards and people say.
    pub(super) everything: BTreeMap<&'a BlockId, usize>,
    /// Blocks whose attempt that counts is another one than when it was measured.
    pub(super) judged_after: Vec<&'a BlockId>,
}

impl<'a> Selection<'a> {
    pub(super) fn of(
        records: &'a Records,
        experiment: &Experiment,
        plan: &Plan,
        ledger: &'a [LedgerLine],
    ) -> Self {
        let calibrations = records.calibrations();
        let calibrations: BTreeMap<u32, &Calibrated> = calibrations
            .into_iter()
            .map(|it| (it.session, it))
            .collect();
        let planned: BTreeMap<&BlockId, usize> = plan
            .blocks
            .iter()
            .map(|block| (&block.id, block.measurements.len()))
            .collect();
        let standards = experiment.of_standards();
        let judge = |(attempt, records): (&'a Attempt, AttemptRecords<'a>)| {
            let session = records.started.map(|started| started.session);
            let is_standard = experiment.is_standard(&attempt.block.candidate);
            let context = Context {
                experiment: standards
                    .as_ref()
                    .filter(|_| is_standard)
                    .unwrap_or(experiment),
                calibrated: session.and_then(|session| calibrations.get(&session).copied()),
            };
            judged(
                attempt,
                records,
                &context,
                planned.get(&attempt.block).copied(),
                ledger,
            )
        };
        let attempts: Vec<Judged<'a>> = records.attempts().into_iter().map(judge).collect();
        let kept = first(&attempts, Judged::is_valid);
        let as_measured = first(&attempts, Judged::was_valid_when_measured);
        let by_guards = first(&attempts, |it| {
            it.complete && it.verdict.breaches.is_empty()
        });
        let blocks: BTreeSet<&BlockId> = by_guards
            .keys()
            .chain(as_measured.keys())
            .copied()
            .collect();
        let differs = |block: &&BlockId| by_guards.get(*block) != as_measured.get(*block);
        Self {
            everything: first(&attempts, |judged| judged.complete),
            judged_after: blocks.into_iter().filter(differs).collect(),
            kept,
            attempts,
        }
    }

    /// Every attempt and measurement that does not count, with its reason.
    pub(super) fn exclusions(&self) -> Vec<Exclusion> {
        let mut exclusions: Vec<Exclusion> = self.attempts.iter().flat_map(excluded).collect();
        exclusions.sort();
        exclusions
    }
}

fn first<'a>(
    attempts: &[Judged<'a>],
    counts: impl Fn(&Judged<'a>) -> bool,
) -> BTreeMap<&'a BlockId, usize> {
    let mut chosen = BTreeMap::new();
    for (position, judged) in attempts.iter().enumerate() {
        if counts(judged) {
            chosen.entry(&judged.attempt.block).or_insert(position);
        }
    }
    chosen
}

fn judged<'a>(
    attempt: &'a Attempt,
    records: AttemptRecords<'a>,
    context: &Context<'_>,
    planned: Option<usize>,
    ledger: &'a [LedgerLine],
) -> Judged<'a> {
    let mut verdict = guard::judge_recorded(&records, context);
    let ended_early = records.finished.is_some_and(|end| end.outcome.is_some());
    let has_all = planned.is_none_or(|planned| records.measured.len() >= planned);
    let complete = records.finished.is_some() && (ended_early || has_all);
    if records.finished.is_some() && !complete && verdict.breaches.is_empty() {
        verdict.breaches.push(Breach {
            code: GuardCode::HarnessError,
            evidence: format!(
                "{} of {} planned measurements were recorded",
                records.measured.len(),
                planned.unwrap_or(0)
            ),
            measurement: None,
        });
    }
    let decisions: Vec<&LedgerLine> = ledger
        .iter()
        .filter(|line| line.attempt == *attempt)
        .collect();
    let measured = records.measured.iter();
    Judged {
        attempt,
        by_id: measured.map(|measured| (&measured.id, *measured)).collect(),
        records,
        verdict,
        decisions,
        complete,
    }
}

fn excluded(judged: &Judged<'_>) -> Vec<Exclusion> {
    let by_guard = judged.verdict.breaches.iter().map(|breach| Exclusion {
        attempt: judged.attempt.clone(),
        measurement: breach.measurement.clone(),
        code: breach.code,
        evidence: breach.evidence.clone(),
        by: None,
        on: None,
    });
    let by_hand = judged.decisions.iter().map(|line| Exclusion {
        attempt: judged.attempt.clone(),
        measurement: line.measurement.clone(),
        code: GuardCode::Manual,
        evidence: line.because.clone(),
        by: Some(line.by.clone()),
        on: Some(line.on.clone()),
    });
    by_guard.chain(by_hand).collect()
}
