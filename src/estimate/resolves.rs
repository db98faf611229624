//! What difference the probe's own readings could tell apart.
//!
//! The readings are all of one and the same nginx. In the order of time they are cut into groups of
//! 2n, n as many as the experiment has repetitions, and each group is dealt out alternately to two
//! samples, as if they were two candidates in turn. The interval of their ratio then says by how
//! much two candidates would have to differ so that it holds 1 no longer.

use crate::model::Experiment;

use super::centre::Sample;
use super::interval::coverage;
use super::rank::Nulls;
use super::ratio::{Between, Ratio};
use super::summary::Decimal;

/// The smallest ratio of two CPU costs per request that can be told from 1, the median over the
/// groups, with the evidence in words; absent where there are too few readings or repetitions.
pub(super) fn resolves(costs: &[f64], experiment: &Experiment) -> (Option<Decimal>, String) {
    let repetitions = experiment
        .phases
        .values()
        .map(|phase| phase.repetitions)
        .max();
    let n = usize::try_from(repetitions.unwrap_or(0)).unwrap_or(0);
    if n == 0 || costs.len() < 2 * n {
        let because = format!(
            "the probe has {} readings of CPU per request, two samples of {n} need {}",
            costs.len(),
            2 * n
        );
        return (None, because);
    }
    let nulls = Nulls::default();
    let asked = coverage(experiment.coverage);
    let groups = costs.chunks_exact(2 * n);
    let Some(ratios) = Sample::of(groups.filter_map(|group| told_apart(group, asked, &nulls)))
    else {
        let because = format!("n = {n} cannot reach a coverage of {}", experiment.coverage);
        return (None, because);
    };
    let because = format!(
        "median of {} groups of {} readings of the probe ({} each), dealt to two samples of {n} at a coverage of {}; between {:.3} and {:.3}",
        ratios.sorted().len(),
        2 * n,
        experiment.probe.duration,
        experiment.coverage,
        ratios.smallest(),
        ratios.largest()
    );
    (Some(Decimal::from(ratios.median())), because)
}

fn told_apart(group: &[f64], asked: f64, nulls: &Nulls) -> Option<f64> {
    let every_other = |first: usize| -> Vec<Between> {
        let values = group.iter().skip(first).step_by(2);
        values.copied().map(Between::exactly).collect()
    };
    let ratio = Ratio::two_sample(&every_other(0), &every_other(1), nulls)?;
    let bounds = ratio.interval(asked)?;
    Some(bounds.high.max(1.0 / bounds.low))
}
