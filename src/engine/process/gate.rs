//! The gate: the small program that a member is before it is itself.
//!
//! loadlab starts itself as `loadlab __gate … -- PROGRAM ARGUMENT…`. The gate makes a session of its own,
//! says so, and waits for one byte on standard input; meanwhile loadlab puts it into its cgroups, pins it
//! and writes down who it is. Then it becomes the program (`exec`), so that the member's first instruction
//! already runs inside its limits. When loadlab dies first, the byte never comes and nothing is started.
//!
//! Where there are no cgroups the gate stays: it adopts whatever descends from the program, daemons
//! included, so that the process tree is complete, its CPU time is counted to the end, and nothing
//! outlives loadlab.
//!
//! Standard output is the line to loadlab: [`READY`] after the session is made; then nothing but its end
//! (the program runs), or one [`Word`].

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use super::tree;

/// The hidden verb.
pub const VERB: &str = "__gate";

/// What the gate says when its session is made.
pub(super) const READY: u8 = b'r';

/// Between two attempts to end a tree whose loadlab is gone, at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What lets it go.
pub(super) const GO: u8 = b'g';

/// What the gate says after it was let go, one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// There is no such program or it cannot be executed.
    NoProgram(String),
    /// Something else went wrong before the program.
    Failed(String),
    /// The program runs with this number, and the gate stays.
    Runs(i32),
    /// The program ended with this status.
    Status(i32),
    /// The program ended by this signal.
    Signal(i32),
}

impl Word {
    /// As it is written: a letter and a text without a line end.
    pub(super) fn line(&self) -> String {
        let (letter, text) = match self {
            Self::NoProgram(text) => ('n', text.replace('\n', " ")),
            Self::Failed(text) => ('f', text.replace('\n', " ")),
            Self::Runs(pid) => ('p', pid.to_string()),
            Self::Status(status) => ('s', status.to_string()),
            Self::Signal(signal) => ('k', signal.to_string()),
        };
        format!("{letter}{text}\n")
    }

    /// Reads one back, without its line end.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut letters = line.chars();
        let letter = letters.next()?;
        let rest = letters.as_str();
        Some(match letter {
            'n' => Self::NoProgram(rest.to_owned()),
            'f' => Self::Failed(rest.to_owned()),
            'p' => Self::Runs(rest.parse().ok()?),
            's' => Self::Status(rest.parse().ok()?),
            'k' => Self::Signal(rest.parse().ok()?),
            _ => return None,
        })
    }

    fn of_exec(program: &OsString, error: &io::Error) -> Self {
        let text = format!("`{}`: {error}", program.to_string_lossy());
        let no_program = matches!(
            rustix::io::Errno::from_io_error(error),
            Some(
                rustix::io::Errno::NOENT
                    | rustix::io::Errno::ACCESS
                    | rustix::io::Errno::NOEXEC
                    | rustix::io::Errno::NOTDIR
                    | rustix::io::Errno::ISDIR
            )
        );
        if no_program {
            Self::NoProgram(text)
        } else {
            Self::Failed(text)
        }
    }
}

/// What the gate was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Request {
    /// Where the program works.
    pub(super) work: PathBuf,
    /// Where its standard output goes, appended.
    pub(super) log: PathBuf,
    /// User and group to become.
    pub(super) user: Option<(u32, u32)>,
    /// Whether the program gets the gate's standard input; else it reads nothing.
    pub(super) keep_input: bool,
    /// Whether the gate stays above the program.
    pub(super) stay: bool,
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
}

impl Request {
    /// The arguments after the verb.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![
            "--work".into(),
            self.work.clone().into(),
            "--log".into(),
            self.log.clone().into(),
        ];
        if let Some((user, group)) = self.user {
            arguments.extend(["--user".into(), format!("{user}:{group}").into()]);
        }
        arguments.extend(self.keep_input.then(|| "--keep-input".into()));
        arguments.extend(self.stay.then(|| "--stay".into()));
        arguments.push("--".into());
        arguments.extend(self.command.iter().cloned());
        arguments
    }

    /// Reads the arguments after the verb; absent when they are not loadlab's own.
    pub(super) fn parse(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut request = Self::default();
        loop {
            match arguments.next()?.to_str()? {
                "--work" => request.work = arguments.next()?.into(),
                "--log" => request.log = arguments.next()?.into(),
                "--user" => {
                    let text = arguments.next()?;
                    let (user, group) = text.to_str()?.split_once(':')?;
                    request.user = Some((user.parse().ok()?, group.parse().ok()?));
                }
                "--keep-input" => request.keep_input = true,
                "--stay" => request.stay = true,
                "--" => break,
                _ => return None,
            }
        }
        request.command = arguments.collect();
        (!request.command.is_empty()).then_some(request)
    }
}

/// The hidden verb's whole work; `arguments` come after the verb. Returns only when the program could
/// not be executed, or, where the gate stays, when the last process of its tree has ended.
#[must_use]
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(request) = Request::parse(arguments) else {
        return ExitCode::from(2);
    };
    let Ok(line) = rustix::io::fcntl_dupfd_cloexec(io::stdout().as_fd(), 3) else {
        return ExitCode::FAILURE;
    };
    match pass(&request, &line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(word) => {
            drop(say(&line, word.line().as_bytes()));
            ExitCode::FAILURE
        }
    }
}

fn say(line: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    // A dead reader is no reason to die before the tree below is ended.
    std::fs::File::from(line.try_clone()?).write_all(bytes)
}

fn pass(request: &Request, line: &OwnedFd) -> Result<(), Word> {
    let failed = |doing: String| move |error: io::Error| Word::Failed(format!("{doing}: {error}"));
    rustix::process::setsid().map_err(|error| Word::Failed(format!("make a session: {error}")))?;
    say(line, &[READY]).map_err(failed("say ready".to_owned()))?;
    let mut byte = [0];
    // Read without a buffer: what follows the byte is the member's.
    match rustix::io::read(io::stdin().as_fd(), &mut byte) {
        Ok(1) if byte[0] == GO => {}
        _ => return Ok(()),
    }
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&request.log);
    let log = log.map_err(failed(format!("open the log {}", request.log.display())))?;
    std::env::set_current_dir(&request.work).map_err(failed(format!(
        "enter the work folder {}",
        request.work.display()
    )))?;
    let mut command = Command::new(&request.command[0]);
    command.args(&request.command[1..]).stdout(log);
    if !request.keep_input {
        command.stdin(Stdio::null());
    }
    if let Some((user, group)) = request.user {
        command.uid(user).gid(group);
    }
    if request.stay {
        return stay(command, &request.command[0], line);
    }
    Err(Word::of_exec(&request.command[0], &command.exec()))
}

/// Starts the program and stays above it until nothing of its tree is left.
fn stay(mut command: Command, program: &OsString, line: &OwnedFd) -> Result<(), Word> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| Word::Failed(format!("adopt orphans: {error}")))?;
    let child = command
        .spawn()
        .map_err(|error| Word::of_exec(program, &error))?;
    drop(command);
    let main = child.id();
    let pid = i32::try_from(main).map_err(|_| Word::Failed(format!("process number {main}")))?;
    drop(say(line, Word::Runs(pid).line().as_bytes()));
    end_with_loadlab(line);
    while let Ok(Some((ended, status))) =
        rustix::process::wait(rustix::process::WaitOptions::empty())
    {
        if ended.as_raw_pid() != pid {
            continue;
        }
        let word = match (status.exit_status(), status.terminating_signal()) {
            (Some(status), _) => Word::Status(status),
            (None, Some(signal)) => Word::Signal(signal),
            (None, None) => continue,
        };
        drop(say(line, word.line().as_bytes()));
    }
    Ok(())
}

/// Ends the tree when nobody reads the line any more, which is when loadlab is gone.
fn end_with_loadlab(line: &OwnedFd) {
    let Ok(line) = line.try_clone() else {
        return;
    };
    std::thread::spawn(move || {
        let mut watched = [rustix::event::PollFd::new(
            &line,
            rustix::event::PollFlags::empty(),
        )];
        while !matches!(rustix::event::poll(&mut watched, None), Ok(1..)) {}
        // What does not die at once, such as a process in the kernel, must not cost a core to wait for.
        let mut pause = Duration::from_millis(5);
        loop {
            tree::kill_below(rustix::process::getpid().as_raw_pid());
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_the_command_line() {
        let request = Request {
            work: "/w".into(),
            log: "/l".into(),
            user: Some((65534, 100)),
            keep_input: true,
            stay: true,
            command: vec!["sh".into(), "--".into(), "-c".into(), "a b".into()],
        };
        assert_eq!(
            Request::parse(request.arguments().into_iter()),
            Some(request)
        );
        for bad in [
            vec!["--work"],
            vec!["--"],
            vec!["--bad", "--", "x"],
            vec!["--user", "1", "--", "x"],
        ] {
            let arguments = bad.iter().map(OsString::from);
            assert_eq!(Request::parse(arguments), None, "{bad:?}");
        }
    }

    #[test]
    fn a_word_survives_the_line() {
        for word in [
            Word::NoProgram("`x`: not found".to_owned()),
            Word::Failed("f".to_owned()),
            Word::Runs(7),
            Word::Status(3),
            Word::Signal(9),
        ] {
            assert_eq!(Word::parse(word.line().trim_end_matches('\n')), Some(word));
        }
        assert_eq!(Word::parse(""), None);
        assert_eq!(Word::parse("sx"), None);
    }
}
