//! A running `loadlab-stub`, ended when it is dropped.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use loadlab::load::stub::{self, LISTENING};
use loadlab::model::stub::{Stub, StubFaults};
use loadlab::model::{Bytes, Nanoseconds};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_loadlab-stub");

pub struct Running {
    pub child: Child,
    pub stderr: BufReader<ChildStderr>,
    pub address: SocketAddr,
}

/// 200 with four bytes, at once.
pub fn settings() -> Stub {
    Stub {
        work: Nanoseconds(0),
        wait: Nanoseconds(0),
        hold: Bytes(0),
        status: 200,
        body: Bytes(4),
        faults: StubFaults::default(),
    }
}

pub fn start(settings: &Stub) -> Running {
    let command = stub::command(Path::new(PROGRAM), settings, 0);
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix(LISTENING).unwrap();
    let address = address.parse().unwrap();
    Running {
        child,
        stderr,
        address,
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind; one that stopped it already has nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What it says when it does not take its arguments, with this exit code.
#[track_caller]
pub fn refusal(arguments: &[&str], code: i32) -> String {
    let output = Command::new(PROGRAM).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}
