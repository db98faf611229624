//! The words of what is done with drafts and entries.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Format;

/// `exclude`
#[derive(Debug, Args)]
pub struct Exclude {
    /// The draft.
    pub draft: PathBuf,
    /// The try at a block (`fixed-rate.r02.plain.a1`), or one of its measurements (`…a1/page.1000-per-s`).
    pub what: String,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub because: String,
    /// Who decides; the name that git knows when absent.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
}

/// `publish`
#[derive(Debug, Args)]
pub struct Publish {
    /// The draft.
    pub draft: PathBuf,
    /// Where entries are published; `results` beside `runs` when absent.
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Only say what is missing.
    #[arg(long)]
    pub check: bool,
}

/// The status of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatusWord {
    /// It stands.
    Current,
    /// A newer entry or revision takes its place.
    Superseded,
    /// It is wrong.
    Withdrawn,
}

/// `status`
#[derive(Debug, Args)]
pub struct Status {
    /// The published entry.
    pub entry: PathBuf,
    /// Its status from now on.
    #[arg(value_enum)]
    pub status: StatusWord,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub because: String,
    /// Who decides; the name that git knows when absent.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
}

/// `index`
#[derive(Debug, Args)]
pub struct Index {
    /// The folder that holds `results/` and `EXCLUDED.md`.
    #[arg(value_name = "DIR", default_value = ".")]
    pub repository: PathBuf,
    /// Compare with what is there; write nothing.
    #[arg(long)]
    pub check: bool,
}

/// `verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// The published entry.
    pub entry: PathBuf,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// `reproduce`
#[derive(Debug, Args)]
pub struct Reproduce {
    /// The published entry.
    pub entry: PathBuf,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
