//! A table as it is written: cells with commas between them, in quotes where they need it.

use std::io::{self, Write};

use super::super::PIECE;
use super::super::escape;
use crate::estimate::summary::{Decimal, Interval};
use crate::model::{
    CandidateName, DerivedName, GuardCode, LoadPoint, MeasurementId, Metric, Outcome, PhaseName,
    Role, ScenarioName, Unit,
};
use crate::record::event::Attempt;

/// A table that is being written.
pub(super) struct Rows<'a> {
    to: &'a mut dyn Write,
    /// What was not handed on yet.
    piece: Vec<u8>,
}

/// Cells that several rows begin with.
pub(super) struct Beginning(Vec<u8>);

impl Beginning {
    pub(super) fn of(cells: &[&dyn Cell]) -> Self {
        let mut beginning = Vec::new();
        for cell in cells {
            cell.write(&mut beginning);
            beginning.push(b',');
        }
        Self(beginning)
    }
}

impl<'a> Rows<'a> {
    /// A table with its heading, given in parts.
    pub(super) fn new(to: &'a mut dyn Write, heading: &[&[&str]]) -> Self {
        let mut rows = Self {
            to,
            piece: Vec::with_capacity(PIECE),
        };
        let heading = heading.concat();
        rows.piece.extend_from_slice(heading.join(",").as_bytes());
        rows.piece.push(b'\n');
        rows
    }

    /// Adds a row.
    pub(super) fn push(&mut self, cells: &[&dyn Cell]) -> io::Result<()> {
        for (position, cell) in cells.iter().enumerate() {
            if position > 0 {
                self.piece.push(b',');
            }
            cell.write(&mut self.piece);
        }
        self.piece.push(b'\n');
        if self.piece.len() < PIECE / 2 {
            return Ok(());
        }
        self.to.write_all(&self.piece)?;
        self.piece.clear();
        Ok(())
    }

    /// Adds a row that begins as others do.
    pub(super) fn push_after(
        &mut self,
        beginning: &Beginning,
        cells: &[&dyn Cell],
    ) -> io::Result<()> {
        self.piece.extend_from_slice(&beginning.0);
        self.push(cells)
    }

    /// Hands on what is left.
    pub(super) fn finish(self) -> io::Result<()> {
        self.to.write_all(&self.piece)?;
        self.to.flush()
    }
}

/// What can stand in a row: mostly one cell.
pub(super) trait Cell {
    fn write(&self, to: &mut Vec<u8>);
}

impl Cell for str {
    fn write(&self, to: &mut Vec<u8>) {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if self.bytes().all(is_word) {
            to.extend_from_slice(self.as_bytes());
            return;
        }
        let harmless = escape::csv(self);
        if harmless.contains([',', '"']) {
            to.push(b'"');
            to.extend_from_slice(harmless.replace('"', "\"\"").as_bytes());
            to.push(b'"');
        } else {
            to.extend_from_slice(harmless.as_bytes());
        }
    }
}

impl Cell for String {
    fn write(&self, to: &mut Vec<u8>) {
        self.as_str().write(to);
    }
}

impl<T: Cell + ?Sized> Cell for &T {
    fn write(&self, to: &mut Vec<u8>) {
        (**self).write(to);
    }
}

/// Absent: an empty cell.
impl<T: Cell> Cell for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        if let Some(it) = self {
            it.write(to);
        }
    }
}

/// Unrounded, as in the summary.
impl Cell for Decimal {
    fn write(&self, to: &mut Vec<u8>) {
        self.with_text(|text| to.extend_from_slice(text.as_bytes()));
    }
}

impl Cell for Unit {
    fn write(&self, to: &mut Vec<u8>) {
        let name = serde_json::to_value(self).unwrap_or_default();
        name.as_str().write(to);
    }
}

impl Cell for Outcome {
    fn write(&self, to: &mut Vec<u8>) {
        self.code().write(to);
    }
}

macro_rules! plain {
    ($($number:ty),*) => {$(
        impl Cell for $number {
            fn write(&self, to: &mut Vec<u8>) {
                // Bytes in memory take everything.
                let _ = write!(to, "{self}");
            }
        }
    )*};
}

macro_rules! words {
    ($($name:ty),*) => {$(
        impl Cell for $name {
            fn write(&self, to: &mut Vec<u8>) {
                self.to_string().write(to);
            }
        }
    )*};
}

plain!(bool, u32, u64);
words!(
    Attempt,
    CandidateName,
    DerivedName,
    GuardCode,
    LoadPoint,
    MeasurementId,
    Metric,
    PhaseName,
    Role,
    ScenarioName
);

/// The columns of [`Ends`].
pub(super) const ENDS: [&str; 4] = [
    "interval_low",
    "interval_high",
    "true_coverage",
    "interval_kind",
];

/// An interval: four cells, empty where there is none.
pub(super) struct Ends<'a>(pub(super) &'a Option<Interval>);

impl Cell for Ends<'_> {
    fn write(&self, to: &mut Vec<u8>) {
        let Some(it) = self.0 else {
            to.extend_from_slice(b",,,");
            return;
        };
        Beginning::of(&[&it.low, &it.high, &it.coverage]).write(to);
        it.kind.write(to);
    }
}

impl Cell for Beginning {
    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::escape::tests::NASTY;

    #[test]
    fn what_is_written_is_read_back() {
        let more = [
            "",
            "a,b",
            "say \"yes\"",
            "plain",
            "-1.5",
            "a_b",
            "two words",
        ];
        for text in NASTY.into_iter().chain(more) {
            let mut table = Vec::new();
            let mut rows = Rows::new(&mut table, &[&["one"], &["two", "three"]]);
            let beginning = Beginning::of(&[&text]);
            rows.push_after(&beginning, &[&text, &None::<u64>]).unwrap();
            rows.push(&[&1_u64, &Some(true), &text]).unwrap();
            rows.finish().unwrap();
            let shown = escape::csv(text);
            let mut reader = csv::Reader::from_reader(table.as_slice());
            let read: Vec<Vec<String>> = reader.deserialize().map(Result::unwrap).collect();
            assert_eq!(
                read,
                [[&shown, &shown, ""], ["1", "true", &shown]].map(|row| row.map(str::to_owned))
            );
        }
    }
}
