//! Failures: what is printed and the exit code that goes with it.

use std::fmt::Display;

/// What a failed verb leaves with. The numbers are documented and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// loadlab itself failed.
    Internal = 1,
    /// Wrong usage.
    Usage = 2,
    /// The manifest has faults.
    Manifest = 3,
    /// The lock is missing or does not match.
    Lock = 4,
    /// The machine or an engine is unfit.
    Unfit = 5,
    /// A negative judgement.
    Judgement = 6,
    /// An entry or a rendered file is damaged, stale or does not reproduce.
    Damaged = 7,
    /// Interrupted.
    Interrupted = 130,
}

/// A failed verb: its message has been printed already, or is printed by the caller.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: Code,
    /// What to print as `error: …`; empty when everything has been printed.
    pub message: String,
    /// What to do about it; only when sure.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure with a message.
    pub fn new(code: Code, message: impl Display) -> Self {
        Self {
            code,
            message: message.to_string(),
            hint: None,
        }
    }

    /// A failure whose message has been printed already.
    #[must_use]
    pub const fn printed(code: Code) -> Self {
        Self {
            code,
            message: String::new(),
            hint: None,
        }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A failure from an error with its whole chain of causes.
    pub fn caused(code: Code, error: &dyn std::error::Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            source = cause.source();
        }
        Self::new(code, message)
    }
}
