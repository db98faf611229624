//! Candidates whose blocks count and hold no measurement, for the end of a run.

use std::collections::BTreeMap;

use crate::model::{CandidateName, Outcome};
use crate::record::{AttemptRecords, Records};

/// A candidate with valid blocks in which nothing was measured: an outcome ended them before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmeasured {
    /// The candidate.
    pub candidate: CandidateName,
    /// Its valid blocks.
    pub valid: usize,
    /// What ended those without any measurement, and how many each: never empty.
    pub outcomes: BTreeMap<Outcome, usize>,
}

impl Unmeasured {
    /// Valid blocks without any measurement.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.outcomes.values().sum()
    }
}

/// Counts them over the tries of a run, whatever session they belong to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Valid blocks of each candidate, and what ended those without any measurement.
    candidates: BTreeMap<CandidateName, (usize, BTreeMap<Outcome, usize>)>,
}

impl Tally {
    /// Of everything that was recorded.
    pub(super) fn of(records: &Records) -> Self {
        let mut tally = Self::default();
        for attempt in records.attempts().values() {
            tally.add(attempt);
        }
        tally
    }

    /// Adds a try; one that is not valid counts nowhere.
    pub(super) fn add(&mut self, attempt: &AttemptRecords<'_>) {
        let Some(finished) = attempt.finished.filter(|end| end.breaches.is_empty()) else {
            return;
        };
        let candidate = finished.attempt.block.candidate.clone();
        let (valid, outcomes) = self.candidates.entry(candidate).or_default();
        *valid += 1;
        if let Some((outcome, _)) = &finished.outcome
            && attempt.measured.is_empty()
        {
            *outcomes.entry(*outcome).or_default() += 1;
        }
    }

    /// Those who have any, by name.
    pub(super) fn unmeasured(&self) -> Vec<Unmeasured> {
        let some = self.candidates.iter();
        some.filter(|(_, (_, outcomes))| !outcomes.is_empty())
            .map(|(candidate, (valid, outcomes))| Unmeasured {
                candidate: candidate.clone(),
                valid: *valid,
                outcomes: outcomes.clone(),
            })
            .collect()
    }
}
