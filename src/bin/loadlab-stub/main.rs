//! loadlab's own test server: a candidate whose every cost is known beforehand, and a yardstick that shows
//! faults on demand.
//!
//! Each request burns a fixed CPU time, holds a fixed amount of memory, waits a fixed time, and gets
//! a fixed answer. Its own account of answers and CPU time, at `/__stub/count`, is what a run's
//! numbers are checked against. One thread does everything, so that its account is exact.

mod alarm;
mod companion;
mod options;
mod outside;
mod stub;
mod work;

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use loadlab::load::stub::LISTENING;
use options::{Faults, Options};
use stub::Stub;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let Some(ended) = companion::role(&words).or_else(|| outside::role(&words)) {
        return ended;
    }
    let options = Options::parse();
    let done = match options.listen {
        Some(address) => listen(&options, address),
        None => print_calibration(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            say(&format!("loadlab-stub: {fault:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Says a line on standard error.
pub fn say(line: &str) {
    // Where nobody listens there is nobody to tell.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

fn print_calibration() -> anyhow::Result<()> {
    let text = serde_json::to_string(&work::calibrate()).context("cannot write it as JSON")?;
    writeln!(std::io::stdout().lock(), "{text}").context("cannot write to standard output")
}

fn listen(options: &Options, address: SocketAddr) -> anyhow::Result<()> {
    let stub = Arc::new(Stub::of(options)?);
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?
        .block_on(serve(stub, address, &options.faults))
}

async fn serve(stub: Arc<Stub>, listen: SocketAddr, faults: &Faults) -> anyhow::Result<()> {
    let mut term = signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?;
    tokio::select! {
        biased;
        _ = term.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
        failed = accept(stub, listen, faults) => failed,
    }
}

/// Accepts connections for ever.
async fn accept(stub: Arc<Stub>, listen: SocketAddr, faults: &Faults) -> anyhow::Result<()> {
    if faults.listen_after.0 > 0 {
        tokio::time::sleep(faults.listen_after.duration()).await;
    }
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}"))?;
    let address = listener.local_addr().context("cannot read the address")?;
    say(&format!("{LISTENING}{address}"));
    if let Some((every, time)) = faults.stall_every.zip(faults.stall_time) {
        tokio::spawn(stall(every.duration(), time.duration()));
    }
    loop {
        match listener.accept().await {
            Ok((connection, _)) => {
                tokio::spawn(converse(Arc::clone(&stub), connection));
            }
            // Out of files, most likely: connections that end free some.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Stands still now and then: the only thread sleeps, and nobody is answered.
async fn stall(every: Duration, time: Duration) {
    let every = every.max(Duration::from_millis(1));
    let mut times = interval_at(Instant::now() + every, every);
    times.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        times.tick().await;
        std::thread::sleep(time);
    }
}

/// One connection until its end; a client that goes away is no fault of ours.
async fn converse(stub: Arc<Stub>, connection: TcpStream) {
    let _ = connection.set_nodelay(true);
    let service = service_fn(move |request| {
        let stub = Arc::clone(&stub);
        async move { stub.answer(request).await }
    });
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(connection), service)
        .await;
}
