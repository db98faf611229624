//! Axes with round steps.

use super::super::format::{Scale, fixed};
use super::{Shape, WIDTH};

/// A linear axis: its range in the scale's units and its steps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// The first tick.
    pub(crate) low: f64,
    /// The last tick.
    pub(crate) high: f64,
    /// Every tick.
    pub(crate) ticks: Vec<f64>,
    /// Digits after the point that tell ticks apart.
    decimals: i32,
}

/// A power of ten, correctly rounded everywhere.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

impl Axis {
    /// An axis that holds the values, from zero where `zero` says so.
    pub(crate) fn over(values: impl IntoIterator<Item = f64>, zero: bool) -> Self {
        let finite: Vec<f64> = values.into_iter().filter(|it| it.is_finite()).collect();
        let high = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = finite.iter().copied().fold(f64::INFINITY, f64::min);
        let (low, high) = if finite.is_empty() {
            (0.0, 1.0)
        } else {
            (low, high)
        };
        let low = if zero { low.min(0.0) } else { low };
        let high = if high > low {
            high
        } else {
            low + low.abs().max(1.0) * 0.1
        };
        let (step, decimals) = step((high - low) / 5.0);
        let first = (low / step).floor();
        let last = (high / step - 1e-9).ceil();
        let mut ticks = Vec::new();
        let mut at = first;
        while at <= last && ticks.len() < 20 {
            ticks.push(at * step);
            at += 1.0;
        }
        Self {
            low: first * step,
            high: last * step,
            ticks,
            decimals,
        }
    }

    /// Where a value stands between two coordinates.
    pub(crate) fn at(&self, value: f64, from: f64, to: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        from + share.clamp(0.0, 1.0) * (to - from)
    }

    /// A tick as it is printed.
    pub(crate) fn label(&self, tick: f64) -> String {
        if tick == 0.0 {
            "0".to_owned()
        } else {
            fixed(tick, self.decimals)
        }
    }

    /// Grid lines from top to bottom with labels below, and the unit at their end.
    pub(crate) fn draw_below(
        &self,
        shapes: &mut Vec<Shape>,
        (left, right): (f64, f64),
        (top, bottom): (f64, f64),
        unit: &str,
    ) {
        for tick in &self.ticks {
            let x = self.at(*tick, left, right);
            shapes.push(Shape::line("grid", (x, top), (x, bottom)));
            let anchor = if *tick == self.low {
                "start"
            } else if *tick == self.high {
                "end"
            } else {
                "middle"
            };
            shapes.push(Shape::text(
                "tick",
                x,
                bottom + 15.0,
                anchor,
                &self.label(*tick),
            ));
        }
        shapes.push(Shape::text(
            "tick",
            WIDTH / 2.0,
            bottom + 31.0,
            "middle",
            unit,
        ));
    }

    /// Grid lines from left to right with labels before them, and the unit above.
    pub(crate) fn draw_beside(
        &self,
        shapes: &mut Vec<Shape>,
        (left, right): (f64, f64),
        (top, bottom): (f64, f64),
        unit: &str,
    ) {
        shapes.push(Shape::text("tick", 0.0, top - 20.0, "start", unit));
        for tick in &self.ticks {
            let y = self.at(*tick, bottom, top);
            shapes.push(Shape::line("grid", (left, y), (right, y)));
            shapes.push(Shape::text(
                "tick",
                left - 8.0,
                y + 4.0,
                "end",
                &self.label(*tick),
            ));
        }
    }
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below the wish, with its decimals.
fn step(wish: f64) -> (f64, i32) {
    let wish = if wish.is_finite() && wish > 0.0 {
        wish
    } else {
        1.0
    };
    let text = format!("{wish:e}");
    let exponent: i32 = text
        .split_once('e')
        .and_then(|(_, it)| it.parse().ok())
        .unwrap_or(0);
    let decimals = |extra: i32| (extra - exponent).max(0);
    for (factor, extra) in [(1.0, 0), (2.0, 0), (2.5, 1), (5.0, 0), (10.0, -1)] {
        let step = factor * power_of_ten(exponent);
        if step >= wish * 0.999_999 {
            return (step, decimals(extra));
        }
    }
    (10.0 * power_of_ten(exponent), decimals(-1))
}

/// A value of the summary in the scale's units.
pub(crate) fn scaled(value: f64, scale: Scale) -> f64 {
    value / scale.factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round() {
        for (values, labels) in [
            (vec![0.0, 83.5], vec!["0", "20", "40", "60", "80", "100"]),
            (vec![0.0, 9.7], vec!["0", "2", "4", "6", "8", "10"]),
            (
                vec![0.0, 0.42],
                vec!["0", "0.1", "0.2", "0.3", "0.4", "0.5"],
            ),
            (
                vec![0.0, 50_000.0],
                vec!["0", "10,000", "20,000", "30,000", "40,000", "50,000"],
            ),
            (
                vec![0.0, 1.2],
                vec!["0", "0.25", "0.50", "0.75", "1.00", "1.25"],
            ),
        ] {
            let axis = Axis::over(values, true);
            let shown: Vec<String> = axis.ticks.iter().map(|it| axis.label(*it)).collect();
            assert_eq!(shown, labels);
        }
    }

    proptest! {
        #[test]
        fn every_value_is_on_its_axis(values in proptest::collection::vec(proptest::num::f64::ANY, 0..6), zero in any::<bool>()) {
            let axis = Axis::over(values.clone(), zero);
            prop_assert!(axis.ticks.len() <= 20);
            for value in values.into_iter().filter(|it| it.abs() < 1e200) {
                let x = axis.at(value, 0.0, 100.0);
                prop_assert!((0.0..=100.0).contains(&x) || x.is_nan(), "{value} at {x}");
            }
        }
    }
}
