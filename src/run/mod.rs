//! The loop: sessions, rounds, blocks, measurements. The only stage that waits; it computes no statistic.

pub mod cancel;
pub mod error;
pub mod http;
pub mod observer;
pub mod rig;

pub use cancel::Cancel;
pub use error::RunError;
pub use observer::{Notice, Observer, Unobserved};
pub use rig::{Clock, FixedWorker, HostReader, KernelClock, Programs, Rig};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// Whether every block has a valid attempt or no tries left.
    pub complete: bool,
    /// Why it ended, where it is not complete.
    pub because: Option<String>,
    /// Blocks with a valid attempt.
    pub valid: usize,
    /// Blocks whose every try was invalid: exit code 6.
    pub invalid: usize,
    /// Blocks that still have to be measured.
    pub left: usize,
}
