//! What a request costs and gets, and which of them meets a fault.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use anyhow::{Context, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode};
use loadlab::load::stub::{COUNT_PATH, EXITED, StubCount};
use loadlab::model;
use rustix::time::ClockId;
use tokio::process::ChildStdin;

use crate::alarm::wait;
use crate::options::{Faults, Options};
use crate::outside;
use crate::work::{burn, clock_ns};

/// The largest body that can be asked for.
const LARGEST_BODY: u64 = 1 << 30;

/// The connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection ends here, as asked for")]
pub struct Dropped;

/// A status with its body.
struct Answer {
    status: StatusCode,
    body: Bytes,
}

/// What each request costs and gets.
pub struct Stub {
    work_ns: u64,
    wait: Duration,
    hold: usize,
    right: Answer,
    wrong: Option<Answer>,
    faults: Faults,
    arrived: AtomicU64,
    answered: AtomicU64,
    eaten: Mutex<Vec<Vec<u8>>>,
    outside: OnceLock<Option<ChildStdin>>,
}

impl Stub {
    /// Checks what can be served.
    pub fn of(options: &Options) -> anyhow::Result<Self> {
        let faults = options.faults.clone();
        let wrong = faults.wrong_every.is_some().then(|| {
            let status = faults.wrong_status.unwrap_or(options.status);
            let body = faults.wrong_body.unwrap_or(options.body);
            Answer::of(status, body, b'w')
        });
        Ok(Self {
            work_ns: options.work.0,
            wait: options.wait.duration(),
            hold: usize::try_from(options.hold.0).context("--hold")?,
            right: Answer::of(options.status, options.body, b's')?,
            wrong: wrong.transpose()?,
            faults,
            arrived: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            eaten: Mutex::default(),
            outside: OnceLock::new(),
        })
    }

    /// The answer to a request.
    ///
    /// # Errors
    /// When the connection is to end without one.
    pub async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Dropped> {
        if request.uri().path() == COUNT_PATH && request.method() == Method::GET {
            self.silence(self.arrived.load(Ordering::Relaxed)).await;
            return Ok(self.own_account());
        }
        let number = self.arrived.fetch_add(1, Ordering::Relaxed) + 1;
        self.end_or_fall_silent(number).await;
        self.start_processes(number);
        let mut body = request.into_body();
        while let Some(Ok(_)) = body.frame().await {}
        // Every page is written, so that all of it is there.
        let held = (self.hold > 0).then(|| black_box(vec![1_u8; self.hold]));
        self.eat();
        let grown_ns = self.faults.grow.0.saturating_mul(number - 1);
        burn(self.work_ns.saturating_add(grown_ns));
        if !self.wait.is_zero() {
            wait(self.wait).await;
        }
        drop(held);
        if hits(self.faults.drop_every, number) {
            return Err(Dropped);
        }
        self.answered.fetch_add(1, Ordering::Relaxed);
        let wrong = self.wrong.as_ref();
        let wrong = wrong.filter(|_| hits(self.faults.wrong_every, number));
        Ok(wrong.unwrap_or(&self.right).response())
    }

    async fn end_or_fall_silent(&self, number: u64) {
        if self.faults.exit_after.is_some_and(|last| number > last) {
            // What was answered before is still on its way out.
            tokio::time::sleep(Duration::from_millis(5)).await;
            std::process::exit(EXITED);
        }
        self.silence(number.saturating_sub(1)).await;
    }

    /// Never comes back once so many requests were answered as are to be.
    async fn silence(&self, before: u64) {
        if self.faults.silent_after.is_some_and(|last| before >= last) {
            std::future::pending::<()>().await;
        }
    }

    fn start_processes(&self, number: u64) {
        if hits(self.faults.child_every, number) {
            let burnt = self.faults.child_cpu.map_or(0, model::Share::millionths);
            outside::start_child(self.faults.child_time.duration(), burnt);
        }
        if let Some(share) = self.faults.escape {
            self.outside
                .get_or_init(|| outside::start_outside(share.millionths()));
        }
    }

    fn eat(&self) {
        let length = usize::try_from(self.faults.eat.0).unwrap_or(0);
        if length > 0
            && let Ok(mut eaten) = self.eaten.lock()
        {
            eaten.push(black_box(vec![1_u8; length]));
        }
    }

    fn own_account(&self) -> Response<Full<Bytes>> {
        let count = StubCount {
            answered: self.answered.load(Ordering::Relaxed),
            cpu_ns: clock_ns(ClockId::ProcessCPUTime),
        };
        let text = serde_json::to_string(&count).unwrap_or_default();
        Response::new(Full::new(Bytes::from(text)))
    }
}

/// Whether a request is one of those that are hit.
fn hits(every: Option<u64>, number: u64) -> bool {
    every.is_some_and(|every| number.is_multiple_of(every))
}

impl Answer {
    fn of(status: u16, body: model::Bytes, filling: u8) -> anyhow::Result<Self> {
        let status = StatusCode::from_u16(status)
            .ok()
            .filter(|status| !status.is_informational())
            .with_context(|| format!("--status {status}: expected 200 to 999"))?;
        let bare = status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED;
        ensure!(
            !bare || body.0 == 0,
            "--status {} has no body: write --body 0B",
            status.as_u16()
        );
        ensure!(
            body.0 <= LARGEST_BODY,
            "--body {body}: at most {}",
            model::Bytes(LARGEST_BODY)
        );
        let body = vec![filling; usize::try_from(body.0).context("--body")?];
        Ok(Self {
            status,
            body: Bytes::from(body),
        })
    }

    fn response(&self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body.clone()));
        *response.status_mut() = self.status;
        response
    }
}
