//! Which attempts count: judged again by the rules, with what people excluded.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{BlockId, GuardCode, MeasurementId};
use crate::record::LedgerLine;
use crate::record::event::Attempt;

use super::readings::{Readings, Try};
use super::shown::Shown;
use super::summary::Exclusion;

/// One try at a block and what is said of it.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    pub(super) tried: &'a Try,
    /// What people decided on it.
    decisions: Vec<&'a LedgerLine>,
}

impl<'a> Judged<'a> {
    pub(super) fn is_valid(&self) -> bool {
        self.passes() && !self.is_excluded_by_hand()
    }

    /// Whether it is complete and no guard is breached.
    fn passes(&self) -> bool {
        self.tried.complete && self.tried.verdict.breaches.is_empty()
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

    /// How often this was measured in it.
    pub(super) fn times(&self, id: &MeasurementId) -> u64 {
        let shown = &self.tried.shown;
        let from = shown.partition_point(|it| it.id < *id);
        let same = shown[from..].iter().take_while(|it| it.id == *id);
        same.map(|_| 1).sum()
    }

    /// What its window of this measurement showed.
    pub(super) fn shown(&self, id: &MeasurementId) -> Option<&'a Shown> {
        let shown = &self.tried.shown;
        let at = shown.binary_search_by(|it| it.id.cmp(id)).ok()?;
        shown.get(at)
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
    pub(super) fn of(readings: &'a Readings, ledger: &'a [LedgerLine]) -> Self {
        let mut decisions: BTreeMap<&Attempt, Vec<&LedgerLine>> = BTreeMap::new();
        for line in ledger {
            decisions.entry(&line.attempt).or_default().push(line);
        }
        let tries = readings.tries.iter();
        let attempts: Vec<Judged<'a>> = tries
            .map(|tried| Judged {
                tried,
                decisions: decisions.remove(&tried.attempt).unwrap_or_default(),
            })
            .collect();
        let kept = first(&attempts, Judged::is_valid);
        let as_measured = first(&attempts, |it| it.tried.was_valid);
        let by_guards = first(&attempts, Judged::passes);
        let blocks: BTreeSet<&BlockId> = by_guards
            .keys()
            .chain(as_measured.keys())
            .copied()
            .collect();
        let differs = |block: &&BlockId| by_guards.get(*block) != as_measured.get(*block);
        Self {
            everything: first(&attempts, |judged| judged.tried.complete),
            judged_after: blocks.into_iter().filter(differs).collect(),
            kept,
            attempts,
        }
    }

    /// Every attempt at a block.
    pub(super) fn attempts_at(&self, block: &BlockId) -> &[Judged<'a>] {
        let of = |judged: &Judged<'_>| judged.tried.attempt.block.cmp(block);
        let from = self.attempts.partition_point(|it| of(it).is_lt());
        let count = self.attempts[from..].partition_point(|it| of(it).is_eq());
        &self.attempts[from..from + count]
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
            chosen
                .entry(&judged.tried.attempt.block)
                .or_insert(position);
        }
    }
    chosen
}

fn excluded(judged: &Judged<'_>) -> Vec<Exclusion> {
    let by_guard = judged
        .tried
        .verdict
        .breaches
        .iter()
        .map(|breach| Exclusion {
            attempt: judged.tried.attempt.clone(),
            measurement: breach.measurement.clone(),
            code: breach.code,
            evidence: breach.evidence.clone(),
            by: None,
            on: None,
        });
    let by_hand = judged.decisions.iter().map(|line| Exclusion {
        attempt: judged.tried.attempt.clone(),
        measurement: line.measurement.clone(),
        code: GuardCode::Manual,
        evidence: line.because.clone(),
        by: Some(line.by.clone()),
        on: Some(line.on.clone()),
    });
    by_guard.chain(by_hand).collect()
}
