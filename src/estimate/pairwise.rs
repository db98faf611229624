//! Order statistics of a number made of every pair of two samples, without making all pairs.
//!
//! Each sample is sorted so that the number never falls along a row or a column. Then the pairs up
//! to a bound are counted in one walk along the border, and a number at a rank is found by halving
//! the numbers that are possible; the numbers are the same doubles that a sorted list of all pairs
//! would hold.

/// So many numbers are rather listed than halved further.
const FEW: usize = 64;

/// One number of every pair.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pairwise {
    rows: Vec<f64>,
    columns: Vec<f64>,
    of: Of,
}

/// What a pair becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The row's value over the column's.
    Ratio,
    /// The row's value less the column's.
    Difference,
    /// The geometric mean, of each pair of one sample once and of each value with itself.
    Mean,
}

impl Pairwise {
    /// Every ratio of a value of the first sample to one of the second. All are positive.
    pub(super) fn ratios(
        over: impl Iterator<Item = f64>,
        under: impl Iterator<Item = f64>,
    ) -> Self {
        Self::of_two(over, under, Of::Ratio)
    }

    /// Every difference of a value of the first sample from one of the second.
    pub(super) fn differences(
        values: impl Iterator<Item = f64>,
        less: impl Iterator<Item = f64>,
    ) -> Self {
        Self::of_two(values, less, Of::Difference)
    }

    /// A number that grows with the first sample's value and falls with the second's.
    fn of_two(rows: impl Iterator<Item = f64>, columns: impl Iterator<Item = f64>, of: Of) -> Self {
        let mut columns = sorted(columns);
        columns.reverse();
        Self {
            rows: sorted(rows),
            columns,
            of,
        }
    }

    /// Walsh's averages of positive numbers, geometric: each pair once, each value with itself.
    pub(super) fn means(values: impl Iterator<Item = f64>) -> Self {
        let rows = sorted(values);
        Self {
            columns: rows.clone(),
            rows,
            of: Of::Mean,
        }
    }

    /// How many numbers there are.
    pub(super) fn count(&self) -> usize {
        match self.of {
            Of::Ratio | Of::Difference => self.rows.len() * self.columns.len(),
            Of::Mean => self.rows.len() * (self.rows.len() + 1) / 2,
        }
    }

    /// How many numbers are at most this large.
    pub(super) fn at_most(&self, bound: f64) -> usize {
        self.up_to(|number| number <= bound)
            .map(|(from, to)| to - from)
            .sum()
    }

    /// How many numbers are smaller.
    pub(super) fn below(&self, bound: f64) -> usize {
        self.up_to(|number| number < bound)
            .map(|(from, to)| to - from)
            .sum()
    }

    /// The number at a rank from 0, ascending; absent beyond the last.
    pub(super) fn at(&self, rank: usize) -> Option<f64> {
        if rank >= self.count() {
            return None;
        }
        let (mut low, mut high) = self.ends();
        // Numbers below `low`, and up to `high`.
        let (mut below, mut within) = (0, self.count());
        let few = FEW.max(self.rows.len() + self.columns.len());
        while low < high && within - below > few {
            let middle = low + (high.abs_diff(low) / 2).cast_signed();
            let up_to = self.at_most(from_order(middle));
            if up_to > rank {
                (high, within) = (middle, up_to);
            } else {
                (low, below) = (middle + 1, up_to);
            }
        }
        if low == high {
            return Some(from_order(low));
        }
        let mut left = self.between(from_order(low), from_order(high));
        let (_, number, _) = left.select_nth_unstable_by(rank - below, f64::total_cmp);
        Some(*number)
    }

    /// The middle number; of an even count what becomes of the two middle ones. Absent for none.
    pub(super) fn middle(&self, of_two: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let middle = self.count() / 2;
        if self.count() % 2 == 1 {
            self.at(middle)
        } else {
            Some(of_two(self.at(middle.checked_sub(1)?)?, self.at(middle)?))
        }
    }

    /// The places of the smallest and the largest number among all doubles.
    fn ends(&self) -> (i64, i64) {
        let (row, column) = (self.rows.len() - 1, self.columns.len() - 1);
        (order(self.number(0, 0)), order(self.number(row, column)))
    }

    fn number(&self, row: usize, column: usize) -> f64 {
        let (row, column) = (self.rows[row], self.columns[column]);
        match self.of {
            Of::Ratio => row / column,
            Of::Difference => row - column,
            Of::Mean => (row * column).sqrt(),
        }
    }

    /// The first column of a row that counts.
    const fn first(&self, row: usize) -> usize {
        match self.of {
            Of::Ratio | Of::Difference => 0,
            Of::Mean => row,
        }
    }

    /// Of each row the columns whose numbers are within: from, and the one after. What is within in
    /// one row is within in the rows before it.
    fn up_to(&self, within: impl Fn(f64) -> bool) -> impl Iterator<Item = (usize, usize)> {
        let mut end = self.columns.len();
        (0..self.rows.len()).map(move |row| {
            while end > 0 && !within(self.number(row, end - 1)) {
                end -= 1;
            }
            let first = self.first(row);
            (first, end.max(first))
        })
    }

    fn between(&self, low: f64, high: f64) -> Vec<f64> {
        let from = self.up_to(|number| number < low);
        let to = self.up_to(|number| number <= high);
        let rows = from.zip(to).enumerate();
        rows.flat_map(|(row, ((_, from), (_, to)))| (from..to).map(move |column| (row, column)))
            .map(|(row, column)| self.number(row, column))
            .collect()
    }
}

/// The place of a double among all, in their total order: its bits, those of a negative one turned
/// around.
const fn order(number: f64) -> i64 {
    turned(number.to_bits().cast_signed())
}

/// The double at a place.
const fn from_order(place: i64) -> f64 {
    f64::from_bits(turned(place).cast_unsigned())
}

/// Negative whole numbers in the opposite order, but below the others as before.
const fn turned(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listed(pairwise: &Pairwise) -> Vec<f64> {
        let rows = 0..pairwise.rows.len();
        let numbers = rows.flat_map(|row| {
            (pairwise.first(row)..pairwise.columns.len())
                .map(move |column| pairwise.number(row, column))
        });
        sorted(numbers)
    }

    fn agrees(pairwise: &Pairwise, step: usize) {
        let all = listed(pairwise);
        assert_eq!(pairwise.count(), all.len());
        for rank in (0..all.len()).step_by(step) {
            let number = all[rank];
            assert_eq!(pairwise.at(rank), Some(number));
            let smaller = all.partition_point(|other| *other < number);
            let up_to = all.partition_point(|other| *other <= number);
            let counted = (pairwise.below(number), pairwise.at_most(number));
            assert_eq!(counted, (smaller, up_to));
        }
        assert_eq!(pairwise.at(all.len()), None);
    }

    fn values() -> impl Strategy<Value = Vec<f64>> {
        // Many equal values and a wide range.
        let value = prop_oneof![(1_u32..5).prop_map(f64::from), 1e-9..1e9_f64, 0.9..1.1_f64];
        proptest::collection::vec(value, 0..12)
    }

    proptest! {
        #[test]
        fn every_rank_is_what_the_sorted_list_has(x in values(), y in values()) {
            agrees(&Pairwise::ratios(x.iter().copied(), y.iter().copied()), 1);
            agrees(&Pairwise::differences(x.iter().copied(), y.iter().copied()), 1);
            agrees(&Pairwise::means(x.into_iter()), 1);
        }
    }

    #[test]
    fn many_values_are_halved() {
        let values = |seed: u64| {
            (1..200_u64).map(move |n| 1.0 + super::super::centre::whole(n * seed % 211) / 1e4)
        };
        agrees(&Pairwise::means(values(37)), 97);
        agrees(&Pairwise::ratios(values(91), values(53)), 97);
        agrees(&Pairwise::differences(values(91), values(53)), 97);
    }
}
