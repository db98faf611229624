//! Planted differences against what came back: a tick where the truth is, a mark and a whisker for what
//! was recovered.

use super::axis::Axis;
use super::{Chart, LINE, Shape, WIDTH, cut, look, mark, whisker};

/// One planted pair, in per cent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Planted {
    /// What was planted, in words.
    pub(crate) name: String,
    /// What came back, in words.
    pub(crate) text: String,
    /// What was planted.
    pub(crate) planted: f64,
    /// What came back.
    pub(crate) recovered: f64,
    /// The ends of its interval.
    pub(crate) interval: (f64, f64),
    /// Whether the interval holds what was planted.
    pub(crate) agrees: bool,
}

const ROW: f64 = 44.0;

/// The chart; absent where nothing came back.
pub(crate) fn chart(rows: &[Planted]) -> Option<Chart> {
    rows.first()?;
    let numbers = rows.iter().flat_map(|row| {
        let (low, high) = row.interval;
        [row.planted, row.recovered, low, high]
    });
    let axis = Axis::over(numbers, true);
    let (mut body, mut y) = (Vec::new(), 6.0);
    for row in rows {
        draw(&mut body, row, &axis, y);
        y += ROW;
    }
    let mut shapes = Vec::new();
    let unit = "% more CPU for each request";
    axis.draw_below(&mut shapes, (0.0, WIDTH), (0.0, y), unit);
    shapes.extend(body);
    let described: Vec<String> = (rows.iter())
        .map(|row| format!("{}: {}.", row.name, row.text))
        .collect();
    Some(Chart {
        name: "standards".to_owned(),
        title: "What was planted and what came back".to_owned(),
        description: format!(
            "{} The upright stroke is what was planted; the mark is what came back, the whisker its interval.",
            described.join(" ")
        ),
        width: super::fixed(WIDTH),
        height: super::fixed(y + 40.0),
        shapes,
    })
}

fn draw(shapes: &mut Vec<Shape>, row: &Planted, axis: &Axis, top: f64) {
    let x = |value: f64| axis.at(value, 0.0, WIDTH);
    let middle = top + 26.0;
    let text = cut(&row.text, LINE / 2);
    let room = LINE - 2 - text.chars().count();
    let name = cut(&row.name, room);
    shapes.push(Shape::text("name", 0.0, top + 11.0, "start", &name).titled(row.name.as_str()));
    shapes.push(Shape::text("value", WIDTH, top + 11.0, "end", &text).titled(row.text.as_str()));
    whisker(shapes, (x(row.interval.0), x(row.interval.1)), middle);
    let class = look(usize::from(!row.agrees));
    let planted = x(row.planted);
    let stroke = Shape::rect(
        &format!("{class} bar"),
        planted - 2.0,
        middle - 13.0,
        4.0,
        26.0,
    );
    shapes.push(stroke.titled(row.name.as_str()));
    let came_back = mark(0, x(row.recovered), middle, 4.5);
    shapes.push(Shape::path(&format!("{class} mark"), came_back).titled(row.text.as_str()));
}
