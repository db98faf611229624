//! Its answers, its own account, its way to end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, ExitStatus};

use loadlab::load::stub::{self, COUNT_PATH, StubCount};
use loadlab::model::stub::Stub;
use loadlab::model::{Bytes, Nanoseconds};

use crate::running::{PROGRAM, Running, refusal, settings, start};

impl Running {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    fn count(&self) -> StubCount {
        let (status, body) = ask(&mut self.connect(), "GET", COUNT_PATH, b"");
        assert_eq!(status, 200);
        stub::read_count(&body).unwrap()
    }

    /// Sends SIGTERM and gives back how it ended and what it still said.
    fn stop(mut self) -> (ExitStatus, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        (status, rest)
    }
}

/// One request on a connection that stays open; the answer has to say its length.
fn ask(connection: &mut TcpStream, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
    connection
        .write_all(&[head.as_bytes(), body].concat())
        .unwrap();
    let mut reader = BufReader::new(connection);
    let mut status = String::new();
    reader.read_line(&mut status).unwrap();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let status = status.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body)
}

#[test]
fn answers_are_fixed_and_counted_and_the_account_is_not() {
    let stub = start(&settings());
    let mut connection = stub.connect();
    for (method, body) in [("GET", b"".as_slice()), ("POST", b"a=1"), ("DELETE", b"")] {
        let (status, answer) = ask(&mut connection, method, "/any/path?x=1", body);
        assert_eq!((status, answer), (200, b"ssss".to_vec()), "{method}");
    }
    assert_eq!(stub.count().answered, 3);
    assert_eq!(stub.count().answered, 3);
    let (ended, rest) = stub.stop();
    assert_eq!((ended.code(), rest.as_str()), (Some(0), ""));
}

#[test]
fn work_is_burnt_as_cpu_time_and_memory_is_held() {
    let work = Nanoseconds::milliseconds(2);
    let stub = start(&Stub {
        work,
        hold: Bytes(1 << 20),
        status: 503,
        ..settings()
    });
    let mut connection = stub.connect();
    let before = stub.count().cpu_ns;
    for _ in 0..20 {
        assert_eq!(ask(&mut connection, "GET", "/", b"").0, 503);
    }
    let used = stub.count().cpu_ns - before;
    let asked = 20 * work.0;
    // What the answers themselves cost comes on top; in a debug build on a busy machine it is much.
    assert!(
        (asked..asked * 2).contains(&used),
        "{used} ns for {asked} ns of work"
    );
}

#[test]
fn an_answer_waits_as_long_as_asked() {
    let wait = Nanoseconds::milliseconds(30);
    let stub = start(&Stub { wait, ..settings() });
    let begun = std::time::Instant::now();
    ask(&mut stub.connect(), "GET", "/", b"");
    assert!(begun.elapsed() >= wait.duration());
    let cpu_ns = stub.count().cpu_ns;
    assert!(cpu_ns < wait.0, "{cpu_ns} ns were burnt while waiting");
}

#[test]
fn a_client_that_speaks_no_http_harms_nobody() {
    let stub = start(&settings());
    for garbage in [
        b"\x16\x03\x01\r\n\r\n".as_slice(),
        b"GET / HTTP/9\r\n\r\n",
        b"\r\n\0",
    ] {
        let mut connection = stub.connect();
        connection.write_all(garbage).unwrap();
        drop(connection);
    }
    assert_eq!(ask(&mut stub.connect(), "GET", "/", b"").0, 200);
    assert_eq!(stub.count().answered, 1);
}

#[test]
fn what_cannot_be_served_is_refused() {
    let listen = ["--listen", "127.0.0.1:0"];
    let bare = refusal(&[listen[0], listen[1], "--status", "204"], 1);
    assert_eq!(
        bare,
        "loadlab-stub: --status 204 has no body: write --body 0B\n"
    );
    let status = refusal(&[listen[0], listen[1], "--status", "99"], 1);
    assert_eq!(status, "loadlab-stub: --status 99: expected 200 to 999\n");
    let body = refusal(&[listen[0], listen[1], "--body", "2GiB"], 1);
    assert_eq!(body, "loadlab-stub: --body 2GiB: at most 1GiB\n");

    let stub = start(&settings());
    let address = stub.address.to_string();
    let taken = refusal(&["--listen", &address], 1);
    let expected = format!("loadlab-stub: cannot listen on {address}: Address already in use");
    assert!(taken.starts_with(&expected), "{taken}");
}

/// `lock` pins the stub by this line.
#[test]
fn it_says_its_own_name_and_version() {
    let output = Command::new(PROGRAM).arg("--version").output().unwrap();
    let expected = format!("loadlab-stub {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}
