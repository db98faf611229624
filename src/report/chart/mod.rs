//! Charts as shapes: geometry is computed here, a template writes the SVG.
//!
//! No text is measured: a name has a line of its own as wide as the chart, is cut at a fixed number of
//! characters and stands in full in the shape's title. Coordinates have one decimal; nothing in a chart
//! has an id, a time or a random number.

pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod curve;
pub(crate) mod drift;
pub(crate) mod planted;

use serde::Serialize;

/// The width of every chart in its own units.
pub(crate) const WIDTH: f64 = 640.0;
/// Characters of the base size that fit into the width.
const LINE: usize = 66;
/// Values shown as marks in one place at most; the rest is in the CSV tables.
pub(crate) const MOST_MARKS: usize = 60;
/// How many series have a look of their own.
const LOOKS: usize = 8;

/// A chart that a template can draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Chart {
    /// File name without its ending.
    pub(crate) name: String,
    /// What it shows.
    pub(crate) title: String,
    /// What is to be seen, for who cannot see it.
    pub(crate) description: String,
    /// Width in its own units.
    pub(crate) width: String,
    /// Height in its own units.
    pub(crate) height: String,
    /// The shapes in the order they are drawn.
    pub(crate) shapes: Vec<Shape>,
}

/// One shape. Fields that a kind does not have are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Shape {
    /// `rect`, `line`, `path` or `text`.
    pub(crate) kind: &'static str,
    /// The look: words of the style sheet.
    pub(crate) class: String,
    /// Left, or the first end.
    pub(crate) x: String,
    /// Top, or the first end.
    pub(crate) y: String,
    /// Width, or the second end's x.
    pub(crate) x2: String,
    /// Height, or the second end's y.
    pub(crate) y2: String,
    /// The outline of a path.
    pub(crate) d: String,
    /// The words of a text.
    pub(crate) text: String,
    /// `start`, `middle` or `end`.
    pub(crate) anchor: &'static str,
    /// What it is, in full, shown on demand.
    pub(crate) title: String,
}

/// A coordinate with one decimal and no sign before a zero.
pub(crate) fn fixed(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

impl Shape {
    /// A rectangle.
    pub(crate) fn rect(class: &str, x: f64, y: f64, width: f64, height: f64) -> Self {
        let (x2, y2) = (fixed(width.max(0.0)), fixed(height.max(0.0)));
        Self {
            kind: "rect",
            class: class.to_owned(),
            x: fixed(x),
            y: fixed(y),
            x2,
            y2,
            ..Self::default()
        }
    }

    /// A line.
    pub(crate) fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Self {
        let [x, y, x2, y2] = [from.0, from.1, to.0, to.1].map(fixed);
        Self {
            kind: "line",
            class: class.to_owned(),
            x,
            y,
            x2,
            y2,
            ..Self::default()
        }
    }

    /// A path.
    pub(crate) fn path(class: &str, d: String) -> Self {
        Self {
            kind: "path",
            class: class.to_owned(),
            d,
            ..Self::default()
        }
    }

    /// Words at a place.
    pub(crate) fn text(class: &str, x: f64, y: f64, anchor: &'static str, text: &str) -> Self {
        let (x, y) = (fixed(x), fixed(y));
        Self {
            kind: "text",
            class: class.to_owned(),
            x,
            y,
            anchor,
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// The same with words that are shown on demand.
    pub(crate) fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }
}

/// An interval from left to right with a stroke at each end.
pub(crate) fn whisker(shapes: &mut Vec<Shape>, (low, high): (f64, f64), y: f64) {
    shapes.push(Shape::line("whisker", (low, y), (high, y)));
    for end in [low, high] {
        shapes.push(Shape::line("whisker", (end, y - 5.0), (end, y + 5.0)));
    }
}

/// Words below a horizontal axis.
pub(crate) fn below(shapes: &mut Vec<Shape>, x: f64, y: f64, words: &str) {
    shapes.push(Shape::text("tick", x, y, "middle", words));
}

/// How many columns a character takes: two for those of East Asia and pictures.
fn columns(character: char) -> usize {
    let wide = matches!(u32::from(character), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3
        | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f000..=0x3ffff);
    if wide { 2 } else { 1 }
}

/// The text, cut with `…` so that it takes at most so many columns.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = super::escape::plain(text);
    if text.chars().map(columns).sum::<usize>() <= most {
        return text;
    }
    let mut taken = 0;
    let kept: String = text
        .chars()
        .take_while(|it| {
            taken += columns(*it);
            taken < most
        })
        .collect();
    format!("{}…", kept.trim_end())
}

/// The mark of a series at a place: circle, square, diamond, triangle, …, so that colour is not needed.
pub(crate) fn mark(series: usize, x: f64, y: f64, r: f64) -> String {
    let polygon = |points: &[(f64, f64)]| {
        let point = |(dx, dy): &(f64, f64)| format!("{} {}", fixed(x + dx * r), fixed(y + dy * r));
        format!(
            "M{}Z",
            points.iter().map(point).collect::<Vec<_>>().join("L")
        )
    };
    match series % 6 {
        0 => format!(
            "M{left} {y}A{r} {r} 0 1 0 {right} {y}A{r} {r} 0 1 0 {left} {y}Z",
            left = fixed(x - r),
            right = fixed(x + r),
            y = fixed(y),
            r = fixed(r),
        ),
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        3 => polygon(&[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)]),
        4 => polygon(&[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)]),
        _ => polygon(&[(-1.2, -0.4), (1.2, -0.4), (1.2, 0.4), (-1.2, 0.4)]),
    }
}

/// The class that colours a series.
pub(crate) fn look(series: usize) -> String {
    format!("s{}", series % LOOKS)
}

/// At most so many of some values, evenly spread, first and last among them.
pub(crate) fn spread<T: Copy>(values: &[T], most: usize) -> Vec<T> {
    if values.len() <= most {
        return values.to_vec();
    }
    (0..most)
        .map(|index| values[index * (values.len() - 1) / (most - 1)])
        .collect()
}

/// What a chart's description says when marks were left out.
pub(crate) fn left_out(all: usize, most: usize) -> String {
    if all <= most {
        return String::new();
    }
    format!(" {most} of {all} values are marked, evenly spread; all of them are in the tables.")
}

/// The names of series, each with its mark, a line for each; returns the height taken.
pub(crate) fn legend(shapes: &mut Vec<Shape>, names: &[(usize, String)], top: f64) -> f64 {
    for (row, (series, name)) in names.iter().enumerate() {
        let y = top + 18.0 * row as f64;
        let class = format!("{} mark", look(*series));
        shapes.push(Shape::path(&class, mark(*series, 8.0, y + 5.0, 4.5)));
        shapes.push(
            Shape::text("name", 20.0, y + 9.5, "start", &cut(name, LINE - 4)).titled(name.as_str()),
        );
    }
    18.0 * names.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_plain() {
        assert_eq!(
            [fixed(-0.04), fixed(1.0), fixed(2.25), fixed(-3.5)],
            ["0", "1", "2.2", "-3.5"]
        );
    }

    #[test]
    fn a_long_name_is_cut_and_a_wide_one_counts_double() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("a rather long name", 10), "a rather…");
        assert_eq!(cut("漢字漢字漢字", 8), "漢字漢…");
    }

    #[test]
    fn a_spread_keeps_both_ends() {
        let values: Vec<usize> = (0..1000).collect();
        let kept = spread(&values, 60);
        assert_eq!((kept.len(), kept[0], kept[59]), (60, 0, 999));
        assert!(kept.is_sorted());
    }
}
