//! The reference nginx as it really runs: its answer, its count, and that it stays in its folder.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use loadlab::model::account::BoundRequest;
use loadlab::model::scenario::{Expect, ExpectBody};
use loadlab::probe::{self, nginx};
use loadlab::run::http::{self, Answer};

/// The user `nobody` of Debian and Ubuntu.
const NOBODY: u32 = 65_534;

struct Running {
    child: Child,
    port: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts the reference nginx in a folder, as an engine would.
fn start(work: &Path, user: Option<u32>) -> Running {
    let port = free_port();
    let program = nginx::find().unwrap_or_else(|fault| panic!("{fault}"));
    let member = nginx::member(&program, port, 2);
    for (name, bytes) in &member.files {
        std::fs::write(work.join(name), bytes).unwrap();
    }
    let mut command = Command::new(&member.command[0]);
    command
        .args(&member.command[1..])
        .current_dir(work)
        .env_clear()
        .envs(&member.env)
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    if let Some(user) = user {
        let configuration = nginx::configuration(port, 2, false);
        std::fs::write(work.join(nginx::CONFIGURATION), configuration).unwrap();
        std::os::unix::fs::chown(work, Some(user), None).unwrap();
        command.uid(user);
    }
    let child = command.spawn().unwrap();
    Running { child, port }
}

async fn ask(port: u16, path: &str) -> Answer {
    let request = BoundRequest {
        method: "GET".to_owned(),
        path: path.to_owned(),
        headers: std::collections::BTreeMap::new(),
        body: None,
    };
    let host = format!("127.0.0.1:{port}");
    let connection = loop {
        match tokio::net::TcpStream::connect(("127.0.0.1", port)).await {
            Ok(connection) => break connection,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    http::exchange(
        Box::new(connection),
        &host,
        &request,
        Duration::from_secs(5),
    )
    .await
    .unwrap()
}

async fn requests_so_far(port: u16) -> u64 {
    let page = ask(port, nginx::STATUS_PATH).await;
    probe::witness(std::str::from_utf8(&page.body).unwrap()).unwrap()
}

async fn answers_and_counts(work: &Path, user: Option<u32>) {
    let running = start(work, user);
    let within = Duration::from_secs(20);
    let answer = tokio::time::timeout(within, ask(running.port, nginx::PATH)).await;
    let answer = answer.expect("nginx listens within 20 s");
    let expect = Expect {
        status: 200,
        headers: [("content-type".to_owned(), "text/plain".to_owned())].into(),
        body: Some(ExpectBody::Text {
            text: nginx::BODY.to_owned(),
        }),
    };
    assert_eq!(http::check(&answer, &expect, None), None);
    let before = requests_so_far(running.port).await;
    for _ in 0..10 {
        ask(running.port, "/any/path").await;
    }
    // The page counts the request for itself.
    assert_eq!(requests_so_far(running.port).await - before, 11);
}

#[tokio::test]
async fn it_answers_counts_and_stays_in_its_folder() {
    let work = tempfile::tempdir().unwrap();
    answers_and_counts(work.path(), None).await;
    let mut left: Vec<String> = std::fs::read_dir(work.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    left.retain(|name| name != "nginx.pid");
    let expected = [
        "nginx.conf",
        "temp-body",
        "temp-fastcgi",
        "temp-proxy",
        "temp-scgi",
        "temp-uwsgi",
    ];
    assert_eq!(left, expected);
}

/// Only root can become somebody else; without it the test above already ran as an ordinary user.
#[tokio::test]
async fn an_ordinary_user_can_run_it() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    answers_and_counts(work.path(), Some(NOBODY)).await;
}
