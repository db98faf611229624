//! The resolver of this machine: finds programs in `PATH`, hashes them, asks them their version.
//!
//! A version command runs in `/` with a fixed environment, no input, a time limit and bounded
//! output; its whole process group is ended. Nothing else is run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use regex::Regex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use sha2::{Digest as _, Sha256};

use super::programs::{PROBE, STUB};
use super::{ResolvedProgram, Resolver};
use crate::model::Digest;
use crate::model::candidate::VersionRule;
use crate::model::facts::GENERATOR;
use crate::model::text::harmless;

/// Folders that are searched after those of the environment's `PATH`: an ordinary user often has
/// no `sbin` there, where servers live. The probe looks for its nginx in the same order.
pub const SYSTEM_FOLDERS: [&str; 7] = [
    "/usr/sbin",
    "/usr/local/sbin",
    "/usr/local/nginx/sbin",
    "/usr/local/bin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// The longest time a version command may take.
pub const VERSION_WITHIN: Duration = Duration::from_secs(10);

/// The most that a version command may print on either stream, bytes.
pub const VERSION_OUTPUT: usize = 64 << 10;

/// The longest version, bytes.
const VERSION_LENGTH: usize = 128;

/// Finds programs on this machine. Asked again, it answers what it found before.
#[derive(Debug)]
pub struct Local {
    search: Vec<PathBuf>,
    stub: Option<PathBuf>,
    within: Duration,
    found: BTreeMap<String, (Option<VersionRule>, ResolvedProgram)>,
}

impl Local {
    /// Searches the folders of the environment's `PATH`, then [`SYSTEM_FOLDERS`]; loadlab's own
    /// test server stands beside the program that runs.
    #[must_use]
    pub fn of_environment() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let running = std::env::current_exe().ok();
        let stub = running.and_then(|program| program.parent().map(|folder| folder.join(STUB)));
        let system = SYSTEM_FOLDERS.map(PathBuf::from);
        Self::searching(std::env::split_paths(&path).chain(system), stub)
    }

    /// Searches these folders in order, relative ones left out; loadlab's own test server is `stub`.
    #[must_use]
    pub fn searching(folders: impl IntoIterator<Item = PathBuf>, stub: Option<PathBuf>) -> Self {
        let mut search: Vec<PathBuf> = Vec::new();
        for folder in folders {
            if folder.is_absolute() && !search.contains(&folder) {
                search.push(folder);
            }
        }
        Self {
            search,
            stub,
            within: VERSION_WITHIN,
            found: BTreeMap::new(),
        }
    }

    /// The same with another time limit for version commands.
    #[must_use]
    pub const fn version_within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// Where a program was found, absolute; absent when it was not asked for, or not found.
    #[must_use]
    pub fn path_of(&self, name: &str) -> Option<&Path> {
        self.found
            .get(name)
            .map(|(_, program)| program.path.as_path())
    }

    fn look_up(&self, name: &str) -> Result<PathBuf, String> {
        if name == STUB {
            let stub = self.stub.clone().filter(|path| is_executable(path));
            return stub.ok_or_else(|| {
                let place = self.stub.as_deref().map_or_else(String::new, shown);
                format!("there is no executable file `{place}`; build it with `cargo build --bins`")
            });
        }
        if name.contains('/') {
            let path = PathBuf::from(name);
            return if is_executable(&path) {
                Ok(path)
            } else {
                Err("there is no executable file of that path".to_owned())
            };
        }
        let mut places = self.search.iter().map(|folder| folder.join(name));
        places.find(|path| is_executable(path)).ok_or_else(|| {
            let searched: Vec<String> = self.search.iter().map(|each| shown(each)).collect();
            let package = if name == PROBE {
                "; install it with `apt-get install nginx-light` (Debian, Ubuntu) or the package `nginx`"
            } else {
                ""
            };
            format!("it is not installed: searched {}{package}", searched.join(", "))
        })
    }

    fn version(&self, rule: &VersionRule) -> Result<String, String> {
        let (first, arguments) = rule
            .command
            .split_first()
            .ok_or_else(|| "its version command is empty".to_owned())?;
        let pattern = Regex::new(&rule.pattern)
            .map_err(|_| format!("`{}` is no regular expression", harmless(&rule.pattern)))?;
        let program = self
            .look_up(first)
            .map_err(|because| format!("version command `{}`: {because}", harmless(first)))?;
        let said = self.say(&program, arguments).map_err(|because| {
            format!(
                "version command `{}` {because}",
                harmless(&rule.command.join(" "))
            )
        })?;
        let version = pattern.captures(&said).and_then(|found| found.get(1));
        let version = version.ok_or_else(|| {
            let line: String = said
                .lines()
                .next()
                .unwrap_or("")
                .chars()
                .take(120)
                .collect();
            format!(
                "version command `{}` printed `{}`, expected a match of `{}` with a group",
                harmless(&rule.command.join(" ")),
                harmless(&line),
                harmless(&rule.pattern)
            )
        })?;
        let version = version.as_str();
        let length = 1..=VERSION_LENGTH;
        if !length.contains(&version.len()) || version.contains(char::is_control) {
            let begin: String = version.chars().take(VERSION_LENGTH).collect();
            return Err(format!(
                "its version is `{}`, expected 1 to {VERSION_LENGTH} bytes without control characters",
                harmless(&begin)
            ));
        }
        Ok(version.to_owned())
    }

    /// What a command prints, standard output before standard error.
    fn say(&self, program: &Path, arguments: &[String]) -> Result<String, String> {
        let path = std::env::join_paths(&self.search).unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs([
                ("PATH", path),
                ("HOME", OsString::from("/")),
                ("LANG", OsString::from("C")),
            ])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot be started: {error}"))?;
        let deadline = Instant::now() + self.within;
        let said = collect(&mut child, deadline).and_then(|said| {
            let ended = has_ended(&child, deadline);
            ended
                .then_some(said)
                .ok_or_else(|| "closed its output and went on".to_owned())
        });
        end_group(&child);
        let status = child
            .wait()
            .map_err(|error| format!("cannot be waited for: {error}"))?;
        let said = said?;
        if status.success() {
            Ok(said)
        } else {
            let last: String = said
                .trim_end()
                .lines()
                .last()
                .unwrap_or("")
                .chars()
                .take(120)
                .collect();
            Err(format!(
                "ended with {status}, its last line: `{}`",
                harmless(&last)
            ))
        }
    }
}

/// Reads both streams to their ends, within the time and the bound.
fn collect(child: &mut Child, deadline: Instant) -> Result<String, String> {
    let (sender, receiver) = mpsc::channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|stream| Box::new(stream) as _),
        child.stderr.take().map(|stream| Box::new(stream) as _),
    ];
    for (index, stream) in streams.into_iter().enumerate() {
        let sender = sender.clone();
        let stream = stream.unwrap_or_else(|| Box::new(io::empty()));
        std::thread::spawn(move || sender.send((index, bounded(stream))));
    }
    let mut said = [String::new(), String::new()];
    for _ in 0..2 {
        let left = deadline.saturating_duration_since(Instant::now());
        let (index, text) = receiver
            .recv_timeout(left)
            .map_err(|_| "had not ended its output in time".to_owned())?;
        said[index] = text?;
    }
    let [output, errors] = said;
    let separator = if output.is_empty() || output.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    Ok(format!("{output}{separator}{errors}"))
}

fn bounded(stream: Box<dyn Read + Send>) -> Result<String, String> {
    let mut bytes = Vec::new();
    stream
        .take(VERSION_OUTPUT as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() > VERSION_OUTPUT {
        return Err(format!("printed more than {VERSION_OUTPUT} bytes"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the command ends by itself before the deadline; it is not reaped yet.
fn has_ended(child: &Child, deadline: Instant) -> bool {
    let Some(id) = process_id(child) else {
        return false;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    loop {
        match waitid(WaitId::Pid(id), options) {
            Ok(Some(_)) => return true,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            Ok(None) | Err(_) => return false,
        }
    }
}

fn process_id(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Ends the command and whatever it forked. Its group id is its own id, which is not reused before
/// it has been waited for.
fn end_group(child: &Child) {
    if let Some(group) = process_id(child) {
        // It fails when everything has ended already, which is what is wanted.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

/// The sha256 of a file's bytes, read in pieces.
///
/// # Errors
/// When it cannot be read.
pub fn digest_of_file(path: &Path) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 256 << 10];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(Digest::from_hasher(hasher)),
            Ok(length) => hasher.update(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Resolver for Local {
    fn program(
        &mut self,
        name: &str,
        rule: Option<&VersionRule>,
    ) -> Result<ResolvedProgram, String> {
        if let Some((_, known)) = self
            .found
            .get(name)
            .filter(|(asked, _)| asked.as_ref() == rule)
        {
            return Ok(known.clone());
        }
        let path = self.look_up(name)?;
        let sha256 = digest_of_file(&path)
            .map_err(|error| format!("{} cannot be read: {error}", shown(&path)))?;
        let stub = (name == STUB).then(|| VersionRule {
            command: vec![STUB.to_owned(), "--version".to_owned()],
            pattern: r"^loadlab-stub (\S+)".to_owned(),
        });
        let version = stub
            .as_ref()
            .or(rule)
            .map(|rule| self.version(rule))
            .transpose()?;
        let program = ResolvedProgram {
            path,
            version,
            sha256,
            platform: format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
        };
        let asked = (rule.cloned(), program.clone());
        self.found.insert(name.to_owned(), asked);
        Ok(program)
    }

    fn generator(&self) -> String {
        GENERATOR.to_owned()
    }
}
