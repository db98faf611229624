//! The load generator: the crate oha in a process of its own, so that its allocator stays here.
//!
//! It adds what oha lacks: it pins itself before any thread exists, waits at a gate, marks the
//! moment its load begins, and keeps every request in a compact file. What stands behind `--` is
//! oha's own command line and reaches it unchanged.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Parser;
use loadlab::load::oha::requests::{self, KeptRequest};
use loadlab::load::oha::{ALLOW_DEBUG, READY_LINE, START_LINE, Watch};
use loadlab::measure::process;
use loadlab::model::CpuSet;
use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::thread::{CpuSet as Affinity, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Lives in memory, shared by the connections of this process, as long as one of them is open.
const DATABASE: &str = "file:loadlab-requests?mode=memory&cache=shared";

/// Makes load with oha, pinned, behind a gate, with a marked start.
#[derive(Parser)]
#[command(name = "loadlab-oha", version = concat!(env!("CARGO_PKG_VERSION"), " (oha 1.16.0)"))]
struct Own {
    /// CPUs that every thread runs on, such as `1` or `2-3`.
    #[arg(long, value_name = "CPUS")]
    pin: Option<CpuSet>,
    /// Say `loadlab-oha: ready` on standard error and wait for a line on standard input.
    #[arg(long)]
    gate: bool,
    /// Say in this file, written after the run, how long the generator stood still.
    #[arg(long, value_name = "FILE")]
    watch: Option<PathBuf>,
    /// Keep every answered request in this file, written after the run.
    #[arg(long, value_name = "FILE")]
    requests: Option<PathBuf>,
    /// oha's own arguments.
    #[arg(last = true, required = true)]
    oha: Vec<OsString>,
}

fn main() -> ExitCode {
    match make_load(Own::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            say(&format!("loadlab-oha: {fault:#}"));
            ExitCode::FAILURE
        }
    }
}

fn make_load(own: Own) -> anyhow::Result<()> {
    refuse_a_debug_build()?;
    if let Some(cpus) = &own.pin {
        pin(cpus)?;
    }
    raise_open_files();
    let database = own.requests.as_ref().map(|_| open_database()).transpose()?;
    let oha = oha_options(&own)?;
    if own.gate && !wait_at_the_gate()? {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(oha.worker_threads.get())
        .enable_all()
        .build()
        .context("cannot start the threads")?;
    let watch = own.watch.is_some().then(Watchman::begin);
    runtime.block_on(async {
        say(&format!("{START_LINE}{}", monotonic_ns()));
        oha::run(oha).await.context("oha cannot make this load")
    })?;
    if let Some((file, watch)) = own.watch.as_ref().zip(watch) {
        keep_watch(watch.end(), file)?;
    }
    match own.requests.zip(database) {
        Some((file, database)) => keep_requests(&database, &file),
        None => Ok(()),
    }
}

/// A thread that sleeps a little, again and again, and notices when it slept too long: the process was
/// stopped, or the machine stood still. Now and then it asks how long every thread waited for a CPU, since
/// a thread that ends takes that number with it.
struct Watchman {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Watch>,
}

impl Watchman {
    /// The nap: what is not much longer is not noticed.
    const NAP: Duration = Duration::from_millis(5);
    /// Naps from one question to the next.
    const NAPS: u32 = 20;

    fn begin() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        let thread = std::thread::spawn(move || {
            let mut longest = Duration::ZERO;
            let mut delays = Delays::begin();
            while !told.load(Ordering::Relaxed) {
                for _ in 0..Self::NAPS {
                    let begun = Instant::now();
                    std::thread::sleep(Self::NAP);
                    longest = longest.max(begun.elapsed().saturating_sub(Self::NAP));
                    if told.load(Ordering::Relaxed) {
                        break;
                    }
                }
                delays.ask();
            }
            Watch {
                longest_pause_ns: u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX),
                run_delay_ns: delays.waited(),
            }
        });
        Self { ended, thread }
    }

    /// What it saw; absent when it could not watch.
    fn end(self) -> Option<Watch> {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().ok()
    }
}

/// How long the threads of this process waited for a CPU, by thread, as last seen.
struct Delays {
    before: BTreeMap<i32, u64>,
    last: BTreeMap<i32, u64>,
}

impl Delays {
    fn begin() -> Self {
        let before = Self::now();
        let last = before.clone();
        Self { before, last }
    }

    fn now() -> BTreeMap<i32, u64> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        process::run_delays(own).unwrap_or_default()
    }

    fn ask(&mut self) {
        self.last.extend(Self::now());
    }

    /// What they waited since the beginning; absent: the kernel does not say.
    fn waited(&self) -> Option<u64> {
        let since = |(id, delay): (&i32, &u64)| {
            delay.saturating_sub(self.before.get(id).copied().unwrap_or(0))
        };
        (!self.last.is_empty()).then(|| self.last.iter().map(since).sum())
    }
}

fn keep_watch(watch: Option<Watch>, file: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", file.display());
    let Some(watch) = watch else {
        return Ok(());
    };
    let text = serde_json::to_string(&watch).with_context(failed)?;
    std::fs::write(file, text + "\n").with_context(failed)
}

fn say(line: &str) {
    // Where nobody listens there is nobody to tell.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

fn refuse_a_debug_build() -> anyhow::Result<()> {
    let allowed = std::env::var_os(ALLOW_DEBUG).is_some_and(|value| value == "1");
    ensure!(
        allowed || !cfg!(debug_assertions),
        "this is a debug build, which measures itself more than anything else; \
         build it with --release, or set {ALLOW_DEBUG}=1 to try something out"
    );
    Ok(())
}

fn pin(cpus: &CpuSet) -> anyhow::Result<()> {
    let mut wanted = Affinity::new();
    for cpu in cpus.iter() {
        let index = usize::try_from(cpu)?;
        ensure!(
            index < Affinity::MAX_CPU,
            "cannot pin to CPU {cpu}: only CPUs below {} can be named",
            Affinity::MAX_CPU
        );
        wanted.set(index);
    }
    sched_setaffinity(None, &wanted).with_context(|| format!("cannot pin to CPUs {cpus}"))?;
    let now = sched_getaffinity(None).context("cannot read the affinity back")?;
    if now != wanted {
        bail!("asked to be pinned to CPUs {cpus}, but the kernel says {now:?}");
    }
    Ok(())
}

/// Every connection is an open file; what the system allows may be used.
fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without it, oha reports each connection that cannot be opened.
    let _ = setrlimit(Resource::Nofile, limit);
}

fn open_database() -> anyhow::Result<rusqlite::Connection> {
    rusqlite::Connection::open(DATABASE).context("cannot keep requests in memory")
}

fn oha_options(own: &Own) -> anyhow::Result<oha::Opts> {
    let mut words = vec![OsString::from("oha")];
    words.extend(own.oha.iter().cloned());
    if own.requests.is_some() {
        words.extend(["--db-url", DATABASE].map(OsString::from));
    }
    oha::Opts::try_parse_from(words)
        .map_err(|fault| anyhow::anyhow!("oha does not take these arguments: {fault}"))
}

/// Whether the gate was opened. Without a line nobody wants the load any more.
fn wait_at_the_gate() -> anyhow::Result<bool> {
    say(READY_LINE);
    let mut line = String::new();
    let length = std::io::stdin()
        .lock()
        .read_line(&mut line)
        .context("cannot read the gate's line from standard input")?;
    Ok(length > 0)
}

fn monotonic_ns() -> i128 {
    let now = clock_gettime(ClockId::Monotonic);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

/// Turns oha's table into the file that `loadlab::load::oha::requests` documents.
fn keep_requests(database: &rusqlite::Connection, file: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot keep the requests in {}", file.display());
    let mut query = database
        .prepare(
            "SELECT coalesce(start_latency_correction, start) AS released, start, \"end\", status, \
             len_bytes FROM oha ORDER BY released, start",
        )
        .with_context(failed)?;
    let rows = query
        .query_map([], |row| {
            Ok(KeptRequest {
                released_ns: nanoseconds(row.get(0)?),
                started_ns: nanoseconds(row.get(1)?),
                ended_ns: nanoseconds(row.get(2)?),
                status: row.get(3)?,
                body_bytes: row.get::<_, i64>(4)?.unsigned_abs(),
            })
        })
        .with_context(failed)?;
    let kept: Vec<KeptRequest> = rows.collect::<Result<_, _>>().with_context(failed)?;
    let target = std::fs::File::create(file).with_context(failed)?;
    requests::write(std::io::BufWriter::new(target), kept)
        .and_then(|mut target| target.flush())
        .with_context(failed)
}

/// oha stores seconds in double precision, made from whole nanoseconds: for runs below ten weeks the
/// nearest nanosecond is the one that it had.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a run's seconds are far inside the range, and negative ones become 0"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
