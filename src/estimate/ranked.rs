//! Bounds by exact ranks: order statistics of a number made of every pair, with their true coverage.

use super::interval::Bounds;
use super::pairwise::Pairwise;
use super::rank::Null;

/// A number of every pair, at its least and at its most, and how it is distributed where nothing
/// differs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranked {
    pub(super) lows: Pairwise,
    pub(super) highs: Pairwise,
    pub(super) null: Null,
}

impl Ranked {
    /// The narrowest interval that covers at least as asked; absent where n cannot.
    pub(super) fn interval(&self, asked: f64) -> Option<Bounds> {
        let (left_out, coverage) = self.null.leave_out(asked)?;
        self.without(left_out, coverage)
    }

    /// From the smallest to the largest number.
    pub(super) fn widest(&self) -> Option<Bounds> {
        self.without(0, 1.0 - 2.0 * self.null.at_most(0))
    }

    /// The bounds where so many numbers are left out at each end.
    fn without(&self, left_out: usize, coverage: f64) -> Option<Bounds> {
        Some(Bounds {
            low: self.lows.at(left_out)?,
            high: self
                .highs
                .at(self.highs.count().checked_sub(left_out + 1)?)?,
            coverage,
        })
    }
}
