//! The words of what looks at the machine and at loadlab itself.

use std::path::PathBuf;

use clap::Args;

use super::{Format, Manifest};

/// `doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// The manifest, or the folder that holds `experiment.yaml`; absent: the machine alone.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// A machine's profile: a name, in `profiles/` beside the manifest or inside it.
    #[arg(long, value_name = "NAME", requires = "file")]
    pub profile: Option<String>,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// `selftest`
#[derive(Debug, Args)]
pub struct Selftest {
    /// Keep manifest, lock and draft in this folder, which must not exist.
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// The load generator's program, if not the one beside `loadlab`.
    #[arg(long, value_name = "PROGRAM")]
    pub generator: Option<PathBuf>,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// `pilot`
#[derive(Debug, Args)]
pub struct Pilot {
    /// Whose standards are measured.
    #[command(flatten)]
    pub manifest: Manifest,
    /// Rounds, each planted server once in each.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub rounds: u32,
    /// The smallest difference of CPU that matters: `5%`. Default: what the primary comparison takes for
    /// the same, else 5%.
    #[arg(long, value_name = "SHARE")]
    pub difference: Option<String>,
    /// The load generator's program; default: beside loadlab.
    #[arg(long, value_name = "PROGRAM")]
    pub generator: Option<PathBuf>,
    /// Where drafts are made; default: `runs/` beside `experiments/`.
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
