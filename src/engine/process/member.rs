//! A member from its start to its end.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::sync::{oneshot, watch};

use super::gate::{Request, Word};
use super::group::{Member, Progress, Running};
use super::launch::{Launch, Refusal, Words, environment, launch};
use super::user;
use crate::engine::{Exit, MemberSpec, Trouble};
use crate::measure::process;
use crate::model::name::MemberName;

/// Longest line that is told of, bytes; the rest of a longer one comes as lines of its own.
const LONGEST_LINE: usize = 8192;

/// Starts a member of a group.
pub(super) async fn start(
    group: &Arc<Running>,
    gate: &Path,
    spec: &MemberSpec,
) -> Result<(), Refusal> {
    let refused = |kind, because| Refusal { kind, because };
    let user = spec.user.as_deref().map(user::find).transpose();
    let user = user.map_err(|because| refused(Trouble::Unfit, because))?;
    if let Some((user, _)) = user
        && !user::may_become(user)
    {
        let because = format!("only root may start a program as user {user}");
        return Err(refused(Trouble::Unfit, because));
    }
    check(group, spec)?;
    let filled = group.work.fill(&spec.name, &spec.files, user);
    filled.map_err(|error| refused(Trouble::Failed, error.to_string()))?;
    let work = group.work.of(&spec.name);
    let log = group.work.log(&spec.name);
    let request = Request {
        work: work.clone(),
        log: log.clone(),
        user: user.filter(|(user, _)| *user != rustix::process::geteuid().as_raw()),
        keep_input: spec.gated,
        stay: group.stay,
        command: spec.command.iter().map(Into::into).collect(),
    };
    let parts = Launch {
        gate,
        request,
        env: environment(&work, &spec.env),
        folders: &group.folders,
        member: Some(&spec.name),
        cpus: group.spec.cpus.as_ref(),
    };
    let launched = launch(parts, |identity| group.identify(&spec.name, identity)).await?;
    let (tell, progress) = watch::channel(Progress::Running);
    let pump = tokio::spawn(pump(
        Arc::clone(group),
        spec.name.clone(),
        launched.errors,
        log,
    ));
    tokio::spawn(follow(
        Arc::clone(group),
        spec.name.clone(),
        launched.child,
        launched.words,
        tell,
    ));
    let member = Member {
        identity: launched.identity,
        program: launched.program,
        grace: spec.grace,
        outputs: spec.outputs.clone(),
        input: launched.input,
        progress,
        pump,
    };
    group.members().insert(spec.name.clone(), member);
    group.watch_memory();
    Ok(())
}

/// Refuses what was not reserved, what runs already, and an empty command.
fn check(group: &Running, spec: &MemberSpec) -> Result<(), Refusal> {
    let refused = |because: &str| {
        Err(Refusal {
            kind: Trouble::Failed,
            because: because.to_owned(),
        })
    };
    if !group
        .spec
        .members
        .iter()
        .any(|(name, _)| *name == spec.name)
    {
        return refused("the group was not reserved for a member of this name");
    }
    let members = group.members();
    let running = members
        .get(&spec.name)
        .map(|member| *member.progress.borrow());
    if matches!(running, Some(Progress::Running | Progress::Ended(_))) {
        return refused("it runs already");
    }
    if spec.command.is_empty() {
        return refused("its command is empty");
    }
    Ok(())
}

/// Follows a member until nothing of it is left to wait for.
async fn follow(
    group: Arc<Running>,
    name: MemberName,
    mut child: Child,
    mut words: Option<Words>,
    tell: watch::Sender<Progress>,
) {
    // The line stays open to the end: a gate whose line is closed ends its tree.
    let told = ended(&child, words.as_mut()).await;
    if let Some(exit) = told {
        tell.send_replace(Progress::Ended(exit));
        group.tell_exit(&name, exit).await;
    }
    wait(&child).await;
    if group.stay {
        // The last CPU time of the tree, before its number is given back.
        let last = i32::try_from(child.id()).ok().and_then(process::stat);
        let ticks = last.map_or(0, |stat| stat.children_ticks);
        group.retired_ticks.fetch_add(ticks, Ordering::Relaxed);
    }
    // Where somebody else waited for it, nothing is known of its end.
    let own = child.wait().map_or(Exit::Status(-1), exit);
    let exit = told.unwrap_or(own);
    if told.is_none() {
        tell.send_replace(Progress::Ended(exit));
        group.tell_exit(&name, exit).await;
    }
    tell.send_replace(Progress::Gone(exit));
}

/// Waits until the program has ended; how, where a gate says so.
pub(super) async fn ended(child: &Child, words: Option<&mut Words>) -> Option<Exit> {
    let told = match words {
        Some(words) => last_word(words).await,
        None => None,
    };
    if told.is_none() {
        wait(child).await;
    }
    told
}

/// What a gate that stays says of its program's end; absent when the gate itself was ended first.
async fn last_word(words: &mut Words) -> Option<Exit> {
    while let Ok(Some(line)) = words.next_line().await {
        match Word::parse(&line) {
            Some(Word::Status(status)) => return Some(Exit::Status(status)),
            Some(Word::Signal(signal)) => return Some(Exit::Signal(signal)),
            _ => {}
        }
    }
    None
}

/// Waits until a child has ended, without taking its number from it.
async fn wait(child: &Child) {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return;
    };
    let (tell, told) = oneshot::channel();
    // A thread of its own, not the runtime's: the runtime must not wait for it when loadlab ends first.
    std::thread::spawn(move || {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), ended), Err(Errno::INTR)) {}
        let _ = tell.send(());
    });
    drop(told.await);
}

/// How a process ended.
pub(super) fn exit(status: std::process::ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Status(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(0)),
    }
}

/// Copies standard error to the log and tells of its lines. It reads on whatever happens to the log: a
/// member whose standard error nobody reads would be stopped or ended by it.
async fn pump(group: Arc<Running>, name: MemberName, mut errors: pipe::Receiver, log: PathBuf) {
    let mut log = OpenOptions::new().append(true).create(true).open(log).ok();
    let mut buffer = vec![0; 16 * 1024];
    let mut splitter = Splitter::default();
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        if let Some(log) = &mut log {
            drop(log.write_all(&buffer[..count]));
        }
        for line in splitter.feed(&buffer[..count]) {
            group.tell_line(&name, line);
        }
    }
    if let Some(line) = splitter.rest() {
        group.tell_line(&name, line);
    }
}

/// Cuts a stream of bytes into lines of bounded length.
#[derive(Debug, Default)]
struct Splitter {
    line: Vec<u8>,
    is_rest: bool,
}

impl Splitter {
    /// The lines that are complete with these bytes.
    fn feed(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                if self.line.len() == LONGEST_LINE {
                    lines.push(std::mem::take(&mut self.line));
                    self.is_rest = true;
                }
            } else if self.line.is_empty() && self.is_rest {
                // The end of a line that was told of already.
                self.is_rest = false;
            } else {
                lines.push(std::mem::take(&mut self.line));
                self.is_rest = false;
            }
        }
        lines
    }

    /// A last line without an end.
    fn rest(self) -> Option<Vec<u8>> {
        (!self.line.is_empty()).then_some(self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_their_ends_and_where_they_are_too_long() {
        let long = vec![b'x'; LONGEST_LINE];
        let mut splitter = Splitter::default();
        assert_eq!(splitter.feed(b"a\n\nb"), [b"a".to_vec(), Vec::new()]);
        assert_eq!(
            splitter.feed(b"\xff\nc\n"),
            [b"b\xff".to_vec(), b"c".to_vec()]
        );
        assert_eq!(splitter.feed(&long), std::slice::from_ref(&long));
        assert_eq!(splitter.feed(b"\n\n"), [Vec::<u8>::new()]);
        assert_eq!(splitter.feed(&long), std::slice::from_ref(&long));
        assert_eq!(splitter.feed(b"y\nz"), [b"y".to_vec()]);
        assert_eq!(splitter.rest(), Some(b"z".to_vec()));
    }
}
