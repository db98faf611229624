//! A curve over the connections of a ceiling, every repetition visible.

use super::axis::{Axis, scaled};
use super::bars::Words;
use super::{Chart, MOST_MARKS, Shape, WIDTH, below, fixed, left_out, legend, look, mark, spread};
use crate::report::format::{Scale, count};

/// One candidate's curve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// The candidate.
    pub(crate) name: String,
    /// Its colour and mark.
    pub(crate) series: usize,
    /// Its points in ascending order of connections.
    pub(crate) points: Vec<Point>,
}

/// A point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    /// Connections.
    pub(crate) connections: u32,
    /// The estimate; absent: there is no number.
    pub(crate) value: Option<f64>,
    /// The number as printed.
    pub(crate) text: String,
    /// Every repetition.
    pub(crate) repetitions: Vec<f64>,
}

const LEFT: f64 = 70.0;
const TOP: f64 = 38.0;
const PLOT: f64 = 230.0;

/// The chart; absent when there is no point.
pub(crate) fn chart(words: &Words, lines: &[Line], scale: Scale) -> Option<Chart> {
    let points = || lines.iter().flat_map(|line| &line.points);
    points().next()?;
    let values = points().flat_map(|it| it.value.into_iter().chain(it.repetitions.iter().copied()));
    let axis = Axis::over(values.map(|value| scaled(value, scale)), true);
    let mut columns: Vec<u32> = points().map(|it| it.connections).collect();
    columns.sort_unstable();
    columns.dedup();
    let bottom = TOP + PLOT;
    let mut shapes = Vec::new();
    axis.draw_beside(&mut shapes, (LEFT, WIDTH), (TOP, bottom), &words.unit);
    for column in &columns {
        let x = place(&columns, *column);
        shapes.push(Shape::line("grid faint", (x, TOP), (x, bottom)));
        below(&mut shapes, x, bottom + 16.0, &count(u64::from(*column)));
    }
    let middle = f64::midpoint(LEFT, WIDTH);
    below(&mut shapes, middle, bottom + 33.0, "connections");
    for line in lines {
        draw(&mut shapes, line, &columns, &axis, scale);
    }
    let names: Vec<(usize, String)> = lines
        .iter()
        .map(|it| (it.series, it.name.clone()))
        .collect();
    let height = bottom + 46.0 + legend(&mut shapes, &names, bottom + 44.0);
    Some(Chart {
        name: words.name.clone(),
        title: words.title.clone(),
        description: description(lines),
        width: fixed(WIDTH),
        height: fixed(height),
        shapes,
    })
}

/// Columns stand at equal distances: sweeps double.
fn place(columns: &[u32], column: u32) -> f64 {
    let index = columns.iter().position(|it| *it == column).unwrap_or(0) as f64;
    let inner = (LEFT + 30.0, WIDTH - 30.0);
    match columns.len() {
        0 | 1 => f64::midpoint(inner.0, inner.1),
        many => inner.0 + (inner.1 - inner.0) * index / (many - 1) as f64,
    }
}

fn draw(shapes: &mut Vec<Shape>, line: &Line, columns: &[u32], axis: &Axis, scale: Scale) {
    let class = look(line.series);
    let at = |value: f64| axis.at(scaled(value, scale), TOP + PLOT, TOP);
    let mut d = String::new();
    for point in &line.points {
        match point.value {
            Some(value) => {
                let step = if d.is_empty() || d.ends_with(' ') {
                    "M"
                } else {
                    "L"
                };
                d.push_str(&format!(
                    "{step}{} {}",
                    fixed(place(columns, point.connections)),
                    fixed(at(value))
                ));
            }
            // A gap: the next point begins a new piece.
            None => d.push(' '),
        }
    }
    if !d.trim().is_empty() {
        shapes.push(Shape::path(
            &format!("{class} curve d{}", line.series % 3),
            d.trim().to_owned(),
        ));
    }
    for point in &line.points {
        let x = place(columns, point.connections);
        for repetition in spread(&point.repetitions, MOST_MARKS) {
            shapes.push(Shape::path(
                &format!("{class} dot"),
                mark(line.series, x, at(repetition), 3.2),
            ));
        }
        if let Some(value) = point.value {
            let full = format!(
                "{}, {} connections: {}",
                line.name, point.connections, point.text
            );
            shapes.push(
                Shape::path(
                    &format!("{class} mark"),
                    mark(line.series, x, at(value), 4.5),
                )
                .titled(full),
            );
        }
    }
}

fn description(lines: &[Line]) -> String {
    let line = |line: &Line| {
        let point = |it: &Point| format!("{} at {}", it.text, it.connections);
        format!(
            "{}: {}.",
            line.name,
            line.points.iter().map(point).collect::<Vec<_>>().join(", ")
        )
    };
    let most = lines
        .iter()
        .flat_map(|it| &it.points)
        .map(|it| it.repetitions.len())
        .max()
        .unwrap_or(0);
    let all: Vec<String> = lines.iter().map(line).collect();
    format!(
        "{} Filled marks are estimates, hollow ones repetitions.{}",
        all.join(" "),
        left_out(most, MOST_MARKS)
    )
}
