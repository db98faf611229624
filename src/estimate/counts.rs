//! Blocks planned, kept, excluded and tried again, for each phase and candidate.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::model::{BlockId, CandidateName, PhaseName};
use crate::plan::Plan;

use super::kept::Selection;
use super::summary::BlockCounts;

/// Whether every planned block has an attempt that counts.
pub(super) fn is_complete(selection: &Selection<'_>, plan: &Plan) -> bool {
    let mut blocks = plan.blocks.iter();
    blocks.all(|block| selection.kept.contains_key(&block.id))
}

/// Counts of each phase and candidate, in the order of the plan.
pub(super) fn counts(selection: &Selection<'_>, plan: &Plan) -> Vec<BlockCounts> {
    let mut tries: BTreeMap<&BlockId, (u64, u64)> = BTreeMap::new();
    for judged in &selection.attempts {
        let (all, valid) = tries.entry(&judged.tried.attempt.block).or_default();
        *all += 1;
        *valid += u64::from(judged.is_valid());
    }
    let mut counts: IndexMap<(&PhaseName, &CandidateName), BlockCounts> = IndexMap::new();
    for block in &plan.blocks {
        let key = (&block.id.phase, &block.id.candidate);
        let counts = counts.entry(key).or_insert_with(|| BlockCounts {
            phase: block.id.phase.clone(),
            candidate: block.id.candidate.clone(),
            planned: 0,
            kept: 0,
            excluded: 0,
            tried_again: 0,
        });
        let (all, valid) = tries.get(&block.id).copied().unwrap_or_default();
        counts.planned += 1;
        counts.kept += u64::from(selection.kept.contains_key(&block.id));
        counts.excluded += all - valid;
        counts.tried_again += u64::from(all > 1);
    }
    counts.into_values().collect()
}
