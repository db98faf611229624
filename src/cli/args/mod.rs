//! The words of the command line. Types only; nothing is done here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod entries;
mod instrument;

pub use entries::{Exclude, Index, Publish, Reproduce, Status, StatusWord, Verify};
pub use instrument::{Doctor, Pilot, Selftest};

/// Exit codes, printed below the help.
const EXIT_CODES: &str = "\
Exit codes:
    0  fine
    1  loadlab itself failed
    2  usage
    3  the manifest has faults
    4  the lock is missing or does not match
    5  the machine or an engine is unfit, or a disk refused
    6  a negative judgement: invalid blocks that could not be replaced, a refused publication
    7  an entry or a rendered file is damaged, stale or does not reproduce
  130  interrupted";

/// A declarative experiment runner for load-testing web stacks, with reproducible manifests.
#[derive(Debug, Parser)]
#[command(name = "loadlab", version, after_help = EXIT_CODES, arg_required_else_help = true)]
#[command(propagate_version = true, disable_help_subcommand = true)]
pub struct Arguments {
    /// When to use colours.
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, env = "LOADLAB_COLOR", hide_env = true)]
    pub color: ColorChoice,

    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// For whom output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person.
    Text,
    /// For a program.
    Json,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Write a new, valid, runnable experiment folder.
    #[command(
        after_help = "Example:\n  loadlab init my-server\n  loadlab run my-server/experiment.yaml"
    )]
    Init(Init),
    /// Check manifests: all faults at once, each with its place. Runs nothing, writes nothing.
    #[command(after_help = "Example:\n  loadlab validate experiments/*/experiment.yaml")]
    Validate(Validate),
    /// Print a JSON Schema.
    #[command(after_help = "Example:\n  loadlab schema experiment > experiment.v1.json")]
    Schema(Schema),
    /// Say what a code of a diagnostic, guard, outcome or caveat means and what to do.
    #[command(after_help = "Example:\n  loadlab explain probe_drift")]
    Explain(Explain),
    /// Pin every input by hash into `<stem>.lock.json`.
    #[command(
        after_help = "Examples:\n  loadlab lock experiment.yaml\n  loadlab lock --check experiment.yaml\n  loadlab lock --upgrade=nginx experiment.yaml"
    )]
    Lock(Lock),
    /// Show blocks, order, cores, time and disk. Runs nothing, writes nothing.
    #[command(
        after_help = "Examples:\n  loadlab plan experiment.yaml\n  loadlab plan --format json experiment.yaml | jq .totals\n  loadlab plan --expanded experiment.yaml"
    )]
    Plan(Plan),
    /// Say what is wrong with this machine for an experiment: every symptom, the gravest first, with its remedy.
    ///
    /// Reads the kernel's files for three seconds, needs no root, starts nothing, writes nothing. Exit code 5
    /// when the machine is unfit.
    #[command(
        after_help = "Examples:\n  loadlab doctor\n  loadlab doctor experiment.yaml\n  loadlab doctor experiment.yaml --profile laptop --format json"
    )]
    Doctor(Doctor),
    /// Measure known weights on this machine and say whether loadlab reads them rightly.
    ///
    /// Test servers whose every cost is known beforehand go through the whole pipeline: manifest, lock, run,
    /// estimate. Takes about two minutes, needs nginx and two CPUs, and leaves nothing behind.
    #[command(
        after_help = "Examples:\n  loadlab selftest\n  loadlab selftest --format json > selftest.json\n  loadlab selftest --keep /tmp/known-weights"
    )]
    Selftest(Selftest),
    /// Measure into a new draft, or go on with one.
    #[command(
        after_help = "Examples:\n  loadlab run experiment.yaml\n  loadlab run experiment.yaml --only plain\n  loadlab run --resume runs/nginx-gzip/2026-01-31-0f3a"
    )]
    Run(Run),
    /// Measure only the standards: what this machine resolves, and how many rounds the question needs.
    #[command(
        after_help = "Examples:\n  loadlab pilot experiment.yaml\n  loadlab pilot --rounds 10 --difference 2% experiment.yaml\n  loadlab pilot --format json experiment.yaml | jq .needs"
    )]
    Pilot(Pilot),
    /// Render a draft's report, or compare a published one.
    #[command(
        after_help = "Examples:\n  loadlab report runs/nginx-gzip/2026-01-31-0f3a\n  loadlab report --check results/nginx-gzip/2026-01-31-0f3a"
    )]
    Report(Report),
    /// Exclude a try at a block from the numbers, by a person's decision. Nothing is deleted.
    #[command(
        after_help = "Example:\n  loadlab exclude runs/nginx-gzip/2026-01-31-0f3a fixed-rate.r02.plain.a1 \\\n      --because 'a backup ran beside it' --by 'Jane Roe'"
    )]
    Exclude(Exclude),
    /// Check all that a published entry needs, and make a draft one.
    #[command(after_help = "Example:\n  loadlab publish runs/nginx-gzip/2026-01-31-0f3a")]
    Publish(Publish),
    /// Mark a published entry current, superseded or withdrawn.
    #[command(
        after_help = "Example:\n  loadlab status results/nginx-gzip/2026-01-31-0f3a superseded --because 'measured again on a quiet machine'"
    )]
    Status(Status),
    /// Render EXCLUDED.md and the index of `results/`.
    #[command(after_help = "Examples:\n  loadlab index\n  loadlab index --check")]
    Index(Index),
    /// Check an entry: checksums, chain, seal, and the bytes of its report.
    #[command(after_help = "Example:\n  loadlab verify results/nginx-gzip/2026-01-31-0f3a")]
    Verify(Verify),
    /// Verify an entry, render it again and compare byte for byte.
    #[command(after_help = "Example:\n  loadlab reproduce results/nginx-gzip/2026-01-31-0f3a")]
    Reproduce(Reproduce),
    /// List, and with `--yes` remove, what a crashed run left behind.
    #[command(
        name = "gc",
        after_help = "Examples:\n  loadlab gc\n  loadlab gc --yes"
    )]
    Gc(Gc),
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  loadlab completions bash > ~/.local/share/bash-completion/completions/loadlab"
    )]
    Completions(Completions),
    /// Print the manual page of loadlab or of a verb, or write all of them into a folder.
    #[command(
        after_help = "Examples:\n  loadlab man | man -l -\n  loadlab man run | man -l -\n  loadlab man --into ~/.local/share/man/man1"
    )]
    Man(Man),
}

/// `init`
#[derive(Debug, Args)]
pub struct Init {
    /// Name of the experiment and of the folder that is made.
    pub name: String,
    /// The folder to make it in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub into: PathBuf,
}

/// `validate`
#[derive(Debug, Args)]
pub struct Validate {
    /// Manifests, or folders that hold an `experiment.yaml`.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A machine's profile: a name, in `profiles/` beside the manifest or inside it.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Which schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// The manifest.
    Experiment,
    /// A profile.
    Profile,
    /// The lock.
    Lock,
    /// The plan.
    Plan,
    /// A line of the records.
    Record,
    /// The summary.
    Summary,
}

/// `schema`
#[derive(Debug, Args)]
pub struct Schema {
    /// Of which file.
    #[arg(value_enum, default_value_t = SchemaKind::Experiment)]
    pub kind: SchemaKind,
}

/// `explain`
#[derive(Debug, Args)]
pub struct Explain {
    /// The code; absent: list all.
    pub code: Option<String>,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// A manifest and the profile it is read with.
#[derive(Debug, Args)]
pub struct Manifest {
    /// The manifest, or the folder that holds `experiment.yaml`.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// A machine's profile: a name, in `profiles/` beside the manifest or inside it.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// `lock`
#[derive(Debug, Args)]
pub struct Lock {
    /// What to pin.
    #[command(flatten)]
    pub manifest: Manifest,
    /// Compare with the files alone; write nothing.
    #[arg(long, conflicts_with = "upgrade")]
    pub check: bool,
    /// Move the pins of programs that changed: all, or those named.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub upgrade: Option<Vec<String>>,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// `plan`
#[derive(Debug, Args)]
pub struct Plan {
    /// What to plan.
    #[command(flatten)]
    pub manifest: Manifest,
    /// Only blocks whose phase, candidate or id matches; `*` matches anything.
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Print the model with every default instead.
    #[arg(long)]
    pub expanded: bool,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// `run`
#[derive(Debug, Args)]
pub struct Run {
    /// The manifest, or the folder that holds `experiment.yaml`; with `--resume` only where the draft
    /// does not lie below the experiment's own `runs/`.
    #[arg(value_name = "FILE", required_unless_present = "resume")]
    pub file: Option<PathBuf>,
    /// A machine's profile: a name, in `profiles/` beside the manifest or inside it.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Go on with a draft where its records end.
    #[arg(long, value_name = "DRAFT")]
    pub resume: Option<PathBuf>,
    /// Only blocks whose phase, candidate or id matches; the rest stays for `--resume`, with another
    /// pattern or without one.
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Measure without a lock; such a draft cannot be published.
    #[arg(long, conflicts_with = "resume")]
    pub unlocked: bool,
    /// Where drafts are made.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub runs: Option<PathBuf>,
    /// The load generator's program, if not the one beside `loadlab`.
    #[arg(long, value_name = "PROGRAM")]
    pub generator: Option<PathBuf>,
}

/// `report`
#[derive(Debug, Args)]
pub struct Report {
    /// A draft, or a published entry.
    pub entry: PathBuf,
    /// Compare what is rendered with what is there; write nothing.
    #[arg(long)]
    pub check: bool,
    /// Write into this folder instead, which must not exist.
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub output: Option<PathBuf>,
}

/// `gc`
#[derive(Debug, Args)]
pub struct Gc {
    /// Remove what is listed.
    #[arg(long)]
    pub yes: bool,
    /// For whom the output is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// `completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `man`
#[derive(Debug, Args)]
pub struct Man {
    /// The verb; absent: loadlab itself.
    pub verb: Option<String>,
    /// Write every page into this folder, which must exist.
    #[arg(long, value_name = "DIR", conflicts_with = "verb")]
    pub into: Option<PathBuf>,
}
