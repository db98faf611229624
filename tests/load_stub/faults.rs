//! Faults on demand: each shows as it was asked for, and its costs are what they are said to be.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use loadlab::load::stub::{self, COUNT_PATH, EXITED};
use loadlab::model::stub::{Children, Stalls, Stub, StubFaults, WrongAnswers};
use loadlab::model::{Bytes, Nanoseconds, Share};

use crate::running::{PROGRAM, Running, refusal, settings, start};

/// Longest wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(20);

fn faulty(faults: StubFaults) -> Running {
    start(&Stub {
        faults,
        ..settings()
    })
}

/// What came: status and body, or what came instead of an answer.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    Answer(u16, String),
    End,
    Nothing,
}

fn right() -> Came {
    Came::Answer(200, "ssss".to_owned())
}

impl Running {
    /// One request on a connection of its own; an answer that does not come in time is none.
    fn ask_within(&self, path: &str, patience: Duration) -> Came {
        let mut connection = TcpStream::connect(self.address).unwrap();
        connection.set_read_timeout(Some(patience)).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        match connection.read_to_string(&mut answer) {
            Ok(0) => Came::End,
            Ok(_) => {
                let (head, body) = answer.split_once("\r\n\r\n").unwrap();
                let status = head.split(' ').nth(1).unwrap().parse().unwrap();
                Came::Answer(status, body.to_owned())
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Came::End,
            Err(_) => Came::Nothing,
        }
    }

    fn ask(&self) -> Came {
        self.ask_within("/", PATIENCE)
    }

    fn answered(&self) -> u64 {
        let Came::Answer(200, body) = self.ask_within(COUNT_PATH, PATIENCE) else {
            panic!("no account")
        };
        stub::read_count(body.as_bytes()).unwrap().answered
    }

    /// The field of `/proc/PID/status`, KiB.
    fn memory(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

fn wrong(every: u64, body: Option<u64>, status: Option<u16>) -> StubFaults {
    StubFaults {
        wrong: Some(WrongAnswers {
            every,
            body: body.map(Bytes),
            status,
        }),
        ..StubFaults::default()
    }
}

#[test]
fn every_third_answer_is_wrong_in_the_way_asked_for() {
    let cases = [
        (None, None, Came::Answer(200, "wwww".to_owned())),
        (Some(6), None, Came::Answer(200, "wwwwww".to_owned())),
        (None, Some(500), Came::Answer(500, "wwww".to_owned())),
        (Some(0), None, Came::Answer(200, String::new())),
    ];
    for (body, status, expected) in cases {
        let stub = faulty(wrong(3, body, status));
        let came: Vec<Came> = (0..6).map(|_| stub.ask()).collect();
        for (number, came) in (1..).zip(&came) {
            let expected = if number % 3 == 0 { &expected } else { &right() };
            assert_eq!(came, expected, "request {number}");
        }
        assert_eq!(stub.answered(), 6);
    }
}

#[test]
fn every_second_request_is_dropped_and_not_counted() {
    let stub = faulty(StubFaults {
        drop_every: Some(2),
        ..StubFaults::default()
    });
    let came: Vec<Came> = (0..4).map(|_| stub.ask()).collect();
    assert_eq!(came, [right(), Came::End, right(), Came::End]);
    assert_eq!(stub.answered(), 2);
}

#[test]
fn after_two_requests_nothing_is_answered_not_even_the_account() {
    let stub = faulty(StubFaults {
        silent_after: Some(2),
        ..StubFaults::default()
    });
    assert_eq!(stub.answered(), 0);
    assert_eq!([stub.ask(), stub.ask()], [right(), right()]);
    let short = Duration::from_millis(200);
    for path in ["/", COUNT_PATH] {
        assert_eq!(stub.ask_within(path, short), Came::Nothing, "{path}");
    }
}

#[test]
fn after_two_requests_it_exits() {
    let mut stub = faulty(StubFaults {
        exit_after: Some(2),
        ..StubFaults::default()
    });
    assert_eq!([stub.ask(), stub.ask()], [right(), right()]);
    assert_eq!(stub.ask(), Came::End);
    assert_eq!(stub.child.wait().unwrap().code(), Some(EXITED));
}

#[test]
fn a_stall_delays_whoever_asks_during_it() {
    let stub = faulty(StubFaults {
        stall: Some(Stalls {
            every: Nanoseconds::milliseconds(400),
            time: Nanoseconds::milliseconds(300),
        }),
        ..StubFaults::default()
    });
    // 100 ms of each 400 are free, so that of all requests in 1.2 s at least two stand in a stall.
    let begun = Instant::now();
    let mut slow = 0;
    while begun.elapsed() < Duration::from_millis(1_200) {
        let asked = Instant::now();
        assert_eq!(stub.ask(), right());
        slow += usize::from(asked.elapsed() >= Duration::from_millis(200));
    }
    assert!(slow >= 2, "{slow} requests were slow");
}

#[test]
fn memory_that_is_eaten_stays_eaten() {
    let stub = faulty(StubFaults {
        eat: Some(Bytes(1 << 20)),
        ..StubFaults::default()
    });
    let before = stub.memory("RssAnon:");
    for _ in 0..16 {
        stub.ask();
    }
    let grown = stub.memory("RssAnon:") - before;
    assert!((16_384..18_432).contains(&grown), "{grown} KiB for 16 MiB");
}

#[test]
fn work_grows_by_the_same_amount_with_each_request() {
    let stub = faulty(StubFaults {
        grow: Some(Nanoseconds::milliseconds(2)),
        ..StubFaults::default()
    });
    let cpu_ns = || {
        let Came::Answer(_, body) = stub.ask_within(COUNT_PATH, PATIENCE) else {
            panic!("no account")
        };
        stub::read_count(body.as_bytes()).unwrap().cpu_ns
    };
    let mut costs = Vec::new();
    for _ in 0..4 {
        let before = cpu_ns();
        stub.ask();
        costs.push(cpu_ns() - before);
    }
    for (number, cost) in (0..).zip(&costs) {
        let grown = number * 2_000_000;
        assert!((grown..grown + 2_000_000).contains(cost), "{costs:?}");
    }
}

/// Processes with this parent that were not reaped, by the kernel's list.
fn children_of(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap();
    let numbers = all.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    numbers
        .filter(|process| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let after_name = stat.rsplit(')').next().unwrap_or_default();
            let mut fields = after_name.split_whitespace();
            let alive = fields.next().is_some_and(|state| state != "Z");
            alive && fields.next() == Some(&parent.to_string())
        })
        .collect()
}

fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn children_are_started_and_end_by_themselves() {
    let stub = faulty(StubFaults {
        children: Some(Children {
            every: 2,
            time: Nanoseconds::seconds(2),
            cpu: Some(Share::percent(5)),
        }),
        ..StubFaults::default()
    });
    for _ in 0..6 {
        stub.ask();
    }
    assert_eq!(children_of(stub.child.id()).len(), 3);
    wait_until("the children end", || {
        children_of(stub.child.id()).is_empty()
    });
    assert_eq!(stub.ask(), right());
}

/// Processes that burn outside the group of a server, by their command line.
fn outside(share: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap();
    let numbers = all.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let wanted = format!("{PROGRAM}\0__outside\0{share}\0");
    numbers
        .filter(|process: &u32| {
            let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            line == wanted.as_bytes()
        })
        .collect()
}

fn session(process: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    after_name.split_whitespace().nth(3).unwrap().to_owned()
}

#[test]
fn a_process_leaves_the_family_and_ends_with_the_server() {
    // A share that no other test asks for.
    let mut stub = faulty(StubFaults {
        escape: Some(Share(12_345)),
        ..StubFaults::default()
    });
    assert_eq!(outside("12345"), Vec::<u32>::new());
    stub.ask();
    stub.ask();
    wait_until("a process is outside", || outside("12345").len() == 1);
    let process = outside("12345")[0];
    assert!(!children_of(stub.child.id()).contains(&process));
    assert_ne!(session(process), session(stub.child.id()));
    stub.child.kill().unwrap();
    wait_until("it ends", || outside("12345").is_empty());
}

#[test]
fn it_listens_only_after_a_while() {
    let begun = Instant::now();
    let late = Nanoseconds::milliseconds(300);
    let stub = faulty(StubFaults {
        listen_after: Some(late),
        ..StubFaults::default()
    });
    assert!(begun.elapsed() >= late.duration());
    assert_eq!(stub.ask(), right());
}

#[test]
fn an_exact_amount_of_work_is_burnt_by_two_clocks_that_it_does_not_look_at() {
    let output = Command::new(PROGRAM).arg("--calibrate").output().unwrap();
    let calibrations = stub::read_calibration(&output.stdout).unwrap();
    let works: Vec<u64> = calibrations.iter().map(|tried| tried.work_ns).collect();
    assert_eq!(works, [50_000, 150_000, 300_000, 1_000_000]);
    for tried in calibrations {
        let each = tried.cpu_ns / tried.times;
        // The calls for the clocks come on top; in a debug build they are not free.
        assert!(
            (tried.work_ns..tried.work_ns + 5_000).contains(&each),
            "{tried:?}"
        );
        // CPU time and the time of day go at the same speed where nothing comes between.
        assert!(tried.fastest_ns >= tried.work_ns * 99 / 100, "{tried:?}");
    }
}

#[test]
fn faults_that_cannot_be_meant_are_refused() {
    let listen = "--listen=127.0.0.1:0";
    let zero = refusal(&[listen, "--wrong-every", "0"], 2);
    assert!(zero.contains("0 is not in 1.."), "{zero}");
    let alone = refusal(&[listen, "--wrong-body", "3B"], 2);
    assert!(alone.contains("--wrong-every <REQUESTS>"), "{alone}");
    let neither = refusal(&[], 2);
    assert!(neither.contains("--listen <ADDRESS:PORT>"), "{neither}");
}
