//! A companion: runs a server, and uses an exactly known amount on top of what that one uses.
//!
//! CPU: a share of the server's own, by the kernel's account of both. Every twentieth of a second it
//! looks at what the server used since then and burns the share of it, its own looking included. So
//! the sum of both is the known multiple of the server's, whatever a request costs on this machine
//! and however it varies. Memory: held from the start, its own included.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use loadlab::load::stub::BESIDE;
use loadlab::model::{Bytes, Share};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::ClockId;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use crate::{say, work};

/// How often it looks. What the server used in the last stretch of a window is not yet in the sum: a
/// twentieth of a second of some seconds, of the share alone.
const PERIOD: Duration = Duration::from_millis(50);

/// Runs as a companion when the words say so; absent: they do not.
pub fn role(words: &[String]) -> Option<ExitCode> {
    let (first, rest) = words.get(1..)?.split_first()?;
    (first == BESIDE).then(|| match run(rest) {
        Ok(code) => ExitCode::from(code),
        Err(fault) => {
            say(&format!("loadlab-stub {BESIDE}: {fault:#}"));
            ExitCode::FAILURE
        }
    })
}

/// What is used on top, and the server's command.
#[derive(Debug, PartialEq, Eq)]
struct Asked<'a> {
    extra: Share,
    hold: Bytes,
    server: &'a [String],
}

fn asked(words: &[String]) -> anyhow::Result<Asked<'_>> {
    let [extra, by, hold, size, dashes, server @ ..] = words else {
        bail!("expected --extra SHARE --hold SIZE -- COMMAND");
    };
    if (extra.as_str(), hold.as_str(), dashes.as_str()) != ("--extra", "--hold", "--")
        || server.is_empty()
    {
        bail!("expected --extra SHARE --hold SIZE -- COMMAND");
    }
    Ok(Asked {
        extra: by.parse().context("--extra")?,
        hold: size.parse().context("--hold")?,
        server,
    })
}

fn run(words: &[String]) -> anyhow::Result<u8> {
    let asked = asked(words)?;
    let held = hold(asked.hold)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    let ended = runtime.block_on(beside(&asked));
    drop(black_box(held));
    ended
}

/// Memory, every page of it written; what the process has already is part of it.
fn hold(size: Bytes) -> anyhow::Result<Vec<u8>> {
    if size.0 == 0 {
        return Ok(Vec::new());
    }
    let status = std::fs::read_to_string("/proc/self/status").context("cannot read its memory")?;
    let own = status.lines().find_map(|line| {
        let kibibytes = line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB")?;
        kibibytes.parse::<u64>().ok()
    });
    let rest = size.0.saturating_sub(own.unwrap_or(0) * 1024);
    Ok(black_box(vec![
        1_u8;
        usize::try_from(rest).context("--hold")?
    ]))
}

/// Starts the server, stays beside it until it ends, and passes on what asks it to end.
async fn beside(asked: &Asked<'_>) -> anyhow::Result<u8> {
    let mut term = signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?;
    let (program, arguments) = asked.server.split_first().context("no command")?;
    let mut server = Command::new(program)
        .args(arguments)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let pid = server.id().context("it ended at once")?;
    let mut looks = interval(PERIOD);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut scales = Scales::balanced(pid, asked.extra);
    loop {
        tokio::select! {
            biased;
            ended = server.wait() => {
                let ended = ended.context("cannot wait for the server")?;
                return Ok(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
            }
            _ = term.recv() => pass_on(&server, Signal::TERM),
            _ = interrupt.recv() => pass_on(&server, Signal::INT),
            _ = looks.tick(), if asked.extra.0 > 0 => scales.level(),
        }
    }
}

fn pass_on(server: &Child, signal: Signal) {
    let pid = server.id().and_then(|pid| i32::try_from(pid).ok());
    if let Some(pid) = pid.and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// What the server and the companion used since they were last level.
struct Scales {
    server: u32,
    extra: Share,
    server_ns: u64,
    own_ns: u64,
}

impl Scales {
    fn balanced(server: u32, extra: Share) -> Self {
        Self {
            server,
            extra,
            server_ns: used(server),
            own_ns: work::clock_ns(ClockId::ProcessCPUTime),
        }
    }

    /// Burns what is missing. What the companion used too much while the server was idle is let go,
    /// so that it is not missing later.
    fn level(&mut self) {
        let now = used(self.server);
        let server_ns = now.saturating_sub(self.server_ns);
        let share = u128::from(server_ns) * u128::from(self.extra.millionths()) / 1_000_000;
        let due = u64::try_from(share).unwrap_or(u64::MAX);
        let own = work::clock_ns(ClockId::ProcessCPUTime).saturating_sub(self.own_ns);
        work::burn(due.saturating_sub(own));
        self.server_ns = now.max(self.server_ns);
        self.own_ns = if own > due {
            work::clock_ns(ClockId::ProcessCPUTime)
        } else {
            self.own_ns + due
        };
    }
}

/// CPU time of a process and all that come from it, nanoseconds, as the scheduler accounts for it.
fn used(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    tasks
        .map(|task| {
            let task = task.path();
            let read = |file: &str| std::fs::read_to_string(task.join(file)).unwrap_or_default();
            let own = read("schedstat");
            let own = own.split(' ').next().and_then(|ns| ns.parse().ok());
            let children = read("children");
            let children = children
                .split_whitespace()
                .filter_map(|pid| pid.parse().ok());
            own.unwrap_or(0) + children.map(used).sum::<u64>()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_used_on_top_stands_before_the_servers_own_command() {
        let words = words("--extra 5% --hold 64MiB -- server --extra 1%");
        let expected = Asked {
            extra: Share::percent(5),
            hold: Bytes(64 << 20),
            server: &words[5..],
        };
        assert_eq!(asked(&words).unwrap(), expected);
    }

    #[test]
    fn other_words_are_refused() {
        for text in [
            "",
            "--extra 5% --hold 1MiB --",
            "--hold 1MiB --extra 5% -- server",
            "--extra five --hold 1MiB -- server",
            "--extra 5% --hold 1MiB server",
        ] {
            assert!(asked(&words(text)).is_err(), "{text}");
        }
        assert!(role(&words("loadlab-stub --listen 127.0.0.1:0")).is_none());
        assert!(role(&words("loadlab-stub")).is_none());
    }

    #[test]
    fn a_process_and_its_children_are_accounted_for() {
        let before = used(std::process::id());
        work::burn(20_000_000);
        let used = used(std::process::id()) - before;
        assert!((15_000_000..200_000_000).contains(&used), "{used}");
    }
}
