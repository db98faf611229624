//! Declared numbers, computed from estimates alone.

use crate::model::derived::{Derived, DerivedRule};
use crate::model::metric::Unit;
use crate::model::{
    CandidateName, Experiment, LoadPoint, Metric, Outcome, PhaseName, Rate, Role, ScenarioName,
};

use super::ceiling::corroboration;
use super::formula;
use super::lookup::Lookup;
use super::sizing::{by_cpu_time, by_instance};
use super::summary::{Cell, Decimal, DerivedResult, DerivedRow, Estimate, Mark};

/// What declared numbers are made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) lookup: &'a Lookup<'a>,
    pub(super) cells: &'a [Cell],
    pub(super) experiment: &'a Experiment,
}

/// Every declared number.
pub(super) fn derived(sources: &Sources<'_>) -> Vec<DerivedResult> {
    let declared = sources.experiment.derived.values();
    declared.map(|derived| result(derived, sources)).collect()
}

fn result(derived: &Derived, sources: &Sources<'_>) -> DerivedResult {
    let rows = match &derived.rule {
        DerivedRule::CoresByCpuTime {
            target,
            scenario,
            phase,
            against,
        } => {
            let rows = each_candidate(sources, phase, |candidate| {
                by_cpu_time(*target, scenario, phase, candidate, sources)
            });
            related(rows, against.as_ref())
        }
        DerivedRule::CoresByInstance {
            target,
            scenario,
            phase,
            against,
        } => {
            let rows = each_candidate(sources, phase, |candidate| {
                by_instance(*target, scenario, phase, candidate, sources)
            });
            related(rows, against.as_ref())
        }
        DerivedRule::Share {
            of,
            within,
            metric,
            phase,
        } => each_candidate(sources, phase, |candidate| {
            share((of, within), *metric, phase, candidate, sources)
        }),
        DerivedRule::Corroboration {
            target,
            ceiling,
            within,
        } => corroboration(target, ceiling, *within, sources),
        DerivedRule::Formula { formula, unit } => vec![formula::row(formula, *unit, sources)],
    };
    DerivedResult {
        name: derived.name.clone(),
        title: derived.title.clone(),
        rule: derived.rule.clone(),
        rows,
    }
}

/// A row without a value, and why.
pub(super) fn absent(unit: Unit, because: impl Into<String>) -> DerivedRow {
    DerivedRow {
        candidate: None,
        scenario: None,
        value: None,
        with_best_single: None,
        relative: None,
        agrees: None,
        unit,
        mark: Mark::Calculated,
        note: Some(because.into()),
    }
}

fn each_candidate(
    sources: &Sources<'_>,
    phase: &PhaseName,
    of: impl Fn(&CandidateName) -> DerivedRow,
) -> Vec<DerivedRow> {
    let candidates = sources
        .experiment
        .phases
        .get(phase)
        .map(|it| it.candidates.as_slice());
    let row = |candidate: &CandidateName| DerivedRow {
        candidate: Some(candidate.clone()),
        ..of(candidate)
    };
    candidates.unwrap_or_default().iter().map(row).collect()
}

/// Every value over the value of one candidate.
fn related(mut rows: Vec<DerivedRow>, against: Option<&CandidateName>) -> Vec<DerivedRow> {
    let base = rows.iter().find(|row| row.candidate.as_ref() == against);
    let base = against
        .and(base)
        .and_then(|row| row.value.as_ref())
        .map(Decimal::get);
    if let Some(base) = base.filter(|base| *base > 0.0) {
        for row in &mut rows {
            let over = row.value.as_ref().map(|value| value.get() / base);
            row.relative = over.map(Decimal::from);
        }
    }
    rows
}

/// Whether every kept repetition of a cell held its target.
pub(super) fn is_held(sources: &Sources<'_>, estimate: &Estimate) -> bool {
    let cell = sources.cells.iter().find(|cell| {
        (&cell.phase, &cell.scenario, cell.at, &cell.candidate)
            == (
                &estimate.phase,
                &estimate.scenario,
                estimate.at,
                &estimate.candidate,
            )
    });
    cell.is_some_and(|cell| {
        let held = cell.outcomes.get(&Outcome::Held).copied().unwrap_or(0);
        cell.kept > 0 && held == cell.kept
    })
}

/// The estimate at the target, else at the only load point, else at the highest held one.
pub(super) fn nearest<'a>(
    sources: &Sources<'a>,
    (phase, scenario): (&PhaseName, &ScenarioName),
    of: (&CandidateName, &Role, Metric),
    target: Option<Rate>,
) -> Result<&'a Estimate, String> {
    let shape = sources.experiment.phases.get(phase).map(|it| &it.load);
    let points = shape.map(|it| it.points(scenario)).unwrap_or_default();
    let at = |point: LoadPoint| sources.lookup.at(phase, scenario, point, of);
    let wanted = target
        .map(LoadPoint::Rate)
        .filter(|target| points.contains(target));
    let chosen = wanted.and_then(at).or_else(|| match points.as_slice() {
        [only] => at(*only),
        several => {
            let held = several.iter().rev().filter_map(|point| at(*point));
            held.into_iter().find(|estimate| is_held(sources, estimate))
        }
    });
    chosen.ok_or_else(|| format!("{phase} has no estimate of {} for {scenario}", of.2))
}

/// A metric of one scenario over the same metric of another.
fn share(
    (of, within): (&ScenarioName, &ScenarioName),
    metric: Metric,
    phase: &PhaseName,
    candidate: &CandidateName,
    sources: &Sources<'_>,
) -> DerivedRow {
    let name = (candidate, &Role::Candidate, metric);
    let find = |scenario| nearest(sources, (phase, scenario), name, None);
    let (part, all) = match (find(of), find(within)) {
        (Ok(part), Ok(all)) => (part, all),
        (Err(because), _) | (_, Err(because)) => return absent(Unit::One, because),
    };
    let (Some(above), Some(below)) = (&part.value, &all.value) else {
        let because = part.because.clone().or_else(|| all.because.clone());
        return absent(Unit::One, because.unwrap_or_default());
    };
    if below.get() <= 0.0 {
        return absent(Unit::One, format!("{metric} of {within} is 0"));
    }
    let held = is_held(sources, part) && is_held(sources, all);
    let closed_loop = matches!(part.at, LoadPoint::Connections(_));
    let (mark, note) = if held || closed_loop {
        (Mark::Calculated, None)
    } else {
        let note = "from rates that were not all held, which differ between the scenarios";
        (Mark::Extrapolated, Some(note.to_owned()))
    };
    DerivedRow {
        value: Some(Decimal::from(above.get() / below.get())),
        mark,
        note,
        ..absent(Unit::One, "")
    }
}
