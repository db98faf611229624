//! Every measurement in the order of time, so that a drift of the machine shows.

use super::axis::{Axis, scaled};
use super::bars::Words;
use super::{Chart, Shape, WIDTH, below, fixed, left_out, legend, look, mark, spread};
use crate::report::format::Scale;

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    /// Milliseconds since the first one.
    pub(crate) at_ms: u64,
    /// The value in the summary's unit.
    pub(crate) value: f64,
    /// Colour and mark.
    pub(crate) series: usize,
    /// Whether it counts.
    pub(crate) kept: bool,
}

/// Moments drawn at most.
pub(crate) const MOST_MOMENTS: usize = 500;
const LEFT: f64 = 70.0;
const TOP: f64 = 38.0;
const PLOT: f64 = 190.0;

/// The chart; without moments an empty one. `names` are the series in order.
pub(crate) fn chart(
    words: &Words,
    names: &[(usize, String)],
    moments: &[Moment],
    scale: Scale,
) -> Chart {
    let axis = Axis::over(moments.iter().map(|it| scaled(it.value, scale)), false);
    let last = moments.iter().map(|it| it.at_ms).max().unwrap_or(0) as f64 / 60_000.0;
    let time = Axis::over([0.0, last.max(0.1)], true);
    let (right, bottom) = (WIDTH - 10.0, TOP + PLOT);
    let mut shapes = Vec::new();
    axis.draw_beside(&mut shapes, (LEFT, right), (TOP, bottom), &words.unit);
    for tick in &time.ticks {
        let x = time.at(*tick, LEFT + 8.0, right - 8.0);
        below(&mut shapes, x, bottom + 16.0, &time.label(*tick));
    }
    let middle = f64::midpoint(LEFT, WIDTH);
    let told = "minutes since the first measurement";
    below(&mut shapes, middle, bottom + 33.0, told);
    for moment in spread(moments, MOST_MOMENTS) {
        let x = time.at(moment.at_ms as f64 / 60_000.0, LEFT + 8.0, right - 8.0);
        let y = axis.at(scaled(moment.value, scale), bottom, TOP);
        let state = if moment.kept { "mark" } else { "lost" };
        shapes.push(Shape::path(
            &format!("{} {state}", look(moment.series)),
            mark(moment.series, x, y, 3.8),
        ));
    }
    let height = bottom + 46.0 + legend(&mut shapes, names, bottom + 44.0);
    let lost = moments.iter().filter(|it| !it.kept).count();
    Chart {
        name: words.name.clone(),
        title: words.title.clone(),
        description: format!(
            "{} measurements over time, {lost} of them do not count and are hollow.{}",
            moments.len(),
            left_out(moments.len(), MOST_MOMENTS)
        ),
        width: fixed(WIDTH),
        height: fixed(height),
        shapes,
    }
}
