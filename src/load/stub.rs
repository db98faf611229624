//! `loadlab-stub` as a member: the yardstick server whose every cost is known beforehand.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::model::candidate::Stub;

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
    /// CPU time of its process so far, nanoseconds (`CLOCK_PROCESS_CPUTIME_ID`).
    pub cpu_ns: u64,
}

/// Why there is no stub to start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no program {PROGRAM} at {}: build it with `cargo build --bins`, or name it with --stub", place.display())]
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
    vec![
        program.display().to_string(),
        "--listen".to_owned(),
        format!("127.0.0.1:{port}"),
        "--work".to_owned(),
        stub.work.to_string(),
        "--wait".to_owned(),
        stub.wait.to_string(),
        "--hold".to_owned(),
        stub.hold.to_string(),
        "--status".to_owned(),
        stub.status.to_string(),
        "--body".to_owned(),
        stub.body.to_string(),
    ]
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
    use crate::model::{Bytes, Nanoseconds};

    #[test]
    fn a_command_says_everything() {
        let stub = Stub {
            work: Nanoseconds(150_000),
            wait: Nanoseconds::milliseconds(1),
            hold: Bytes(64 << 20),
            status: 200,
            body: Bytes(64),
        };
        let command = command(Path::new("/opt/loadlab-stub"), &stub, 8080);
        let expected = "/opt/loadlab-stub --listen 127.0.0.1:8080 --work 150us --wait 1ms \
                        --hold 64MiB --status 200 --body 64B";
        assert_eq!(command.join(" "), expected);
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
