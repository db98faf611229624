//! Why a block ended before its last step.

use super::error::RunError;
use crate::engine::{EngineError, Trouble};
use crate::model::name::NotAName;
use crate::model::{GuardCode, MeasurementId, Outcome};
use crate::record::JournalError;
use crate::record::event::Breach;

/// Why a block ended before its last step.
#[derive(Debug)]
pub(super) enum Broken {
    /// The candidate did something that leaves nothing to measure: a result.
    Outcome(Outcome, String),
    /// The instrument failed: the block is invalid.
    Breach(Breach),
    /// The run cannot go on.
    Fatal(RunError),
}

impl Broken {
    pub(super) fn breach(code: GuardCode, evidence: impl Into<String>) -> Self {
        Self::Breach(Breach {
            code,
            evidence: evidence.into(),
            measurement: None,
        })
    }

    pub(super) fn harness(evidence: impl Into<String>) -> Self {
        Self::breach(GuardCode::HarnessError, evidence)
    }

    pub(super) fn interrupted() -> Self {
        Self::breach(GuardCode::Interrupted, "loadlab was asked to stop")
    }

    /// The same, seen in this measurement.
    pub(super) fn within(self, measurement: &MeasurementId) -> Self {
        match self {
            Self::Breach(breach) => Self::Breach(Breach {
                measurement: Some(measurement.clone()),
                ..breach
            }),
            other => other,
        }
    }
}

impl From<EngineError> for Broken {
    fn from(error: EngineError) -> Self {
        match error.kind {
            // What is not kept was not measured.
            Trouble::Storage => Self::Fatal(error.into()),
            Trouble::Lost => Self::breach(GuardCode::EngineLost, error.to_string()),
            Trouble::NoProgram | Trouble::Unfit | Trouble::Failed => {
                Self::harness(error.to_string())
            }
        }
    }
}

impl From<NotAName> for Broken {
    fn from(error: NotAName) -> Self {
        Self::harness(error.to_string())
    }
}

impl From<JournalError> for Broken {
    fn from(error: JournalError) -> Self {
        Self::Fatal(error.into())
    }
}

impl From<RunError> for Broken {
    fn from(error: RunError) -> Self {
        Self::Fatal(error)
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Outcome(_, detail) => f.write_str(detail),
            Self::Breach(breach) => f.write_str(&breach.evidence),
            Self::Fatal(error) => error.fmt(f),
        }
    }
}
