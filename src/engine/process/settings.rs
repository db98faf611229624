//! Settings of a process engine.

use std::io;
use std::path::PathBuf;

use super::state::default_state_folder;

/// What a process engine needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSettings {
    /// The program that has the hidden verb [`super::gate::VERB`]: loadlab itself.
    pub gate_program: PathBuf,
    /// Where groups get their folders: `<work>/<entry>/<part>-<role>`. Absolute; not a member's user's
    /// secret, since members that run as another user must be able to enter it.
    pub work: PathBuf,
    /// Where the records for `gc` are.
    pub state: PathBuf,
    /// Whether cgroups may be made.
    pub cgroups: bool,
}

impl ProcessSettings {
    /// The settings of a run: this program's own gate, the default place for records, cgroups where
    /// permitted.
    ///
    /// # Errors
    /// When the path of this program is not known.
    pub fn new(work: PathBuf) -> io::Result<Self> {
        Ok(Self {
            gate_program: std::env::current_exe()?,
            work,
            state: default_state_folder(),
            cgroups: true,
        })
    }
}
