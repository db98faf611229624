//! Why a run could not go on. Never about a candidate: that is an outcome.

use std::path::PathBuf;

use crate::engine::{EngineError, Trouble};
use crate::model::{Digest, EngineKind};
use crate::record::{IllegalSequence, JournalError};

/// Why a run could not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The machine, an engine or a program is not fit: exit code 5.
    #[error("{0}")]
    Unfit(String),
    /// A role names an engine that is not there: exit code 5.
    #[error("{role} needs the {engine:?} engine, which this run does not have")]
    NoEngine {
        /// The role, as a person says it: ``candidate `go` ``.
        role: String,
        /// The engine.
        engine: EngineKind,
    },
    /// A file of the experiment is not the one that the manifest was loaded with: exit code 4.
    #[error(
        "{} changed since the manifest was loaded: found {found}, expected {expected}; run `loadlab lock` again",
        path.display()
    )]
    FileChanged {
        /// The file.
        path: PathBuf,
        /// Digest of what is there.
        found: Digest,
        /// Digest when the manifest was loaded.
        expected: Digest,
    },
    /// A file of the experiment cannot be read.
    #[error("cannot read {}: {because}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        because: std::io::Error,
    },
    /// A placeholder has no value or a file cannot be rendered: exit code 3.
    #[error("cannot render {what}: {because}")]
    Unbound {
        /// Whose text or file, with its line where there is one.
        what: String,
        /// What has no value, or what is wrong with it.
        because: String,
    },
    /// Something could not be recorded: what is not recorded was not measured.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An engine failed outside of a block.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The records are not those of this plan.
    #[error(transparent)]
    Records(#[from] IllegalSequence),
    /// The services, a rehearsal or the calibration failed before the first block: exit code 5.
    #[error("cannot begin to measure: {0}")]
    Beginning(String),
    /// The second request to stop: nothing was cleaned up; `loadlab gc` finds what is left.
    #[error("stopped at once; `loadlab gc` lists what was left behind")]
    Abandoned,
}

impl RunError {
    /// Whether nothing can be kept any more, so that the try in progress must not be recorded as one.
    pub(super) const fn keeps_nothing(&self) -> bool {
        match self {
            Self::Journal(_) => true,
            Self::Engine(error) => matches!(error.kind, Trouble::Storage),
            _ => false,
        }
    }
}
