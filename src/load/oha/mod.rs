//! oha in a process of its own: how it is started, and what its output says.
//!
//! oha answers every question about itself in its own way: any status is a success, errors count as
//! requests, what was never sent is not mentioned. Nothing of that is used. Everything is computed
//! from the counts that it prints, and everything it could decide by itself is told to it.

mod account;
mod arguments;
mod decimal;
mod output;
mod quantile;
pub mod requests;

use std::path::{Path, PathBuf};

use super::{Address, LoadGenerator, RawOutput, Unreadable, Unsupported, WindowStart};
use crate::engine::{MemberChange, MemberEvent, MemberSpec};
use crate::model::facts::GeneratorFacts;
use crate::model::{Account, CpuSet, Digest, Shot};

/// The program's file name.
pub const PROGRAM: &str = "loadlab-oha";
/// The file that oha writes its result to.
pub const RESULT_FILE: &str = "oha.json";
/// The file that every request is kept in, where that is asked for.
pub const REQUESTS_FILE: &str = "requests.csv.gz";
/// The file that says how long the generator stood still, and waited for a CPU.
pub const WATCH_FILE: &str = "watch.json";

/// What `loadlab-oha` saw of itself while it made load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// The longest time that it stood still, nanoseconds.
    pub longest_pause_ns: u64,
    /// Time that its threads were runnable and waited for a CPU, nanoseconds; absent: the kernel does not
    /// say.
    pub run_delay_ns: Option<u64>,
}
/// The line on standard error that says: at the gate, waiting for one line on standard input.
pub const READY_LINE: &str = "loadlab-oha: ready";
/// The start of the line that marks the load's beginning; `CLOCK_MONOTONIC` in nanoseconds follows.
pub const START_LINE: &str = "loadlab-oha: start ";
/// The environment variable that lets a debug build make load.
pub const ALLOW_DEBUG: &str = "LOADLAB_ALLOW_DEBUG_GENERATOR";

/// The version of oha that this build knows the output of.
pub const VERSION: &str = "1.16.0";

/// The load generator oha.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oha {
    program: PathBuf,
    digest: Digest,
    allow_debug: bool,
}

/// Why there is no load generator.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the load generator {}: {because}; {HOW}", place.display())]
pub struct NotFound {
    /// Where it was looked for.
    pub place: PathBuf,
    /// What the system said.
    pub because: std::io::Error,
}

const HOW: &str = "build it with `cargo build --release --features generator --bins` \
                   (some minutes, once), or name it with --generator";

impl Oha {
    /// The generator at a place, with the digest of its bytes.
    #[must_use]
    pub const fn new(program: PathBuf, digest: Digest) -> Self {
        Self {
            program,
            digest,
            allow_debug: false,
        }
    }

    /// The generator named, or the sibling of the running program.
    ///
    /// # Errors
    /// When the file is not there or cannot be read; the message says how to build it.
    pub fn find(explicit: Option<&Path>) -> Result<Self, NotFound> {
        let place = explicit.map_or_else(|| super::sibling(PROGRAM), Path::to_path_buf);
        let read = place
            .canonicalize()
            // A pipe or a device in its place must not make the reading wait.
            .and_then(|program| match program.metadata()? {
                facts if facts.is_file() => Ok(program),
                _ => Err(std::io::Error::other("it is no plain file")),
            })
            .and_then(|program| std::fs::read(&program).map(|bytes| (program, bytes)));
        match read {
            Ok((program, bytes)) => Ok(Self::new(program, Digest::of(&bytes))),
            Err(because) => Err(NotFound { place, because }),
        }
    }

    /// Lets a debug build make load, which it refuses otherwise. Its facts then say so.
    #[must_use]
    pub fn allowing_debug_builds(self) -> Self {
        Self {
            allow_debug: true,
            ..self
        }
    }

    /// The program's absolute path.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}

impl LoadGenerator for Oha {
    fn facts(&self) -> GeneratorFacts {
        let mark = if self.allow_debug {
            ", debug build allowed"
        } else {
            ""
        };
        GeneratorFacts {
            name: "oha".to_owned(),
            version: format!("{VERSION}{mark}"),
            digest: self.digest,
            marks_start: true,
        }
    }

    fn member(
        &self,
        shot: &Shot,
        address: &Address,
        cpus: &CpuSet,
    ) -> Result<MemberSpec, Unsupported> {
        arguments::member(self, shot, address, cpus).map_err(|what| Unsupported {
            generator: super::GENERATOR.to_owned(),
            what,
        })
    }

    fn at_gate(&self, event: &MemberEvent) -> bool {
        matches!(&event.what, MemberChange::Line(line) if line == READY_LINE.as_bytes())
    }

    fn window(&self, event: &MemberEvent) -> Option<WindowStart> {
        let MemberChange::Line(line) = &event.what else {
            return None;
        };
        let number = line.strip_prefix(START_LINE.as_bytes())?;
        let monotonic_ns = std::str::from_utf8(number).ok()?.parse().ok()?;
        Some(WindowStart { monotonic_ns })
    }

    fn account(&self, raw: &RawOutput, shot: &Shot) -> Result<Account, Unreadable> {
        account::account(raw, shot).map_err(|because| Unreadable { because })
    }
}
