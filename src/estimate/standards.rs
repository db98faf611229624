//! The standards: what was planted is compared with what came back, after everything was estimated.
//!
//! Only here the seal is opened. The numbers that are compared come from the same estimators as those of
//! candidates, which knew the planted servers by neutral names.

use crate::model::metric::{Metric, Unit};
use crate::model::standards::{Difference, Pair, Standards, scenario_name};
use crate::model::{Caveat, Experiment, LoadPoint, Role, Share};
use crate::plan::Plan;

use super::centre::whole;
use super::comparison::{entering, ratio};
use super::interval::{Bounds, coverage};
use super::kept::Selection;
use super::lookup::Lookup;
use super::rank::Nulls;
use super::recovered::{Found, RecoveredPair, RecoveredStandards};
use super::shift::Shift;
use super::summary::{CaveatNote, Decimal, Estimate};
use super::{cell, counts, estimates};

/// How much later than asked a timer may wake: the kernel's slack and the way back to the process.
const LATE_NS: f64 = 200_000.0;
/// How much memory of a process may be counted beside what it holds, of it.
const BESIDE: f64 = 0.02;

/// What the run recovered of its standards, and the smallest ratio that it resolves; absent: the
/// experiment has none.
pub(super) fn recovered(
    selection: &Selection<'_>,
    experiment: &Experiment,
    plan: &Plan,
) -> Option<RecoveredStandards> {
    let standards = experiment.standards.as_ref()?;
    let blind = experiment.of_standards()?;
    let standing = plan.only_standards(true);
    let estimates: Vec<Estimate> = cell::cells(selection, &blind, &standing)
        .iter()
        .flat_map(|it| estimates::of_cell(it, &blind))
        .collect();
    let scales = Scales {
        lookup: Lookup::new(&estimates, &[]),
        standards,
        blind: &blind,
        nulls: Nulls::default(),
    };
    let planted = standards.planted.open_the_seal().iter();
    let pairs: Vec<RecoveredPair> = planted.map(|pair| scales.weigh(pair)).collect();
    let (resolves, resolves_because) = resolves(&pairs, experiment.coverage);
    Some(RecoveredStandards {
        phase: standards.phase.clone(),
        rate: standards.rate,
        rounds: plan.totals.standards.map_or(0, |added| added.rounds),
        coverage: experiment.coverage,
        counts: counts::counts(selection, &standing),
        pairs,
        resolves: resolves.map(Decimal::from),
        resolves_because,
    })
}

/// What weakens every comparison, by what came back of the standards.
pub(super) fn caveats(recovered: &RecoveredStandards) -> Vec<CaveatNote> {
    let mut notes = Vec::new();
    if recovered
        .pairs
        .iter()
        .any(|pair| pair.found == Found::Silent)
    {
        let silent = recovered.pairs.iter().find_map(|pair| pair.because.clone());
        notes.push(CaveatNote {
            code: Caveat::FewStandards,
            detail: silent.unwrap_or_else(|| recovered.resolves_because.clone()),
        });
    }
    notes.extend(recovered.pairs.iter().filter_map(missed));
    notes
}

fn missed(pair: &RecoveredPair) -> Option<CaveatNote> {
    let what = match (pair.found, pair.agrees) {
        (Found::NotFound, _) => "was not found",
        (Found::FalseAlarm, _) => "was planted, but a difference was found",
        (Found::Found, Some(false)) => "came back as another difference",
        _ => return None,
    };
    let came_back = pair.recovered.as_ref().map_or_else(String::new, |it| {
        format!(" (planted {}, came back {:.3})", pair.planted, it.get())
    });
    Some(CaveatNote {
        code: Caveat::StandardsMissed,
        detail: format!("{} {what}{came_back}", pair.difference),
    })
}

/// What pairs are weighed with: estimates that know nothing of what was planted.
struct Scales<'a> {
    lookup: Lookup<'a>,
    standards: &'a Standards,
    blind: &'a Experiment,
    nulls: Nulls,
}

/// A difference as it came back.
struct CameBack {
    value: f64,
    /// At the declared coverage; absent: n cannot reach it.
    bounds: Option<Bounds>,
    widest: Option<Bounds>,
    kind: &'static str,
}

impl Scales<'_> {
    fn weigh(&self, pair: &Pair) -> RecoveredPair {
        let metric = pair.difference.metric();
        let side = |name| {
            let standards = self.standards;
            let at = LoadPoint::Rate(standards.rate);
            let of = (name, &Role::Candidate, metric);
            self.lookup.at(&standards.phase, &scenario_name(), at, of)
        };
        let sides = side(&pair.compare).zip(side(&pair.against));
        let came_back = sides.and_then(|(compare, against)| self.came_back(pair, compare, against));
        let truth = Truth::of(pair.difference);
        let values = |side: Option<&Estimate>| -> Vec<Decimal> {
            let values = side.into_iter().flat_map(entering);
            values.map(|value| Decimal::from(value.low)).collect()
        };
        let value = |side: Option<&Estimate>| side.and_then(|it| it.value);
        let (compare, against) = (sides.map(|it| it.0), sides.map(|it| it.1));
        let bounds = came_back.as_ref().and_then(|it| it.bounds);
        RecoveredPair {
            difference: pair.difference,
            compare: pair.compare.clone(),
            against: pair.against.clone(),
            metric,
            unit: truth.unit,
            planted: Decimal::from(truth.low),
            planted_at_most: Decimal::from(truth.high),
            recovered: came_back.as_ref().map(|it| Decimal::from(it.value)),
            interval: came_back.as_ref().and_then(|it| {
                let bounds = it.bounds.or(it.widest)?;
                Some(estimates::named(bounds, it.kind))
            }),
            compare_value: value(compare),
            against_value: value(against),
            values: (values(compare), values(against)),
            n: (compare.map_or(0, |it| it.n), against.map_or(0, |it| it.n)),
            found: bounds.map_or(Found::Silent, |bounds| truth.found(bounds)),
            agrees: bounds.map(|bounds| bounds.low <= truth.high && bounds.high >= truth.low),
            because: bounds.is_none().then(|| because(compare, against)),
        }
    }

    fn came_back(&self, pair: &Pair, compare: &Estimate, against: &Estimate) -> Option<CameBack> {
        let asked = coverage(self.blind.coverage);
        let kind = self.blind.ratio_interval;
        if pair.difference.metric() == Metric::CpuPerRequest {
            let ratio = ratio(compare, against, kind, &self.nulls)?;
            return Some(CameBack {
                value: ratio.value,
                bounds: ratio.interval(asked),
                widest: ratio.widest(),
                kind: super::comparison::interval_words(kind),
            });
        }
        let (compare, against): (Vec<_>, Vec<_>) =
            (entering(compare).collect(), entering(against).collect());
        let shift = Shift::two_sample(&compare, &against, &self.nulls)?;
        Some(CameBack {
            value: shift.value,
            bounds: shift.interval(asked),
            widest: shift.widest(),
            kind: "exact two-sample ranks of differences",
        })
    }
}

fn because(compare: Option<&Estimate>, against: Option<&Estimate>) -> String {
    let sides = [compare, against].into_iter().flatten();
    let missing = sides.clone().find_map(|it| it.because.clone());
    let n: Vec<String> = sides.map(|it| it.n.to_string()).collect();
    missing.unwrap_or_else(|| match n.as_slice() {
        [] => "no block of it was kept".to_owned(),
        n => format!(
            "n of {} cannot reach the declared coverage",
            n.join(" and ")
        ),
    })
}

/// What was planted, as far as it is known.
struct Truth {
    low: f64,
    high: f64,
    /// What would mean no difference.
    none: f64,
    unit: Unit,
}

impl Truth {
    fn of(difference: Difference) -> Self {
        let exact = |by: Share| {
            let ratio = 1.0 + whole(by.millionths()) / 1e6;
            (ratio, ratio, 1.0, Unit::One)
        };
        let (low, high, none, unit) = match difference {
            Difference::Cpu { by } | Difference::Nginx { by } => exact(by),
            Difference::Delay { by } => {
                let by = whole(by.0);
                (by, by + LATE_NS, 0.0, Unit::Nanoseconds)
            }
            Difference::Memory { by } => {
                let by = whole(by.0);
                (by * (1.0 - BESIDE), by * (1.0 + BESIDE), 0.0, Unit::Bytes)
            }
        };
        Self {
            low,
            high,
            none,
            unit,
        }
    }

    fn found(&self, bounds: Bounds) -> Found {
        let shown = bounds.low > self.none;
        let holds_none = bounds.low <= self.none && bounds.high >= self.none;
        match (self.high > self.none, shown, holds_none) {
            (true, true, _) => Found::Found,
            (true, false, _) => Found::NotFound,
            (false, _, true) => Found::NothingFound,
            (false, _, false) => Found::FalseAlarm,
        }
    }
}

/// The smallest ratio of two CPU costs that the run can tell from 1: the largest factor by which an
/// interval of a pair reaches away from what was planted. So it is never smaller than a planted ratio
/// that was not found, nor than a difference that was found where none was planted.
fn resolves(pairs: &[RecoveredPair], asked: Share) -> (Option<f64>, String) {
    let cpu = pairs
        .iter()
        .filter(|pair| pair.metric == Metric::CpuPerRequest);
    let mut widest: Option<(f64, &RecoveredPair)> = None;
    let mut count = 0_u64;
    for pair in cpu {
        let Some((interval, _)) = pair.interval.as_ref().zip(pair.agrees) else {
            let because = pair.because.clone().unwrap_or_default();
            return (None, format!("{}: {because}", pair.difference));
        };
        let planted = pair.planted.get();
        let away = (interval.high.get() / planted).max(planted / interval.low.get());
        count += 1;
        if widest.is_none_or(|(known, _)| away > known) {
            widest = Some((away, pair));
        }
    }
    let Some((away, pair)) = widest else {
        return (None, "no difference of CPU was planted".to_owned());
    };
    let because = format!(
        "the widest of {count} planted {} of CPU at a coverage of {asked}: {}, n of {} and {}",
        if count == 1 {
            "difference"
        } else {
            "differences"
        },
        pair.difference,
        pair.n.0,
        pair.n.1
    );
    (Some(away), because)
}

#[cfg(test)]
mod tests;
