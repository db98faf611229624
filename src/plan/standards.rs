//! Where the standards stand: in so many rounds of their phase as their share of the time allows,
//! spread evenly, each planted server once in such a round, in a balanced order of their own.
//!
//! The candidates' order is the one that they would have without standards; the planted servers are
//! dealt out evenly between them, from round to round a little further along.

use super::keys::Keys;
use super::{Block, cost, order};
use crate::lock::Lock;
use crate::model::estimator::RatioInterval;
use crate::model::{BlockId, CandidateName, Experiment, Phase, PhaseName, Share};

/// The blocks of the planted servers.
pub(super) struct Standing {
    phase: PhaseName,
    /// Rounds of the phase with the blocks that stand in them, in their order.
    rounds: Vec<(u32, Vec<Block>)>,
}

impl Standing {
    /// Beside these blocks of the candidates; absent: no standards.
    pub(super) fn of(
        experiment: &Experiment,
        blocks: &[Block],
        lock: Option<&Lock>,
        seed: u64,
    ) -> Option<Self> {
        let share = experiment.standards.as_ref()?.share;
        let planted = experiment.of_standards()?;
        let phase = planted.phases.values().next()?;
        let keys = lock.map(|lock| Keys::of(&planted, lock));
        let one_round: Vec<Block> = (phase.candidates.iter())
            .map(|name| block(phase, 1, name, keys.as_ref()))
            .collect();
        let beside = cost::run(experiment, blocks);
        let each = cost::blocks(&planted, &one_round);
        let most = fitting(share, beside, each, cost::rehearsals(&planted));
        let count = most.min(u64::from(phase.repetitions));
        let count = u32::try_from(count).unwrap_or(phase.repetitions);
        let standing = Phase {
            repetitions: count,
            ..phase.clone()
        };
        let orders = order::rounds(&standing, experiment.order.rule, seed);
        let numbers = spread(count, phase.repetitions);
        let rounds = numbers.into_iter().zip(orders).map(|(round, names)| {
            let names = names.into_iter();
            let blocks = names.map(|name| block(phase, round, name, keys.as_ref()));
            (round, blocks.collect())
        });
        Some(Self {
            phase: phase.name.clone(),
            rounds: rounds.collect(),
        })
    }

    /// A round of a phase with the planted servers dealt out among its blocks.
    pub(super) fn join(&self, phase: &PhaseName, round: u32, blocks: Vec<Block>) -> Vec<Block> {
        let position = self
            .rounds
            .iter()
            .position(|(standing, _)| *standing == round);
        match position {
            Some(position) if self.phase == *phase => {
                let (_, planted) = &self.rounds[position];
                dealt(blocks, planted, position, self.rounds.len())
            }
            _ => blocks,
        }
    }
}

fn block(phase: &Phase, round: u32, name: &CandidateName, keys: Option<&Keys>) -> Block {
    Block {
        standard: true,
        ..super::block(
            BlockId {
                phase: phase.name.clone(),
                round,
                candidate: name.clone(),
            },
            super::measurements(phase),
            keys,
        )
    }
}

/// The most rounds that take no more than a share of the whole time: the largest k with
/// `once + k each <= share (beside + once + k each)`, all in milliseconds.
fn fitting(share: Share, beside: u64, each: u64, once: u64) -> u64 {
    let part = u128::from(share.millionths());
    let rest = 1_000_000_u128.saturating_sub(part).max(1);
    let may_take = u128::from(beside) * part / rest;
    let rounds = may_take.saturating_sub(u128::from(once)) / u128::from(each.max(1));
    u64::try_from(rounds).unwrap_or(u64::MAX)
}

/// So many of the rounds, spread evenly.
fn spread(count: u32, rounds: u32) -> Vec<u32> {
    let (count, rounds) = (u64::from(count), u64::from(rounds));
    (0..count)
        .map(|index| (2 * index + 1) * rounds / (2 * count) + 1)
        .map(|round| u32::try_from(round).unwrap_or(u32::MAX))
        .collect()
}

/// Deals planted blocks out evenly among others; from one standing round to the next the places move
/// along by a part of the distance between two of them.
fn dealt(blocks: Vec<Block>, planted: &[Block], position: usize, of: usize) -> Vec<Block> {
    let (all, count) = (blocks.len() + planted.len(), planted.len());
    let places: Vec<usize> = (0..count)
        .map(|index| (index * all + position * all / of.max(1)) / count)
        .collect();
    let (mut others, mut planted) = (blocks.into_iter(), planted.iter().cloned());
    let at = |place: usize| {
        let next = if places.contains(&place) {
            planted.next()
        } else {
            others.next()
        };
        next.or_else(|| others.next())
    };
    (0..all).filter_map(at).collect()
}

/// Whether two samples of n values can reach a coverage: of all the ways to deal the ranks, or to
/// give n differences their signs, two are the most extreme.
pub(super) fn reaches(n: u32, interval: RatioInterval, coverage: Share) -> bool {
    let n = u128::from(n.min(40));
    let ways = match interval {
        RatioInterval::TwoSample => (1..=n).fold(1, |ways, i| ways * (n + i) / i),
        RatioInterval::Paired => 1 << n,
    };
    let missed = 1_000_000_u128.saturating_sub(u128::from(coverage.millionths()));
    2_000_000 <= missed * ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_spread_evenly() {
        assert_eq!(spread(2, 6), [2, 5]);
        assert_eq!(spread(3, 6), [2, 4, 6]);
        assert_eq!(spread(4, 6), [1, 3, 4, 6]);
        assert_eq!(spread(6, 6), [1, 2, 3, 4, 5, 6]);
        assert_eq!(spread(0, 6), [0; 0]);
    }

    #[test]
    fn as_many_rounds_stand_as_the_share_allows() {
        // A quarter of 400 is 100, next to 300 of the others.
        assert_eq!(fitting(Share::percent(25), 300, 50, 0), 2);
        assert_eq!(fitting(Share::percent(25), 299, 50, 0), 1);
        assert_eq!(fitting(Share::percent(25), 300, 50, 1), 1);
        assert_eq!(fitting(Share::percent(50), 300, 50, 0), 6);
        assert_eq!(fitting(Share::percent(25), 0, 50, 10), 0);
    }

    #[test]
    fn few_rounds_reach_no_coverage() {
        let reached = |n, interval| reaches(n, interval, Share::percent(95));
        let first = |interval| (1..).find(|n| reached(*n, interval));
        assert_eq!(first(RatioInterval::TwoSample), Some(4));
        assert_eq!(first(RatioInterval::Paired), Some(6));
        assert!(reaches(3, RatioInterval::TwoSample, Share::percent(90)));
        assert!(reached(10_000, RatioInterval::TwoSample));
    }
}
