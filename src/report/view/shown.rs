//! Estimates as texts: one place decides the digits and the unit of each.

use crate::estimate::summary::{Decimal, Estimate, Interval, Repetition};
use crate::model::Metric;
use crate::model::metric::Unit;
use crate::report::format::{self, Digits, GAP, NONE, Scale, quantity};

/// The digits of an estimate: of its interval, else of the range of its repetitions.
pub(crate) fn digits(estimate: &Estimate) -> Digits {
    let ends = estimate
        .interval
        .as_ref()
        .map(|it| (it.low.get(), it.high.get()));
    let range = estimate.min.as_ref().zip(estimate.max.as_ref());
    let range = range
        .map(|(low, high)| (low.get(), high.get()))
        .filter(|_| estimate.n > 1);
    ends.or(range)
        .map_or(Digits::Significant(3), |(low, high)| {
            Digits::between(low, high)
        })
}

/// The scale of an estimate on its own.
pub(crate) fn scale(estimate: &Estimate) -> Scale {
    let all = [&estimate.value, &estimate.median, &estimate.max];
    let value = all.into_iter().flatten().next().map(Decimal::get);
    Scale::of(estimate.unit, value)
}

/// One scale for several estimates, so that they can be compared at a glance.
pub(crate) fn common_scale<'a>(unit: Unit, estimates: impl Iterator<Item = &'a Estimate>) -> Scale {
    Scale::of(
        unit,
        estimates
            .filter_map(|it| it.value.as_ref().or(it.max.as_ref()))
            .map(Decimal::get),
    )
}

/// The estimate with its unit: a value, `at least` one, `between` two bounds, a range, or a dash.
pub(crate) fn value(estimate: &Estimate, scale: Scale) -> String {
    let digits = digits(estimate);
    let shown = |value: &Decimal| quantity(value.get(), digits, scale);
    let text = match (&estimate.value, &estimate.at_most) {
        (Some(low), Some(high)) if low != high => bounds(low, high, digits, scale),
        (Some(value), _) => shown(value),
        (None, _) if estimate.centre == crate::model::Centre::Range => estimate
            .min
            .as_ref()
            .zip(estimate.max.as_ref())
            .and_then(|(low, high)| span(low, high, digits, scale)),
        (None, _) => None,
    };
    match text {
        Some(text) if estimate.at_least => format!("at least {text}"),
        Some(text) => text,
        None => NONE.to_owned(),
    }
}

/// `between a and b`, the value where both round to the same.
fn bounds(low: &Decimal, high: &Decimal, digits: Digits, scale: Scale) -> Option<String> {
    let first = format::bare(low.get(), digits, scale)?;
    let last = format::bare(high.get(), digits, scale)?;
    if first == last {
        return Some(scale.with(&first));
    }
    Some(format!("between {first} and {}", scale.with(&last)))
}

/// `a to b unit`.
fn span(low: &Decimal, high: &Decimal, digits: Digits, scale: Scale) -> Option<String> {
    let first = format::bare(low.get(), digits, scale)?;
    Some(format!(
        "{first} to {}",
        quantity(high.get(), digits, scale)?
    ))
}

/// The interval's ends in a scale, `[a, b]`; empty where there is none.
pub(crate) fn interval(interval: Option<&Interval>, scale: Scale) -> String {
    let ends = interval.and_then(|it| {
        let digits = Digits::between(it.low.get(), it.high.get());
        let low = format::bare(it.low.get(), digits, scale)?;
        Some(format!(
            "[{low},{GAP}{}]",
            format::bare(it.high.get(), digits, scale)?
        ))
    });
    ends.unwrap_or_default()
}

/// One repetition without the unit: its value, its bounds, or a dash; in brackets when it is not accepted.
pub(crate) fn repetition(repetition: &Repetition, digits: Digits, scale: Scale) -> String {
    let bare = |value: &Decimal| format::bare(value.get(), digits, scale);
    let text = match (&repetition.value, &repetition.at_most) {
        (Some(low), Some(high)) if low != high => bare(low)
            .zip(bare(high))
            .map(|(low, high)| format!("{low}…{high}")),
        (Some(value), _) => bare(value),
        (None, _) => None,
    };
    let text = text.unwrap_or_else(|| NONE.to_owned());
    if repetition.accepted {
        text
    } else {
        format!("({text})")
    }
}

/// A rate with three significant digits, or as whole requests where it is close to a whole number.
pub(crate) fn rate(rate: &Decimal) -> String {
    let scale = Scale::of(Unit::PerSecond, [rate.get()]);
    let whole = rate.get().round();
    let close = (rate.get() - whole).abs() <= whole.abs() * 0.000_5;
    let digits = if close {
        Digits::Exact
    } else {
        Digits::Significant(4)
    };
    let value = if close { whole } else { rate.get() };
    quantity(value, digits, scale).unwrap_or_else(|| NONE.to_owned())
}

/// The achieved rate that belongs beside a CPU cost; none for other metrics.
pub(crate) fn beside(estimate: &Estimate) -> Option<String> {
    let achieved = estimate
        .achieved
        .as_ref()
        .filter(|_| estimate.metric == Metric::CpuPerRequest)?;
    Some(format!("at {}", rate(achieved)))
}

/// CPU of the candidate while idle before windows, in words.
pub(crate) fn idle(cores: Option<&Decimal>) -> Option<String> {
    let cores = cores?;
    let scale = Scale::of(Unit::Cores, [cores.get()]);
    let text = quantity(cores.get(), Digits::Significant(2), scale)?;
    Some(format!("idle before: {text}"))
}

/// What stands in small print below an estimate: its interval, the achieved rate beside a CPU cost,
/// and why there is no value.
pub(crate) fn small(estimate: &Estimate, scale: Scale) -> String {
    let mut parts = Vec::new();
    let interval = interval(estimate.interval.as_ref(), scale);
    if !interval.is_empty() {
        parts.push(interval);
    }
    parts.extend(beside(estimate));
    if estimate.rig_floor {
        parts.push("the rig's own floor".to_owned());
    }
    if estimate.value.is_none()
        && let Some(because) = &estimate.because
    {
        parts.push(because.clone());
    }
    parts.join(" · ")
}
