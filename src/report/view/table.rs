//! The parts that a page is made of: tables, facts and texts, all of them formatted already.

use minijinja::Value;
use serde::Serialize;

/// A text of the author in both outputs, already escaped.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Text {
    /// As Markdown.
    pub(crate) md: Value,
    /// As HTML, without a paragraph around it where it is a single one.
    pub(crate) html: Value,
}

/// A term and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Fact {
    /// What is told.
    pub(crate) term: String,
    /// What it is; `—` with the reason where it is not known.
    pub(crate) detail: String,
}

impl Fact {
    /// A fact.
    pub(crate) fn new(term: &str, detail: impl Into<String>) -> Self {
        Self {
            term: term.to_owned(),
            detail: detail.into(),
        }
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Table {
    /// What it shows.
    pub(crate) caption: String,
    /// How it is to be read.
    pub(crate) note: Option<String>,
    /// What the columns mean, one by one; shown folded.
    pub(crate) legend: Vec<Fact>,
    /// The columns.
    pub(crate) columns: Vec<Column>,
    /// The rows.
    pub(crate) rows: Vec<Row>,
    /// What is not shown of it, and where it is.
    pub(crate) more: Option<String>,
    /// Whether rows form groups by their first cell.
    pub(crate) grouped: bool,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Column {
    /// Its heading.
    pub(crate) title: String,
    /// Whether it holds numbers.
    pub(crate) number: bool,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    /// The cells, one for each column.
    pub(crate) cells: Vec<Cell>,
    /// Whether it does not count.
    pub(crate) faint: bool,
    /// Whether a new group of rows begins here.
    pub(crate) first: bool,
}

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Cell {
    /// What it says.
    pub(crate) text: String,
    /// What stands below it in small print.
    pub(crate) small: Option<String>,
    /// Whether it holds a number.
    pub(crate) number: bool,
    /// Whether it is the heading of its row.
    pub(crate) head: bool,
}

impl Cell {
    /// A number or the dash that stands for none.
    pub(crate) fn number(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            number: true,
            ..Self::default()
        }
    }

    /// Words.
    pub(crate) fn words(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The heading of a row.
    pub(crate) fn head(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            head: true,
            ..Self::default()
        }
    }

    /// The same with small print below it; nothing where that is empty.
    pub(crate) fn under(mut self, small: impl Into<String>) -> Self {
        let small = small.into();
        self.small = (!small.is_empty()).then_some(small);
        self
    }
}

impl Row {
    /// A row that counts.
    pub(crate) fn of(cells: Vec<Cell>) -> Self {
        Self {
            cells,
            faint: false,
            first: false,
        }
    }
}

impl Table {
    /// A table whose columns of numbers are marked with `#` before their titles; without rows.
    pub(crate) fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        let column = |title: &&str| Column {
            title: title.trim_start_matches('#').to_owned(),
            number: title.starts_with('#'),
        };
        Self {
            caption: caption.into(),
            note: None,
            legend: Vec::new(),
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
            more: None,
            grouped: false,
        }
    }

    /// Adds a row that counts.
    pub(crate) fn push(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row::of(cells));
    }

    /// Keeps the first rows and says where all of them are.
    pub(crate) fn at_most(mut self, rows: usize, file: &str) -> Self {
        if self.rows.len() > rows {
            let all = super::super::format::count(self.rows.len() as u64);
            self.rows.truncate(rows);
            self.more = Some(format!(
                "The first {rows} of {all} rows; all of them are in {file}."
            ));
        }
        self
    }

    /// The table, where it has rows.
    pub(crate) fn filled(mut self) -> Option<Self> {
        self.grouped = self.rows.iter().any(|row| row.first);
        (!self.rows.is_empty()).then_some(self)
    }
}
