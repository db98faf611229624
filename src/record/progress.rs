//! How far a run is: each block with its attempts, and what is left to do.

mod following;

pub use following::{Following, IllegalSequence};

use super::event::{Attempt, BlockFinished};
use super::fold::Records;
use crate::model::BlockId;
use crate::plan::Plan;

/// How a try at a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// No guard was breached: it counts.
    Valid,
    /// A guard was breached: it is kept, marked and tried again.
    Invalid,
    /// loadlab was interrupted or killed, or the run ended for want of the engine or of the programs it
    /// began with; it does not use up a try.
    CutOff,
}

/// How far one block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockProgress {
    /// Which.
    pub id: BlockId,
    /// How each attempt ended, in order: the first is attempt 1.
    pub attempts: Vec<Ending>,
    /// Whether it is asked for; one that is not is left for another session.
    pub asked: bool,
}

impl BlockProgress {
    /// Whether it has a valid attempt.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.attempts.contains(&Ending::Valid)
    }

    /// Tries used up: attempts that were not cut off.
    #[must_use]
    pub fn tries(&self) -> u32 {
        let used = self
            .attempts
            .iter()
            .filter(|ending| **ending != Ending::CutOff);
        u32::try_from(used.count()).unwrap_or(u32::MAX)
    }

    /// Whether it is asked for, has no valid attempt, and has tries left.
    #[must_use]
    pub fn is_open(&self, attempts_allowed: u32) -> bool {
        self.asked && self.is_unmeasured(attempts_allowed)
    }

    /// Whether it has no valid attempt and has tries left, asked for or not.
    #[must_use]
    pub fn is_unmeasured(&self, attempts_allowed: u32) -> bool {
        !self.is_valid() && self.tries() < attempts_allowed
    }
}

/// How far a run is: each block of the plan with its attempts, in the plan's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    blocks: Vec<BlockProgress>,
    sessions: u32,
}

/// The next thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// Position of the block in the plan, from 0.
    pub position: usize,
    /// The try to make.
    pub attempt: Attempt,
}

impl Progress {
    /// Folds records over the plan that they were measured by.
    ///
    /// # Errors
    /// When they are in an order that no run of this plan writes.
    pub fn of(records: &Records, plan: &Plan) -> Result<Self, IllegalSequence> {
        let mut following = Following::over(plan);
        for line in records.lines() {
            following.take(line)?;
        }
        Ok(following.finish())
    }

    /// The same, where only some blocks are asked for.
    #[must_use]
    pub fn asked_for(mut self, asked: impl Fn(&BlockId) -> bool) -> Self {
        for block in &mut self.blocks {
            block.asked = asked(&block.id);
        }
        self
    }

    /// Each block in the plan's order.
    #[must_use]
    pub fn blocks(&self) -> &[BlockProgress] {
        &self.blocks
    }

    /// Sessions begun so far; the next one is this plus one.
    #[must_use]
    pub const fn sessions(&self) -> u32 {
        self.sessions
    }

    /// What comes next: blocks in the plan's order; within a round those with fewer tries first, so
    /// that an invalid block is tried again at the end of its round. Absent: nothing that is asked for is left.
    #[must_use]
    pub fn next(&self, attempts_allowed: u32) -> Option<Next> {
        let open = |block: &BlockProgress| block.is_open(attempts_allowed);
        let first = self.blocks.iter().find(|block| open(block))?;
        let same_round = |block: &BlockProgress| {
            block.id.phase == first.id.phase && block.id.round == first.id.round
        };
        let candidates = self.blocks.iter().enumerate();
        let (position, block) = candidates
            .filter(|(_, block)| same_round(block) && open(block))
            .min_by_key(|(position, block)| (block.tries(), *position))?;
        Some(Next {
            position,
            attempt: Attempt {
                block: block.id.clone(),
                attempt: u32::try_from(block.attempts.len()).unwrap_or(u32::MAX - 1) + 1,
            },
        })
    }

    /// Whether every block that is asked for has a valid attempt or no tries left.
    #[must_use]
    pub fn complete(&self, attempts_allowed: u32) -> bool {
        self.next(attempts_allowed).is_none()
    }

    /// Blocks without a valid attempt, in the plan's order.
    #[must_use]
    pub fn without_valid_attempt(&self) -> Vec<&BlockId> {
        let missing = self.blocks.iter().filter(|block| !block.is_valid());
        missing.map(|block| &block.id).collect()
    }

    /// Takes in that an attempt ended; for a run loop that goes on from [`Progress::of`].
    pub fn ended(&mut self, attempt: &Attempt, ending: Ending) {
        if let Some(block) = self
            .blocks
            .iter_mut()
            .find(|block| block.id == attempt.block)
        {
            block.attempts.push(ending);
        }
    }
}

/// How an attempt ended by its last record.
#[must_use]
pub fn ending(finished: &BlockFinished) -> Ending {
    let ends_run = |breach: &super::event::Breach| breach.code.ends_run();
    if finished.breaches.is_empty() {
        Ending::Valid
    } else if finished.breaches.iter().any(ends_run) {
        Ending::CutOff
    } else {
        Ending::Invalid
    }
}
