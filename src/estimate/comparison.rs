//! Comparisons of two candidates: ratios and verdicts.

use crate::model::derived::Comparison;
use crate::model::estimator::RatioInterval;
use crate::model::{CandidateName, Caveat, Experiment, LoadPoint, Metric, Role, Share};

use super::centre::whole;
use super::family::declared;
use super::interval::coverage;
use super::lookup::Lookup;
use super::rank::Nulls;
use super::ratio::{Between, Ratio, holm};
use super::summary::{CaveatNote, ComparisonResult, Decimal, Estimate, Verdict};

/// Achieved rates that differ by more than this, of the larger one, are unequal.
const EQUAL_RATES: Share = Share::percent(1);

/// A comparison before its verdict.
struct Draft {
    result: ComparisonResult,
    ratio: Option<Ratio>,
    /// Why there can be no verdict, with the caveat that says so.
    no_verdict: Option<(String, Option<Caveat>)>,
}

/// Every comparison with its ratio and verdict, and the caveats that follow. `resolves` is the smallest
/// ratio of CPU costs that the run's own standards resolve; absent: it has none.
pub(super) fn compare(
    lookup: &Lookup<'_>,
    experiment: &Experiment,
    resolves: Option<f64>,
) -> (Vec<ComparisonResult>, Vec<CaveatNote>) {
    let nulls = Nulls::default();
    let has_primary = experiment.primary.is_some();
    let mut drafts: Vec<Draft> = declared(experiment)
        .into_iter()
        .enumerate()
        .map(|(position, comparison)| {
            draft(
                comparison,
                has_primary && position == 0,
                lookup,
                experiment,
                &nulls,
            )
        })
        .collect();
    let (primary, family) = drafts.split_at_mut(usize::from(has_primary));
    for tested in [primary, family] {
        give_verdicts(tested, experiment);
    }
    for draft in &mut drafts {
        below_resolution(draft, resolves);
    }
    let caveats = drafts.iter().filter_map(caveat).collect();
    (
        drafts.into_iter().map(|draft| draft.result).collect(),
        caveats,
    )
}

fn caveat(draft: &Draft) -> Option<CaveatNote> {
    let (because, code) = draft.no_verdict.as_ref()?;
    let it = &draft.result.comparison;
    let scenario = it.scenario.as_ref().map(|name| format!(" {name}"));
    let at = it.at.map(|at| format!(" at {at}"));
    let detail = format!(
        "{} of {} over {} in {}{}{}: {because}",
        it.metric,
        it.compare,
        it.against,
        it.phase,
        scenario.unwrap_or_default(),
        at.unwrap_or_default()
    );
    code.map(|code| CaveatNote { code, detail })
}

fn draft(
    comparison: Comparison,
    primary: bool,
    lookup: &Lookup<'_>,
    experiment: &Experiment,
    nulls: &Nulls,
) -> Draft {
    let compare = side(&comparison, &comparison.compare, lookup);
    let against = side(&comparison, &comparison.against, lookup);
    let of = |side: &Option<&Estimate>, part: fn(&Estimate) -> Option<Decimal>| side.and_then(part);
    let n = |side: &Option<&Estimate>| side.map_or(0, |it| it.n);
    let mut draft = Draft {
        result: ComparisonResult {
            primary,
            compare_value: of(&compare, |it| it.value.or(it.median)),
            against_value: of(&against, |it| it.value.or(it.median)),
            achieved: (
                of(&compare, |it| it.achieved),
                of(&against, |it| it.achieved),
            ),
            n: (n(&compare), n(&against)),
            ratio: None,
            interval: None,
            verdict: None,
            because: None,
            corrected_for: 1,
            p_value: None,
            comparison,
        },
        ratio: None,
        no_verdict: None,
    };
    match compare.zip(against) {
        Some((compare, against)) => fill(&mut draft, compare, against, experiment, nulls),
        None => draft.no_verdict = Some(("there is no estimate to compare".to_owned(), None)),
    }
    draft
}

/// One side of a comparison. Over load points: the one with the best median.
fn side<'a>(
    comparison: &Comparison,
    candidate: &CandidateName,
    lookup: &Lookup<'a>,
) -> Option<&'a Estimate> {
    let scenario = comparison.scenario.as_ref()?;
    let role = comparison.role.as_ref().unwrap_or(&Role::Candidate);
    let of = (candidate, role, comparison.metric);
    let at: LoadPoint = match comparison.at {
        Some(at) => at,
        None => {
            lookup
                .over(&comparison.phase, scenario, of)?
                .best_median
                .as_ref()?
                .0
        }
    };
    lookup.at(&comparison.phase, scenario, at, of)
}

fn fill(
    draft: &mut Draft,
    compare: &Estimate,
    against: &Estimate,
    experiment: &Experiment,
    nulls: &Nulls,
) {
    let spread = [compare, against]
        .into_iter()
        .find_map(|it| too_wide(it, experiment));
    if let Some(because) = spread {
        draft.no_verdict = Some((because, None));
        return;
    }
    let Some(ratio) = ratio(compare, against, experiment.ratio_interval, nulls) else {
        let missing = [compare, against]
            .into_iter()
            .find_map(|it| it.because.clone());
        let because = missing.unwrap_or_else(|| "a value is not above 0".to_owned());
        draft.no_verdict = Some((because, None));
        return;
    };
    let asked = coverage(experiment.coverage);
    let reached = ratio.interval(asked).or_else(|| ratio.widest());
    let kind = interval_words(experiment.ratio_interval);
    draft.result.ratio = Some(Decimal::from(ratio.value));
    draft.result.interval = reached.map(|bounds| super::estimates::named(bounds, kind));
    draft.result.p_value = Some(Decimal::from(ratio.p_value));
    draft.no_verdict = no_verdict(
        compare,
        against,
        &draft.result.comparison,
        &ratio,
        experiment,
    );
    draft.ratio = Some(ratio);
}

/// How an interval of a ratio was made, in words.
pub(super) const fn interval_words(kind: RatioInterval) -> &'static str {
    match kind {
        RatioInterval::TwoSample => "exact two-sample ranks",
        RatioInterval::Paired => "exact signed ranks of the ratios within rounds",
    }
}

fn too_wide(estimate: &Estimate, experiment: &Experiment) -> Option<String> {
    let bound = experiment.spread_bound?;
    let (min, max) = (estimate.min.as_ref()?.get(), estimate.max.as_ref()?.get());
    let exceeds = max * 1e6 > min * whole(bound.millionths());
    exceeds.then(|| {
        format!(
            "context only: the largest value of {} over the smallest is above {bound}",
            estimate.candidate
        )
    })
}

fn between(repetition: &super::summary::Repetition) -> Option<Between> {
    let low = repetition
        .value
        .as_ref()
        .filter(|_| repetition.accepted)?
        .get();
    let high = repetition.at_most.as_ref().map_or(low, Decimal::get);
    Some(Between { low, high })
}

/// The values that enter a comparison, in the order of rounds.
pub(super) fn entering(estimate: &Estimate) -> impl Iterator<Item = Between> + '_ {
    estimate.values.iter().filter_map(between)
}

/// The ratio of two estimates by the values that entered them.
pub(super) fn ratio(
    compare: &Estimate,
    against: &Estimate,
    kind: RatioInterval,
    nulls: &Nulls,
) -> Option<Ratio> {
    match kind {
        RatioInterval::TwoSample => {
            let values = |it: &Estimate| -> Vec<Between> { entering(it).collect() };
            Ratio::two_sample(&values(compare), &values(against), nulls)
        }
        RatioInterval::Paired => {
            let by_round: std::collections::BTreeMap<u32, Between> = against
                .values
                .iter()
                .filter_map(|it| Some((it.round, between(it)?)))
                .collect();
            let pair = |it| Some((between(it)?, *by_round.get(&it.round)?));
            let pairs: Vec<(Between, Between)> = compare.values.iter().filter_map(pair).collect();
            Ratio::paired(&pairs, nulls)
        }
    }
}

/// Why two numbers get no verdict though they have a ratio.
fn no_verdict(
    compare: &Estimate,
    against: &Estimate,
    comparison: &Comparison,
    ratio: &Ratio,
    experiment: &Experiment,
) -> Option<(String, Option<Caveat>)> {
    if compare.at_least || against.at_least {
        let because = "the generator ran out: a value is `at least`";
        return Some((because.to_owned(), Some(Caveat::CeilingOfRig)));
    }
    if comparison.at.is_none() {
        let because = "each load point was chosen by the data that would be judged";
        return Some((because.to_owned(), None));
    }
    let depends_on_rate = matches!(
        comparison.metric,
        Metric::CpuPerRequest | Metric::CoresUsed | Metric::Latency(_)
    );
    if depends_on_rate && let Some(because) = unequal_rates(compare, against) {
        return Some((because, Some(Caveat::UnequalRates)));
    }
    let level = level(experiment);
    if ratio.smallest_p > level {
        let because = format!(
            "n of {} and {} reach a coverage of {:.1} %, declared are {}",
            compare.n,
            against.n,
            (1.0 - ratio.smallest_p) * 100.0,
            experiment.coverage
        );
        return Some((because, Some(Caveat::FewRepetitions)));
    }
    None
}

fn unequal_rates(compare: &Estimate, against: &Estimate) -> Option<String> {
    let (left, right) = (compare.achieved.as_ref()?, against.achieved.as_ref()?);
    let (low, high) = (left.get().min(right.get()), left.get().max(right.get()));
    let unequal = (high - low) * 1e6 > high * whole(EQUAL_RATES.millionths());
    unequal.then(|| format!("achieved {:.0}/s and {:.0}/s", left.get(), right.get()))
}

/// The probability of a wrong verdict that the declared coverage leaves.
fn level(experiment: &Experiment) -> f64 {
    whole(1_000_000_u64.saturating_sub(experiment.coverage.millionths())) / 1e6
}

/// Verdicts on comparisons that are corrected for each other.
fn give_verdicts(drafts: &mut [Draft], experiment: &Experiment) {
    let level = level(experiment);
    let p_value = |draft: &Draft| match (&draft.ratio, &draft.no_verdict) {
        (Some(ratio), None) => ratio.p_value,
        _ => 1.0,
    };
    let p_values: Vec<f64> = drafts.iter().map(p_value).collect();
    let size = drafts.len();
    for (draft, is_rejected) in drafts.iter_mut().zip(holm(&p_values, level)) {
        draft.result.corrected_for = u64::try_from(size).unwrap_or(u64::MAX);
        match (&draft.ratio, &draft.no_verdict) {
            (Some(ratio), None) => {
                let within = draft.result.comparison.equivalent_within;
                let (verdict, because) = verdict(ratio, is_rejected, within, level, size);
                draft.result.verdict = Some(verdict);
                draft.result.because = because;
            }
            (_, because) => {
                draft.result.because = because.as_ref().map(|(because, _)| because.clone());
            }
        }
    }
}

fn verdict(
    ratio: &Ratio,
    is_rejected: bool,
    equivalent_within: Option<Share>,
    level: f64,
    family: usize,
) -> (Verdict, Option<String>) {
    if let Some(within) = equivalent_within {
        let most = 1.0 + whole(within.millionths()) / 1e6;
        let asked = 1.0 - level / super::centre::count(family);
        let inside = ratio
            .interval(asked)
            .is_some_and(|it| it.low * most >= 1.0 && it.high <= most);
        if inside {
            return (Verdict::EquivalentWithin, None);
        }
    }
    match (is_rejected, ratio.value < 1.0) {
        (true, true) => (Verdict::Lower, None),
        (true, false) => (Verdict::Higher, None),
        (false, _) => {
            let alone = (ratio.p_value <= level).then(|| {
                format!("would be shown alone, not when corrected for {family} comparisons")
            });
            (Verdict::NoDifferenceShown, alone)
        }
    }
}

/// Takes back the rank or the equivalence of CPU costs that are nearer to each other than what the
/// run's standards resolve.
fn below_resolution(draft: &mut Draft, resolves: Option<f64>) {
    let is_cpu = matches!(
        draft.result.comparison.metric,
        Metric::CpuPerRequest | Metric::CoresUsed
    );
    let (Some(ratio), Some(resolves), true) = (&draft.ratio, resolves, is_cpu) else {
        return;
    };
    let within = draft.result.comparison.equivalent_within;
    let away = match draft.result.verdict {
        Some(Verdict::Lower | Verdict::Higher) => ratio.value.max(1.0 / ratio.value),
        Some(Verdict::EquivalentWithin) => {
            1.0 + within.map_or(0.0, |within| whole(within.millionths()) / 1e6)
        }
        _ => return,
    };
    if away < resolves {
        draft.result.verdict = Some(Verdict::BelowResolution);
        draft.result.because = Some(format!(
            "the standards of this run resolve a ratio of {resolves:.3}, not one of {away:.3}"
        ));
    }
}
