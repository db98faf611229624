//! `loadlab-oha` as it is built, against `loadlab-stub`: gate, marker, pinning, and what it keeps.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![cfg(feature = "generator")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use loadlab::engine::{MemberChange, MemberEvent, MemberSpec};
use loadlab::load::oha::{ALLOW_DEBUG, Oha};
use loadlab::load::stub::{self, COUNT_PATH, LISTENING};
use loadlab::load::{Address, LoadGenerator, RawOutput};
use loadlab::model::account::{BoundRequest, Late};
use loadlab::model::stub::{Stub, StubFaults};
use loadlab::model::{Account, Bytes, CpuSet, Known, Nanoseconds, Shot};
use rustix::time::{ClockId, clock_gettime};

const OHA: &str = env!("CARGO_BIN_EXE_loadlab-oha");
const STUB: &str = env!("CARGO_BIN_EXE_loadlab-stub");

struct Running {
    child: Child,
    port: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start_stub(status: u16, wait: Nanoseconds) -> Running {
    let settings = Stub {
        work: Nanoseconds(0),
        wait,
        hold: Bytes(0),
        status,
        body: Bytes(64),
        faults: StubFaults::default(),
    };
    let command = stub::command(Path::new(STUB), &settings, 0);
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix(LISTENING).unwrap();
    let port = address.rsplit(':').next().unwrap().parse().unwrap();
    Running { child, port }
}

fn answered(stub: &Running) -> u64 {
    let mut connection = std::net::TcpStream::connect(("127.0.0.1", stub.port)).unwrap();
    let head = format!("GET {COUNT_PATH} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    connection.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let body = answer.split("\r\n\r\n").nth(1).unwrap();
    stub::read_count(body.as_bytes()).unwrap().answered
}

/// A CPU that this process may run on.
fn some_cpu() -> CpuSet {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let cpu = (0..1024).find(|cpu| allowed.is_set(*cpu)).unwrap();
    CpuSet::of([u32::try_from(cpu).unwrap()]).unwrap()
}

fn shot(at: &str, keep_requests: bool) -> Shot {
    Shot {
        request: BoundRequest {
            method: "POST".to_owned(),
            path: "/page?x=1".to_owned(),
            headers: BTreeMap::from([("content-type".to_owned(), "text/plain".to_owned())]),
            body: Some(b"hello".to_vec()),
        },
        at: at.parse().unwrap(),
        connections: 4,
        duration: Nanoseconds::milliseconds(500),
        timeout: Nanoseconds::seconds(5),
        threads: 1,
        keep_requests,
        status: 200,
        quantiles: Vec::new(),
    }
}

fn oha() -> Oha {
    let oha = Oha::find(Some(Path::new(OHA))).unwrap();
    if cfg!(debug_assertions) {
        oha.allowing_debug_builds()
    } else {
        oha
    }
}

fn described(shot: &Shot, port: u16) -> MemberSpec {
    let address = Address {
        host: "127.0.0.1".to_owned(),
        port,
    };
    oha().member(shot, &address, &some_cpu()).unwrap()
}

fn start(member: &MemberSpec, work: &Path) -> Child {
    for (name, bytes) in &member.files {
        std::fs::write(work.join(name), bytes).unwrap();
    }
    Command::new(&member.command[0])
        .args(&member.command[1..])
        .current_dir(work)
        .env_clear()
        .envs(&member.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn line(bytes: &[u8]) -> MemberEvent {
    MemberEvent {
        member: "oha".parse().unwrap(),
        monotonic_ns: 0,
        what: MemberChange::Line(bytes.to_vec()),
    }
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap()
}

/// Waits at the gate, lets it go, and accounts for what it wrote.
fn run(shot: &Shot, port: u16) -> Account {
    let work = tempfile::tempdir().unwrap();
    let member = described(shot, port);
    let mut child = start(&member, work.path());
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).split(b'\n');
    let oha = oha();
    assert!(oha.at_gate(&line(&stderr.next().unwrap().unwrap())));
    let before = monotonic_ns();
    writeln!(child.stdin.take().unwrap(), "go").unwrap();
    let start = oha.window(&line(&stderr.next().unwrap().unwrap())).unwrap();
    let after = monotonic_ns();
    assert!((before..=after).contains(&start.monotonic_ns));
    drop(stderr.by_ref().map(Result::unwrap).collect::<Vec<_>>());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{output:?}"
    );
    let read = |name: &String| (name.clone(), std::fs::read(work.path().join(name)).unwrap());
    let raw: RawOutput = member.outputs.iter().map(read).collect();
    oha.account(&raw, shot).unwrap()
}

#[test]
fn an_open_loop_sends_what_is_planned_and_the_server_agrees() {
    let stub = start_stub(200, Nanoseconds(0));
    let account = run(&shot("200/s", false), stub.port);
    assert_eq!(account.planned, Some(100));
    assert!(
        account.sent.get() <= 100 && account.errors.is_empty(),
        "{account:?}"
    );
    assert_eq!(account.answered.get(), answered(&stub));
    assert_eq!(account.with_status(200), account.answered.get());
    assert_eq!(account.body_bytes, 64 * account.answered.get());
}

#[test]
fn every_request_is_kept_where_that_is_asked_for() {
    let stub = start_stub(500, Nanoseconds(0));
    let account = run(&shot("200/s", true), stub.port);
    assert_eq!(account.with_status(500), answered(&stub));
    assert!(matches!(account.late, Late::Exactly(_)));
    assert!(matches!(account.release_lag_p99_ns, Known::Value(_)));
    assert!(matches!(account.burst, Known::Value(burst) if burst >= 1));
}

#[test]
fn a_closed_loop_gives_up_what_is_under_way_at_the_end() {
    let stub = start_stub(200, Nanoseconds::milliseconds(200));
    let account = run(&shot("4", false), stub.port);
    assert_eq!((account.planned, account.answered.get()), (None, 8));
    assert_eq!((account.aborted.get(), account.sent.get()), (4, 12));
}

fn refused(member: &MemberSpec) -> Output {
    let work = tempfile::tempdir().unwrap();
    let child = start(member, work.path());
    let output = child.wait_with_output().unwrap();
    let left = std::fs::read_dir(work.path()).unwrap().count();
    assert_eq!(left, member.files.len(), "it wrote something");
    output
}

#[test]
fn without_a_line_at_the_gate_it_goes_away_quietly() {
    let mut member = described(&shot("200/s", true), 1);
    member.files.clear();
    let index = member.command.iter().position(|word| word == "-D").unwrap();
    member.command.drain(index..index + 2);
    let output = refused(&member);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "loadlab-oha: ready\n"
    );
}

#[test]
fn what_it_cannot_do_is_said_before_the_gate() {
    let mut elsewhere = described(&shot("200/s", false), 1);
    elsewhere.command[2] = "1023".to_owned();
    let output = refused(&elsewhere);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.starts_with("loadlab-oha: cannot pin to CPUs 1023: "),
        "{stderr}"
    );

    let mut unknown = described(&shot("200/s", false), 1);
    unknown.command.push("--no-such-flag".to_owned());
    let output = refused(&unknown);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.starts_with("loadlab-oha: oha does not take these arguments: "),
        "{stderr}"
    );
}

#[test]
fn a_debug_build_makes_no_load_unless_allowed() {
    let mut member = described(&shot("200/s", false), 1);
    member.env.remove(ALLOW_DEBUG);
    let output = refused(&member);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let debug = stderr.starts_with("loadlab-oha: this is a debug build");
    assert_eq!(debug, cfg!(debug_assertions), "{stderr}");
}

/// Its response times cannot show it: what is released late is timed late.
#[test]
fn a_generator_that_is_stopped_says_for_how_long() {
    let stub = start_stub(200, Nanoseconds(0));
    let shot = Shot {
        duration: Nanoseconds::seconds(1),
        ..shot("200/s", false)
    };
    let work = tempfile::tempdir().unwrap();
    let member = described(&shot, stub.port);
    let mut child = start(&member, work.path());
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    stderr.next().unwrap().unwrap();
    writeln!(child.stdin.take().unwrap(), "go").unwrap();
    stderr.next().unwrap().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let signal = |signal| rustix::process::kill_process(pid, signal).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal(rustix::process::Signal::STOP);
    std::thread::sleep(std::time::Duration::from_millis(250));
    signal(rustix::process::Signal::CONT);
    assert!(child.wait().unwrap().success());
    let read = |name: &String| (name.clone(), std::fs::read(work.path().join(name)).unwrap());
    let raw: RawOutput = member.outputs.iter().map(read).collect();
    let pause = oha().account(&raw, &shot).unwrap().longest_pause_ns;
    let Known::Value(pause) = pause else {
        panic!("{pause:?}")
    };
    // The nap in which it was stopped may have been all but over.
    assert!(pause >= 240_000_000, "{pause} ns for 250 ms");
}

/// Its threads are gone when a window is read from outside, so it says itself how long they waited.
#[test]
fn a_generator_that_waits_for_its_cpu_says_for_how_long() {
    let stub = start_stub(200, Nanoseconds(0));
    let shot = Shot {
        duration: Nanoseconds::seconds(1),
        ..shot("2000/s", false)
    };
    let ended = std::sync::atomic::AtomicBool::new(false);
    let waited = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut cpus = rustix::thread::CpuSet::new();
                cpus.set(some_cpu().iter().next().unwrap() as usize);
                rustix::thread::sched_setaffinity(None, &cpus).unwrap();
                while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let account = run(&shot, stub.port);
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
        account.run_delay_ns
    });
    let Known::Value(waited) = waited else {
        panic!("{waited:?}")
    };
    assert!(waited > 50_000_000, "{waited} ns beside two busy threads");
}
