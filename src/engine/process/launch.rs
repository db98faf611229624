//! Starting a program behind the gate.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines};
use tokio::net::unix::pipe;

use super::cgroup::GroupFolders;
use super::gate::{GO, READY, Request, VERB, Word};
use super::state::Identity;
use crate::engine::Trouble;
use crate::model::CpuSet;
use crate::model::name::MemberName;

/// How long the gate may take to say a word.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where programs are looked for.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What is started, and where it is put.
pub(super) struct Launch<'a> {
    /// The program with the gate: loadlab itself.
    pub(super) gate: &'a Path,
    /// What the gate is asked.
    pub(super) request: Request,
    /// The whole environment.
    pub(super) env: BTreeMap<String, String>,
    /// The group's cgroups.
    pub(super) folders: &'a GroupFolders,
    /// The member that it is.
    pub(super) member: Option<&'a MemberName>,
    /// CPUs that it is pinned to.
    pub(super) cpus: Option<&'a CpuSet>,
}

/// What runs after that.
pub(super) struct Launched {
    /// The child of loadlab: the program, or the gate that stays above it.
    pub(super) child: Child,
    /// The child beyond doubt.
    pub(super) identity: Identity,
    /// The program's own number.
    pub(super) program: i32,
    /// Standard input, where it was kept.
    pub(super) input: Option<ChildStdin>,
    /// Standard error.
    pub(super) errors: pipe::Receiver,
    /// The line of a gate that stays.
    pub(super) words: Option<Words>,
}

/// The gate's line.
pub(super) type Words = Lines<BufReader<pipe::Receiver>>;

/// Why nothing was started.
pub(super) struct Refusal {
    /// What kind of trouble.
    pub(super) kind: Trouble,
    /// The cause.
    pub(super) because: String,
}

fn failed(doing: &str, error: impl std::fmt::Display) -> Refusal {
    Refusal {
        kind: Trouble::Failed,
        because: format!("{doing}: {error}"),
    }
}

/// A child that is killed unless it was let go.
struct Held(Option<Child>);

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// The environment that every program has: what is set by loadlab, then the member's own.
pub(super) fn environment(home: &Path, own: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut env = BTreeMap::from([
        ("PATH".to_owned(), PATH.to_owned()),
        ("HOME".to_owned(), home.to_string_lossy().into_owned()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
    ]);
    env.extend(
        own.iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    env
}

/// Starts the gate, puts it where it belongs, has it recorded, lets it go, and waits for its word.
pub(super) async fn launch(
    launch: Launch<'_>,
    record: impl FnOnce(Identity) -> io::Result<()>,
) -> Result<Launched, Refusal> {
    let mut held = Held(Some(spawn(&launch)?));
    let child = held.0.as_mut().expect("it was just put there");
    let mut input = child.stdin.take().expect("standard input is a pipe");
    let output = child.stdout.take().expect("standard output is a pipe");
    let errors = child.stderr.take().expect("standard error is a pipe");
    let errors = receiver(errors.into()).map_err(|error| failed("read its errors", error))?;
    let mut line = receiver(output.into()).map_err(|error| failed("read the gate", error))?;
    let pid = i32::try_from(child.id()).map_err(|error| failed("number the gate", error))?;

    let mut byte = [0];
    let said = tokio::time::timeout(PATIENCE, line.read_exact(&mut byte)).await;
    if !matches!(said, Ok(Ok(_))) || byte[0] != READY {
        return Err(failed(
            "start the gate",
            format_args!("{} did not answer as one", launch.gate.display()),
        ));
    }
    launch
        .folders
        .join(pid, launch.member)
        .map_err(|error| failed("join its cgroup", error))?;
    pin(pid, launch.cpus).map_err(|error| failed("pin it", error))?;
    let identity = Identity::of(pid).ok_or_else(|| failed("identify it", "the gate is gone"))?;
    record(identity).map_err(|error| failed("record it", error))?;
    input
        .write_all(&[GO])
        .map_err(|error| failed("let it go", error))?;

    let mut words = BufReader::new(line).lines();
    let program = first_word(&mut words, &launch, pid).await?;
    Ok(Launched {
        child: held.0.take().expect("it is still there"),
        identity,
        program,
        input: launch.request.keep_input.then_some(input),
        errors,
        words: launch.request.stay.then_some(words),
    })
}

fn spawn(launch: &Launch<'_>) -> Result<Child, Refusal> {
    let mut command = Command::new(launch.gate);
    command
        .arg(VERB)
        .args(launch.request.arguments())
        .env_clear()
        .envs(&launch.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
        .spawn()
        .map_err(|error| failed(&format!("start the gate {}", launch.gate.display()), error))
}

fn receiver(fd: OwnedFd) -> io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(fd)
}

/// Pins a process that has a single thread; absent CPUs pin nothing.
fn pin(pid: i32, cpus: Option<&CpuSet>) -> io::Result<()> {
    let Some(cpus) = cpus else {
        return Ok(());
    };
    let mut set = rustix::thread::CpuSet::new();
    for cpu in cpus.iter() {
        let place = usize::try_from(cpu).unwrap_or(usize::MAX);
        if place >= rustix::thread::CpuSet::MAX_CPU {
            return Err(io::Error::other(format!(
                "CPU {cpu} is beyond what an affinity can name"
            )));
        }
        set.set(place);
    }
    let pid = rustix::process::Pid::from_raw(pid);
    rustix::thread::sched_setaffinity(pid, &set)
        .map_err(|error| io::Error::other(format!("CPUs {cpus}: {}", io::Error::from(error))))
}

/// What the gate says first: nothing when it became the program, its number when it stays above it.
async fn first_word(words: &mut Words, launch: &Launch<'_>, gate: i32) -> Result<i32, Refusal> {
    let line = tokio::time::timeout(PATIENCE, words.next_line()).await;
    let line = line.map_err(|_| failed("start it", "the gate fell silent"))?;
    let line = line.map_err(|error| failed("read the gate", error))?;
    match line.as_deref().map(Word::parse) {
        None if !launch.request.stay => Ok(gate),
        Some(Some(Word::Runs(pid))) => Ok(pid),
        Some(Some(Word::NoProgram(because))) => Err(Refusal {
            kind: Trouble::NoProgram,
            because: format!("{because}{}", searched(launch)),
        }),
        Some(Some(Word::Failed(because))) => Err(Refusal {
            kind: Trouble::Failed,
            because,
        }),
        other => Err(failed(
            "start it",
            format_args!("the gate ended too early ({other:?})"),
        )),
    }
}

/// Where the program was looked for, where its name has no folder.
fn searched(launch: &Launch<'_>) -> String {
    let program = launch
        .request
        .command
        .first()
        .map(|program| program.to_string_lossy());
    match program {
        Some(program) if !program.contains('/') => {
            let path = launch.env.get("PATH").map_or("", String::as_str);
            format!("; looked in {path}")
        }
        _ => String::new(),
    }
}
