//! Commands that run to their end in a group, beside its members.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use super::gate::Request;
use super::group::Running;
use super::launch::{Launch, Refusal, Words, environment, launch};
use super::{member, tree};
use crate::engine::{Exit, Output, Trouble};

/// Most of either stream that is kept, bytes.
const KEPT: usize = 1 << 20;

/// Runs a command on the group's CPUs, in its cgroups, and ends its session when it has ended or its time
/// is over.
pub(super) async fn execute(
    group: &Running,
    gate: &Path,
    command: &[String],
    within: Duration,
) -> Result<Output, Refusal> {
    let failed = |because: String| Refusal {
        kind: Trouble::Failed,
        because,
    };
    if command.is_empty() {
        return Err(failed("the command is empty".to_owned()));
    }
    let printed = group
        .work
        .0
        .join("logs")
        .join(format!("command-{}.out", group.next_command()));
    let parts = Launch {
        gate,
        request: Request {
            work: group.work.0.clone(),
            log: printed.clone(),
            user: None,
            keep_input: false,
            stay: group.stay,
            command: command.iter().map(Into::into).collect(),
        },
        env: environment(&group.work.0, &BTreeMap::new()),
        folders: &group.folders,
        member: None,
        cpus: group.spec.cpus.as_ref(),
    };
    let mut launched = launch(parts, |_| Ok(())).await?;
    let errors = tokio::spawn(keep(launched.errors));
    let mut session = Session {
        child: Some(launched.child),
        stay: group.stay,
    };
    let ended = tokio::time::timeout(within, session.ended(launched.words.as_mut())).await;
    let own = session.end();
    let Ok(told) = ended else {
        return Err(failed(format!(
            "it did not end within {} s",
            within.as_secs_f64()
        )));
    };
    let stdout = first_of(&printed).map_err(|error| failed(format!("read its output: {error}")))?;
    let stderr = match tokio::time::timeout(Duration::from_secs(2), errors).await {
        Ok(Ok(stderr)) => stderr,
        _ => Vec::new(),
    };
    Ok(Output {
        exit: told
            .or(own)
            .ok_or_else(|| failed("nothing is known of its end".to_owned()))?,
        stdout,
        stderr,
    })
}

/// A command's session; killed as a whole when it is dropped.
struct Session {
    child: Option<Child>,
    stay: bool,
}

impl Session {
    async fn ended(&self, words: Option<&mut Words>) -> Option<Exit> {
        match &self.child {
            Some(child) => member::ended(child, words).await,
            None => None,
        }
    }

    /// Kills what is left of the session, and says how its first process ended.
    fn end(&mut self) -> Option<Exit> {
        let mut child = self.child.take()?;
        let pid = i32::try_from(child.id()).ok()?;
        if self.stay {
            // Bounded, since a tree that cannot be killed must not hold loadlab.
            for _ in 0..1000 {
                if tree::below(pid).is_empty() {
                    break;
                }
                tree::kill_below(pid);
            }
        }
        // The child was not waited for yet, so its number is still its own.
        if let Some(group) = Pid::from_raw(pid) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        child.wait().ok().map(member::exit)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads a stream to its end and keeps the first of it.
async fn keep(mut stream: pipe::Receiver) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let room = KEPT - kept.len();
        kept.extend_from_slice(&buffer[..count.min(room)]);
    }
    kept
}

fn first_of(file: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut kept = Vec::new();
    let limit = u64::try_from(KEPT).unwrap_or(u64::MAX);
    match fs::File::open(file) {
        Ok(open) => {
            open.take(limit).read_to_end(&mut kept)?;
            fs::remove_file(file)?;
            Ok(kept)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(kept),
        Err(error) => Err(error),
    }
}
