//! Cores that a target needs: by CPU time, and by instances.

use crate::model::metric::Unit;
use crate::model::{CandidateName, LoadPoint, Metric, PhaseName, Rate, Role, ScenarioName};

use super::ceiling::ceiling;
use super::centre::whole;
use super::derived::{Sources, absent, is_held, nearest};
use super::summary::{Decimal, DerivedRow, Mark};

/// target x CPU time per request.
pub(super) fn by_cpu_time(
    target: Rate,
    scenario: &ScenarioName,
    phase: &PhaseName,
    candidate: &CandidateName,
    sources: &Sources<'_>,
) -> DerivedRow {
    let of = (candidate, &Role::Candidate, Metric::CpuPerRequest);
    let estimate = match nearest(sources, (phase, scenario), of, Some(target)) {
        Ok(estimate) => estimate,
        Err(because) => return absent(Unit::Cores, because),
    };
    let Some(cost) = &estimate.value else {
        return absent(Unit::Cores, estimate.because.clone().unwrap_or_default());
    };
    let at_target = estimate.at == LoadPoint::Rate(target);
    let (mark, note) = match (at_target, is_held(sources, estimate)) {
        (true, true) => (Mark::Measured, None),
        (false, true) => (
            Mark::Calculated,
            Some(format!(
                "assumes that a request costs at {target} what it costs at {}",
                estimate.at
            )),
        ),
        (_, false) => (
            Mark::Extrapolated,
            Some(format!(
                "from a rate that was not held: assumes that a request costs at {target} what it costs at the rate achieved, and that instances scale linearly"
            )),
        ),
    };
    DerivedRow {
        value: Some(Decimal::from(whole(target.get()) * cost.get() / 1e9)),
        mark,
        note,
        ..absent(Unit::Cores, "")
    }
}

/// target / ceiling x cores of the budget.
pub(super) fn by_instance(
    target: Rate,
    scenario: &ScenarioName,
    phase: &PhaseName,
    candidate: &CandidateName,
    sources: &Sources<'_>,
) -> DerivedRow {
    let ceiling = match ceiling(sources, phase, scenario, candidate) {
        Ok(ceiling) => ceiling,
        Err(because) => return absent(Unit::Cores, because),
    };
    if ceiling.is_at_least() {
        return absent(
            Unit::Cores,
            "the generator ran out at the ceiling: no sizing",
        );
    }
    let experiment = sources.experiment;
    let budget = experiment
        .budgets
        .get(&Role::Candidate)
        .and_then(|it| it.cores);
    let set = experiment
        .cores
        .get(&Role::Candidate)
        .map(crate::model::CpuSet::count);
    let Some(cores) = budget
        .map(u64::from)
        .or_else(|| set.and_then(|it| u64::try_from(it).ok()))
    else {
        return absent(Unit::Cores, "the candidate has no number of cores");
    };
    let sized = |ceiling: f64| Decimal::from(whole(target.get()) / ceiling * whole(cores));
    let positive = |value: &f64| *value > 0.0;
    match ceiling.value().filter(positive) {
        None => absent(Unit::Cores, ceiling.because()),
        Some(value) => DerivedRow {
            value: Some(sized(value)),
            with_best_single: ceiling.best_single().filter(positive).map(sized),
            note: Some("assumes that instances scale linearly".to_owned()),
            ..absent(Unit::Cores, "")
        },
    }
}
