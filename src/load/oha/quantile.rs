//! Quantiles over planned requests, from the few response times that oha prints of its answers.

use std::collections::BTreeMap;

use super::output::Output;
use crate::model::{LatencyValue, Quantile};

/// The value at a rank among `requests`, of which `answered` have a response time; the others count
/// as infinitely late. `values(rank)` gives what is known of the answer at that rank.
pub(super) fn at(
    quantile: Quantile,
    requests: u64,
    answered: u64,
    value: impl FnOnce(u64) -> LatencyValue,
) -> LatencyValue {
    if requests < quantile.needs() {
        return LatencyValue::Absent(format!(
            "{quantile} needs at least {} requests, there were {requests}",
            quantile.needs()
        ));
    }
    let rank = quantile.rank(requests);
    if rank >= answered {
        return LatencyValue::Absent(format!(
            "{quantile} is request {} of {requests} by response time, and only {answered} had an answer",
            rank + 1
        ));
    }
    value(rank)
}

/// The response times that oha printed, by their index among all answers in ascending order.
pub(super) struct Printed {
    by_index: BTreeMap<u64, u64>,
}

impl Printed {
    /// # Errors
    /// When the printed values do not ascend, or differ at one index.
    pub(super) fn of(output: &Output) -> Result<Self, String> {
        let answered = output.answered();
        let last = answered.saturating_sub(1);
        let percentiles = output.percentiles.iter();
        let percentiles = percentiles.map(|(quantile, value)| (index(*quantile, answered), *value));
        let range = output.range_ns;
        let ends = range
            .into_iter()
            .flat_map(|(fastest, slowest)| [(0, fastest), (last, slowest)]);
        let mut points: Vec<(u64, u64)> = percentiles.chain(ends).collect();
        points.sort_unstable();
        let by_index: BTreeMap<u64, u64> = points.iter().copied().collect();
        let ascending = by_index.values().is_sorted();
        if !ascending
            || points
                .iter()
                .any(|(index, value)| by_index[index] != *value)
        {
            return Err("the printed response times contradict each other".to_owned());
        }
        Ok(Self { by_index })
    }

    /// The answer at a rank: exactly where it was printed, else between its printed neighbours.
    pub(super) fn answer(&self, rank: u64) -> LatencyValue {
        let below = self.by_index.range(..=rank).next_back();
        let above = self.by_index.range(rank..).next();
        match (below, above) {
            (Some((_, low)), Some((_, high))) if low == high => LatencyValue::Exactly(*low),
            (Some((_, low)), Some((_, high))) => LatencyValue::Between(*low, *high),
            _ => LatencyValue::Absent("oha printed no response times".to_owned()),
        }
    }
}

/// The index that oha takes a percentile from, in its own arithmetic: `(p / 100 * n) as usize` in
/// double precision, which can be one below the exact floor.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the generator's own arithmetic, repeated to the bit"
)]
fn index(quantile: Quantile, answered: u64) -> u64 {
    let percent = f64::from(quantile.hundred_thousandths()) / 1000.0;
    (percent / 100.0 * answered as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantile(text: &str) -> Quantile {
        text.parse().unwrap()
    }

    #[test]
    fn the_index_is_the_generators_even_where_it_is_not_the_floor() {
        let mut off = 0;
        for n in 1..20_000_u64 {
            for quantile in Quantile::PRINTED {
                let (found, floor) = (index(quantile, n), quantile.rank(n));
                assert!(found == floor || found + 1 == floor, "{quantile} of {n}");
                off += u32::from(found != floor);
            }
        }
        assert!(off > 0, "the two rules never differ, so one would do");
    }

    #[test]
    fn lost_requests_are_infinitely_late() {
        let value = |rank| LatencyValue::Exactly(rank);
        assert_eq!(
            at(quantile("p50"), 1000, 1000, value),
            LatencyValue::Exactly(500)
        );
        assert_eq!(
            at(quantile("p99"), 1000, 991, value),
            LatencyValue::Exactly(990)
        );
        assert_eq!(
            at(quantile("p99"), 1000, 990, value),
            LatencyValue::Absent(
                "p99 is request 991 of 1000 by response time, and only 990 had an answer"
                    .to_owned()
            )
        );
        assert_eq!(
            at(quantile("p99"), 100, 100, value),
            LatencyValue::Absent("p99 needs at least 101 requests, there were 100".to_owned())
        );
    }
}
