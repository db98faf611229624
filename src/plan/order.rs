//! The order of candidates within rounds.
//!
//! Balanced: a Williams design, in which each candidate follows each other one equally often and
//! stands at each position equally often (E. J. Williams, 1949, Australian Journal of Scientific
//! Research A 2, 149-168). An even number k of candidates needs k rounds, an odd one 2k. The design
//! is fixed; the seed deals its labels. What follows across the border of two rounds is not counted.

use rand::Rng;
use rand_pcg::Pcg64;

use crate::model::experiment::OrderRule;
use crate::model::{CandidateName, Digest, Phase, PhaseName};

/// Whether a phase has the rounds that a balanced order needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balance {
    /// Each candidate follows each other one equally often.
    Complete,
    /// It does not.
    Incomplete {
        /// The next number of rounds with which it would.
        rounds_needed: u32,
    },
}

/// Whether the balanced order is complete with a phase's candidates and repetitions.
#[must_use]
pub fn balance(phase: &Phase) -> Balance {
    let candidates = u32::try_from(phase.candidates.len()).unwrap_or(u32::MAX);
    let design = match candidates {
        0 | 1 => 1,
        even if even % 2 == 0 => even,
        odd => odd.saturating_mul(2),
    };
    if phase.repetitions.is_multiple_of(design) {
        Balance::Complete
    } else {
        let rounds_needed = phase.repetitions.div_ceil(design).saturating_mul(design);
        Balance::Incomplete { rounds_needed }
    }
}

/// The candidates of a phase in the order of each of its rounds, from round 1 on.
#[must_use]
pub fn rounds(phase: &Phase, rule: OrderRule, seed: u64) -> Vec<Vec<&CandidateName>> {
    let count = phase.candidates.len();
    let labels = match rule {
        OrderRule::Balanced => shuffled(count, seed, &phase.name, 0),
        OrderRule::Random | OrderRule::Rotated => Vec::new(),
    };
    let positions = |round: u32| -> Vec<usize> {
        match rule {
            OrderRule::Balanced => williams(count, round as usize - 1)
                .into_iter()
                .map(|position| labels[position])
                .collect(),
            OrderRule::Random => shuffled(count, seed, &phase.name, round),
            OrderRule::Rotated => (0..count)
                .map(|position| (position + round as usize - 1) % count)
                .collect(),
        }
    };
    (1..=phase.repetitions)
        .map(|round| {
            let order = positions(round).into_iter();
            order.map(|index| &phase.candidates[index]).collect()
        })
        .collect()
}

/// A row of the Williams design for so many candidates; rows repeat after the last.
///
/// The first row goes to and fro, 0, 1, k-1, 2, k-2, …; row i adds i modulo k. An odd design goes
/// on with its own rows backwards.
fn williams(candidates: usize, row: usize) -> Vec<usize> {
    if candidates == 0 {
        return Vec::new();
    }
    let shift = row % candidates;
    let mut order: Vec<usize> = (0..candidates)
        .map(|position| {
            let step = position.div_ceil(2);
            let first = if position % 2 == 1 {
                step
            } else {
                candidates - step
            };
            (first + shift) % candidates
        })
        .collect();
    if candidates % 2 == 1 && (row / candidates) % 2 == 1 {
        order.reverse();
    }
    order
}

/// A seeded random order (Fisher-Yates over PCG XSL RR 128/64), of its own for each phase and round.
fn shuffled(count: usize, seed: u64, phase: &PhaseName, round: u32) -> Vec<usize> {
    let mut generator = generator(seed, phase, round);
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, below(&mut generator, last + 1));
    }
    order
}

fn generator(seed: u64, phase: &PhaseName, round: u32) -> Pcg64 {
    let digest = Digest::of_value(&(seed, phase, round)).hex();
    let half = |text: &str| u128::from_str_radix(text, 16).expect("a digest is hexadecimal");
    Pcg64::new(half(&digest[..32]), half(&digest[32..]))
}

/// A number below the bound, all equally likely: draws from an incomplete last stretch are thrown away.
fn below(generator: &mut Pcg64, bound: usize) -> usize {
    let bound = bound as u64;
    let whole = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = generator.next_u64();
        if drawn < whole {
            return usize::try_from(drawn % bound).expect("it is below a usize");
        }
    }
}

#[cfg(test)]
mod tests;
