//! `loadlab-stub` as a member: the yardstick server whose every cost is known beforehand.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::model::stub::{Stub, StubFaults};
use crate::model::{Bytes, Share};

/// The program's file name.
pub const PROGRAM: &str = "loadlab-stub";

/// The path of the stub's own account. Asking for it is not counted.
pub const COUNT_PATH: &str = "/__stub/count";

/// The line on standard error that says that the stub accepts connections; the address follows.
pub const LISTENING: &str = "loadlab-stub: listening on ";

/// The stub's own account of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct StubCount {
    /// Requests answered so far, requests for the account left out.
    pub answered: u64,
    /// CPU time of its process so far, nanoseconds (`CLOCK_PROCESS_CPUTIME_ID`); its children's is not
    /// part of it.
    pub cpu_ns: u64,
}

/// The code that the stub exits with when it was asked to exit.
pub const EXITED: i32 = 3;

/// What independent clocks show of a known amount of work, burnt outside any pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// CPU time that was to be burnt each time, nanoseconds of `CLOCK_THREAD_CPUTIME_ID`.
    pub work_ns: u64,
    /// How often.
    pub times: u64,
    /// CPU time of the process over all times, the calls for the clock included, nanoseconds
    /// (`CLOCK_PROCESS_CPUTIME_ID`).
    pub cpu_ns: u64,
    /// The shortest time that one of them took, nanoseconds (`CLOCK_MONOTONIC`): nothing came between.
    pub fastest_ns: u64,
}

/// Reads what `loadlab-stub --calibrate` prints.
///
/// # Errors
/// When it is no such list.
pub fn read_calibration(printed: &[u8]) -> Result<Vec<Calibration>, serde_json::Error> {
    serde_json::from_slice(printed)
}

/// Why there is no stub to start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no program {PROGRAM} at {}: build it with `cargo build --bins`", place.display())]
pub struct NoStub {
    /// Where it was looked for.
    pub place: PathBuf,
}

/// The stub's program: the one named, or the sibling of the running program.
///
/// # Errors
/// When there is no such file.
pub fn find(explicit: Option<&Path>) -> Result<PathBuf, NoStub> {
    let place = explicit.map_or_else(|| super::sibling(PROGRAM), Path::to_path_buf);
    if place.is_file() {
        Ok(place)
    } else {
        Err(NoStub { place })
    }
}

/// The command that starts a stub with these settings on a port of 127.0.0.1.
#[must_use]
pub fn command(program: &Path, stub: &Stub, port: u16) -> Vec<String> {
    let mut command = vec![program.display().to_string()];
    let mut say = |flag: &str, value: String| command.extend([format!("--{flag}"), value]);
    say("listen", format!("127.0.0.1:{port}"));
    say("work", stub.work.to_string());
    say("wait", stub.wait.to_string());
    say("hold", stub.hold.to_string());
    say("status", stub.status.to_string());
    say("body", stub.body.to_string());
    for (flag, value) in faults(&stub.faults) {
        say(flag, value);
    }
    command
}

/// The flags that ask for faults, with their values.
fn faults(faults: &StubFaults) -> Vec<(&'static str, String)> {
    fn text<T: ToString>(value: Option<T>) -> Option<String> {
        value.map(|value| value.to_string())
    }
    let wrong = faults.wrong;
    let children = faults.children;
    let flags = [
        ("wrong-every", text(wrong.map(|wrong| wrong.every))),
        ("wrong-body", text(wrong.and_then(|wrong| wrong.body))),
        ("wrong-status", text(wrong.and_then(|wrong| wrong.status))),
        ("drop-every", text(faults.drop_every)),
        ("stall-every", text(faults.stall.map(|stall| stall.every))),
        ("stall-time", text(faults.stall.map(|stall| stall.time))),
        ("silent-after", text(faults.silent_after)),
        ("exit-after", text(faults.exit_after)),
        ("eat", text(faults.eat)),
        ("grow", text(faults.grow)),
        ("child-every", text(children.map(|children| children.every))),
        ("child-time", text(children.map(|children| children.time))),
        (
            "child-cpu",
            text(children.and_then(|children| children.cpu)),
        ),
        ("escape", text(faults.escape)),
        ("listen-after", text(faults.listen_after)),
    ];
    let given = flags.into_iter();
    given
        .filter_map(|(flag, value)| Some((flag, value?)))
        .collect()
}

/// The first word of a command that starts a companion: a process that runs another one and uses
/// what is exactly known on top of what that one uses.
pub const BESIDE: &str = "beside";

/// The beginning of a command that runs a server with a companion beside it; the server's own
/// command follows.
#[must_use]
pub fn beside(program: &Path, extra: Share, hold: Bytes) -> Vec<String> {
    let words = [
        BESIDE.to_owned(),
        "--extra".to_owned(),
        extra.to_string(),
        "--hold".to_owned(),
        hold.to_string(),
        "--".to_owned(),
    ];
    std::iter::once(program.display().to_string())
        .chain(words)
        .collect()
}

/// Reads the stub's own account from the body of its answer.
///
/// # Errors
/// When the body is no such account.
pub fn read_count(body: &[u8]) -> Result<StubCount, serde_json::Error> {
    serde_json::from_slice(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Nanoseconds;
    use crate::model::stub::{Children, Stalls, WrongAnswers};

    #[test]
    fn a_command_says_everything() {
        let stub = Stub {
            work: Nanoseconds(150_000),
            wait: Nanoseconds::milliseconds(1),
            hold: Bytes(64 << 20),
            status: 200,
            body: Bytes(64),
            faults: StubFaults::default(),
        };
        let said = |stub: &Stub| command(Path::new("/opt/loadlab-stub"), stub, 8080).join(" ");
        let behaved = "/opt/loadlab-stub --listen 127.0.0.1:8080 --work 150us --wait 1ms \
                       --hold 64MiB --status 200 --body 64B";
        assert_eq!(said(&stub), behaved);
        let faults = StubFaults {
            wrong: Some(WrongAnswers {
                every: 5,
                body: Some(Bytes(3)),
                status: Some(500),
            }),
            drop_every: Some(7),
            stall: Some(Stalls {
                every: Nanoseconds::seconds(2),
                time: Nanoseconds::milliseconds(500),
            }),
            silent_after: Some(10),
            exit_after: Some(11),
            eat: Some(Bytes(1024)),
            grow: Some(Nanoseconds(10)),
            children: Some(Children {
                every: 100,
                time: Nanoseconds::seconds(5),
                cpu: Some(Share::percent(10)),
            }),
            escape: Some(Share::percent(30)),
            listen_after: Some(Nanoseconds::seconds(20)),
        };
        let expected = " --wrong-every 5 --wrong-body 3B --wrong-status 500 --drop-every 7 \
                        --stall-every 2s --stall-time 500ms --silent-after 10 --exit-after 11 \
                        --eat 1KiB --grow 10ns --child-every 100 --child-time 5s --child-cpu 10% \
                        --escape 30% --listen-after 20s";
        assert_eq!(
            said(&Stub { faults, ..stub }),
            format!("{behaved}{expected}")
        );
    }

    #[test]
    fn an_account_is_read_whole_or_not_at_all() {
        let count = read_count(br#"{"answered":12,"cpu_ns":1800000}"#).unwrap();
        assert_eq!((count.answered, count.cpu_ns), (12, 1_800_000));
        for bad in [
            "",
            "{}",
            r#"{"answered":1}"#,
            r#"{"answered":-1,"cpu_ns":0}"#,
        ] {
            assert!(read_count(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
