//! Bars with every repetition visible as a mark and the interval as a whisker.

use super::axis::{Axis, scaled};
use super::{Chart, LINE, MOST_MARKS, Shape, WIDTH, cut, left_out, look, mark, spread, whisker};
use crate::report::format::Scale;

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    /// The name of what it stands for.
    pub(crate) name: String,
    /// Its colour and mark.
    pub(crate) series: usize,
    /// Its length in the summary's unit; absent: there is no number.
    pub(crate) value: Option<f64>,
    /// The number as printed, or why there is none.
    pub(crate) text: String,
    /// The ends of its interval.
    pub(crate) interval: Option<(f64, f64)>,
    /// Every repetition.
    pub(crate) repetitions: Vec<f64>,
}

/// Bars that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    /// What they have in common.
    pub(crate) title: String,
    /// The bars.
    pub(crate) bars: Vec<Bar>,
}

/// The words of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Words {
    /// File name without its ending.
    pub(crate) name: String,
    /// What it shows.
    pub(crate) title: String,
    /// The unit of the axis.
    pub(crate) unit: String,
}

const GROUP: f64 = 26.0;
const ROW: f64 = 40.0;
const BAR: f64 = 14.0;

/// The chart; absent when there is no bar.
pub(crate) fn chart(words: &Words, groups: &[Group], scale: Scale) -> Option<Chart> {
    let bars = || groups.iter().flat_map(|group| &group.bars);
    bars().next()?;
    let all = bars().flat_map(|bar| {
        let ends = bar.interval.map(|(low, high)| [low, high]);
        bar.value
            .into_iter()
            .chain(bar.repetitions.iter().copied())
            .chain(ends.into_iter().flatten())
    });
    let axis = Axis::over(all.map(|value| scaled(value, scale)), true);
    let mut body = Vec::new();
    let mut y = 6.0;
    for group in groups {
        body.push(
            Shape::text("group", 0.0, y + 14.0, "start", &cut(&group.title, LINE))
                .titled(group.title.as_str()),
        );
        y += GROUP;
        for bar in &group.bars {
            draw(&mut body, bar, &axis, scale, y);
            y += ROW;
        }
        y += 6.0;
    }
    let mut shapes = Vec::new();
    axis.draw_below(&mut shapes, (0.0, WIDTH), (GROUP, y), &words.unit);
    shapes.extend(body);
    Some(Chart {
        name: words.name.clone(),
        title: words.title.clone(),
        description: description(groups),
        width: super::fixed(WIDTH),
        height: super::fixed(y + 40.0),
        shapes,
    })
}

fn draw(shapes: &mut Vec<Shape>, bar: &Bar, axis: &Axis, scale: Scale, top: f64) {
    let x = |value: f64| axis.at(scaled(value, scale), 0.0, WIDTH);
    let middle = top + 24.0;
    let value = cut(&bar.text, LINE / 2);
    let room = LINE - 2 - value.chars().count();
    shapes.push(
        Shape::text("name", 0.0, top + 11.0, "start", &cut(&bar.name, room))
            .titled(bar.name.as_str()),
    );
    shapes.push(Shape::text("value", WIDTH, top + 11.0, "end", &value).titled(bar.text.as_str()));
    let class = look(bar.series);
    if let Some(value) = bar.value {
        let full = format!("{}: {}", bar.name, bar.text);
        let rect = Shape::rect(
            &format!("{class} bar"),
            0.0,
            middle - BAR / 2.0,
            x(value),
            BAR,
        );
        shapes.push(rect.titled(full));
    }
    for repetition in spread(&bar.repetitions, MOST_MARKS) {
        shapes.push(Shape::path(
            &format!("{class} dot"),
            mark(bar.series, x(repetition), middle, 3.2),
        ));
    }
    if let Some((low, high)) = bar.interval {
        whisker(shapes, (x(low), x(high)), middle);
    }
}

fn description(groups: &[Group]) -> String {
    let group = |group: &Group| {
        let bars: Vec<String> = group
            .bars
            .iter()
            .map(|bar| format!("{} {}", bar.name, bar.text))
            .collect();
        format!("{}: {}.", group.title, bars.join("; "))
    };
    let most = groups
        .iter()
        .flat_map(|it| &it.bars)
        .map(|it| it.repetitions.len())
        .max()
        .unwrap_or(0);
    let all: Vec<String> = groups.iter().map(group).collect();
    format!(
        "{} Each mark is a repetition; the whisker is the interval.{}",
        all.join(" "),
        left_out(most, MOST_MARKS)
    )
}
