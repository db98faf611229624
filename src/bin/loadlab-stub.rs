//! loadlab's own test server: a candidate whose every cost is known beforehand.
//!
//! Each request burns a fixed CPU time, holds a fixed amount of memory, waits a fixed time, and gets
//! a fixed answer. Its own account of answers and CPU time, at `/__stub/count`, is what a run's
//! numbers are checked against. One thread does everything, so that its account is exact.

use std::convert::Infallible;
use std::hint::black_box;
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use loadlab::load::stub::{COUNT_PATH, LISTENING, StubCount};
use loadlab::model;
use rustix::time::{ClockId, clock_gettime};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};

/// The largest body that can be asked for.
const LARGEST_BODY: u64 = 1 << 30;

/// A server whose every cost is known beforehand.
#[derive(Parser)]
#[command(name = "loadlab-stub", version)]
struct Options {
    /// Address to listen on; port 0: any free one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// CPU time burnt for each request.
    #[arg(long, default_value = "0us")]
    work: model::Nanoseconds,
    /// Time waited before each answer.
    #[arg(long, default_value = "0ms")]
    wait: model::Nanoseconds,
    /// Memory held from a request's arrival until its answer.
    #[arg(long, default_value = "0B")]
    hold: model::Bytes,
    /// Status of each answer.
    #[arg(long, default_value_t = 200)]
    status: u16,
    /// Length of each answer's body.
    #[arg(long, default_value = "64B")]
    body: model::Bytes,
}

/// What each request costs and gets.
struct Stub {
    work_ns: u64,
    wait: Duration,
    hold: usize,
    status: StatusCode,
    body: Bytes,
    answered: AtomicU64,
}

fn main() -> ExitCode {
    let served = Stub::of(&Options::parse()).and_then(|(stub, listen)| {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start")?
            .block_on(serve(Arc::new(stub), listen))
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            say(&format!("loadlab-stub: {fault:#}"));
            ExitCode::FAILURE
        }
    }
}

fn say(line: &str) {
    // Where nobody listens there is nobody to tell.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

impl Stub {
    fn of(options: &Options) -> anyhow::Result<(Self, SocketAddr)> {
        let status = StatusCode::from_u16(options.status)
            .ok()
            .filter(|status| !status.is_informational())
            .with_context(|| format!("--status {}: expected 200 to 999", options.status))?;
        let bare = status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED;
        ensure!(
            !bare || options.body.0 == 0,
            "--status {} has no body: write --body 0B",
            options.status
        );
        ensure!(
            options.body.0 <= LARGEST_BODY,
            "--body {}: at most {}",
            options.body,
            model::Bytes(LARGEST_BODY)
        );
        let stub = Self {
            work_ns: options.work.0,
            wait: options.wait.duration(),
            hold: usize::try_from(options.hold.0).context("--hold")?,
            status,
            body: Bytes::from(vec![
                b's';
                usize::try_from(options.body.0).context("--body")?
            ]),
            answered: AtomicU64::new(0),
        };
        Ok((stub, options.listen))
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.uri().path() == COUNT_PATH && request.method() == Method::GET {
            return self.own_account();
        }
        let mut body = request.into_body();
        while let Some(Ok(_)) = body.frame().await {}
        // Every page is written, so that all of it is there.
        let held = (self.hold > 0).then(|| black_box(vec![1_u8; self.hold]));
        burn(self.work_ns);
        if !self.wait.is_zero() {
            wait(self.wait).await;
        }
        drop(held);
        self.answered.fetch_add(1, Ordering::Relaxed);
        let mut response = Response::new(Full::new(self.body.clone()));
        *response.status_mut() = self.status;
        response
    }

    fn own_account(&self) -> Response<Full<Bytes>> {
        let count = StubCount {
            answered: self.answered.load(Ordering::Relaxed),
            cpu_ns: cpu_ns(ClockId::ProcessCPUTime),
        };
        let text = serde_json::to_string(&count).unwrap_or_default();
        Response::new(Full::new(Bytes::from(text)))
    }
}

async fn serve(stub: Arc<Stub>, listen: SocketAddr) -> anyhow::Result<()> {
    let mut term = signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?;
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}"))?;
    let address = listener.local_addr().context("cannot read the address")?;
    say(&format!("{LISTENING}{address}"));
    loop {
        tokio::select! {
            biased;
            _ = term.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
            accepted = listener.accept() => match accepted {
                Ok((connection, _)) => {
                    tokio::spawn(converse(Arc::clone(&stub), connection));
                }
                // Out of files, most likely: connections that end free some.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
        }
    }
}

/// One connection until its end; a client that goes away is no fault of ours.
async fn converse(stub: Arc<Stub>, connection: TcpStream) {
    let _ = connection.set_nodelay(true);
    let service = service_fn(move |request| {
        let stub = Arc::clone(&stub);
        async move { Ok::<_, Infallible>(stub.answer(request).await) }
    });
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(connection), service)
        .await;
}

fn cpu_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}

/// Burns this much CPU time of the calling thread, to less than a microsecond.
fn burn(work_ns: u64) {
    if work_ns == 0 {
        return;
    }
    let end = cpu_ns(ClockId::ThreadCPUTime) + work_ns;
    let mut state = 1_u64;
    while cpu_ns(ClockId::ThreadCPUTime) < end {
        for _ in 0..64 {
            state = black_box(state.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (state >> 7));
        }
    }
}

/// Waits by the kernel's own timer: tokio's goes in steps of a millisecond.
#[cfg(target_os = "linux")]
async fn wait(time: Duration) {
    if alarm(time).await.is_err() {
        tokio::time::sleep(time).await;
    }
}

#[cfg(not(target_os = "linux"))]
async fn wait(time: Duration) {
    tokio::time::sleep(time).await;
}

#[cfg(target_os = "linux")]
#[allow(
    deprecated,
    reason = "its successor is unsafe; an owned descriptor stays what it is while it lives"
)]
async fn alarm(time: Duration) -> std::io::Result<()> {
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
    let never = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let value = Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    let once = Itimerspec {
        it_interval: never,
        it_value: value,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
    let timer = tokio::io::unix::AsyncFd::new(timer)?;
    timer.readable().await.map(|_| ())
}
