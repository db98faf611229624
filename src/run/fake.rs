//! A rig of fakes for tests of the loop: nothing runs, nothing is measured, and time is tokio's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::rig::{Clock, FixedWorker, HostReader, PinnedPrograms, Programs, Rig, Unpinned};
use crate::engine::Engine;
use crate::engine::fake::{Asked, Calls, FakeAnswer, FakeEngine, FakeTime};
use crate::guard::Rules;
use crate::load::LoadGenerator;
use crate::load::fake::FakeGenerator;
use crate::model::facts::HostFacts;
use crate::model::reading::{CpuTimes, FixedWork, HostReading, Known};
use crate::model::{CpuSet, Digest, EngineKind, EntryName};
use crate::probe::nginx;

impl Clock for FakeTime {
    fn monotonic_ns(&self) -> u64 {
        self.now_ns()
    }
}

type Changed = dyn Fn(u64, HostReading) -> HostReading + Send + Sync;

/// A machine that does nothing but what its fake engine does.
pub struct FakeHost {
    engine: FakeEngine,
    time: FakeTime,
    calls: Calls,
    number: AtomicU64,
    changed: Box<Changed>,
}

impl FakeHost {
    /// A machine whose readings, numbered from 0, are changed by this.
    pub fn changing(
        engine: FakeEngine,
        time: FakeTime,
        calls: Calls,
        changed: impl Fn(u64, HostReading) -> HostReading + Send + Sync + 'static,
    ) -> Self {
        Self {
            engine,
            time,
            calls,
            number: AtomicU64::new(0),
            changed: Box::new(changed),
        }
    }

    fn quiet(&self) -> HostReading {
        let now_ns = self.time.now_ns();
        let used = self.engine.used_per_cpu_ns();
        let cpus = (0..2).map(|cpu| {
            let busy_ns = used.get(&cpu).copied().unwrap_or(0);
            let times = CpuTimes {
                busy_ns,
                softirq_ns: 0,
                idle_ns: now_ns.saturating_sub(busy_ns),
                steal_ns: 0,
            };
            (cpu, times)
        });
        HostReading {
            monotonic_ns: now_ns,
            boottime_ns: now_ns,
            realtime_ns: 1_800_000_000_000_000_000 + now_ns,
            uncertainty_ns: 0,
            cpus: cpus.collect(),
            granularity_ns: 1,
            used_per_cpu_ns: Known::Value(used),
            swapped_pages: Known::Value(0),
            context_switches: Known::Value(0),
            dirty_bytes: Known::Value(0),
            retransmitted_segments: Known::Value(0),
            listen_overflows: Known::Value(0),
            cpu_pressure_us: Known::Value(0),
            own_cpu_ns: 0,
        }
    }
}

impl HostReader for FakeHost {
    fn read(&self) -> std::io::Result<HostReading> {
        self.calls.note("host");
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        Ok((self.changed)(number, self.quiet()))
    }
}

/// Fixed work that takes 2 ms, or what a test makes of it.
pub struct FakeWork {
    number: AtomicU64,
    took_ns: Box<dyn Fn(u64) -> u64 + Send + Sync>,
}

impl FakeWork {
    /// Work that takes this long, by how often it was done before.
    pub fn taking(took_ns: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Self {
        Self {
            number: AtomicU64::new(0),
            took_ns: Box::new(took_ns),
        }
    }
}

impl FixedWorker for FakeWork {
    fn work(&self, cpus: &CpuSet) -> Known<FixedWork> {
        let took_ns = (self.took_ns)(self.number.fetch_add(1, Ordering::Relaxed));
        Known::Value(FixedWork {
            per_cpu_ns: cpus.iter().map(|cpu| (cpu, took_ns)).collect(),
        })
    }
}

/// Programs that are not what they were from some look on, counted from 0.
pub struct FakePins {
    looks: AtomicU64,
    from: u64,
}

impl FakePins {
    /// Programs that change before this look.
    #[must_use]
    pub const fn changing(from: u64) -> Self {
        Self {
            looks: AtomicU64::new(0),
            from,
        }
    }
}

impl PinnedPrograms for FakePins {
    fn changed(&self) -> Vec<String> {
        let look = self.looks.fetch_add(1, Ordering::Relaxed);
        let changed = (look >= self.from).then(|| "program `server` changed".to_owned());
        changed.into_iter().collect()
    }
}

/// What a member answers unless a test says otherwise: nginx's count on the probe's page, else `ok`.
#[must_use]
pub fn answer(asked: &Asked) -> FakeAnswer {
    let body = if asked.path == nginx::STATUS_PATH {
        let requests = asked.answered + 1;
        format!(
            "Active connections: 1 \nserver accepts handled requests\n 1 1 {requests} \nReading: 0 Writing: 1 Waiting: 0 \n"
        )
    } else {
        "ok\n".to_owned()
    };
    FakeAnswer {
        status: 200,
        body: body.into_bytes(),
    }
}

/// Facts of the fake machine: two cores and nothing else known.
#[must_use]
pub fn machine() -> HostFacts {
    fn unknown<T>() -> Known<T> {
        Known::Absent("a fake machine".to_owned())
    }
    HostFacts {
        cpu_model: unknown(),
        architecture: "fake".to_owned(),
        online: CpuSet::of([0, 1]).expect("two cores are some"),
        siblings: unknown(),
        governors: unknown(),
        turbo: unknown(),
        memory_bytes: 1 << 30,
        swap_bytes: 0,
        kernel: "fake".to_owned(),
        command_line: unknown(),
        kernel_hz: unknown(),
        irq_time_accounting: unknown(),
        interrupts: unknown(),
        cgroups: unknown(),
        virtualisation: unknown(),
        clock_source: unknown(),
        power: unknown(),
        distribution: unknown(),
        boot_id: unknown(),
        machine: Known::Value(Digest::of(b"fake")),
    }
}

/// A rig of fakes that share a journal of calls.
pub struct FakeRig {
    /// Calls of the engine and readings of the machine, in order.
    pub calls: Calls,
    /// The clock.
    pub time: FakeTime,
    /// The engine.
    pub engine: FakeEngine,
    /// The rig.
    pub rig: Rig,
}

impl FakeRig {
    /// A rig in which everything goes well.
    #[must_use]
    pub fn new(entry: EntryName, folder: &Path) -> Self {
        Self::answering(entry, folder, answer)
    }

    /// The same with members that answer by this rule.
    #[must_use]
    pub fn answering(
        entry: EntryName,
        folder: &Path,
        answers: impl Fn(&Asked) -> FakeAnswer + Send + Sync + 'static,
    ) -> Self {
        let (calls, time) = (Calls::default(), FakeTime::default());
        let engine = FakeEngine::new(calls.clone(), time, answers);
        let shared: Arc<dyn Engine> = Arc::new(engine.clone());
        let host = FakeHost::changing(engine.clone(), time, calls.clone(), |_, reading| reading);
        let generator: Arc<dyn LoadGenerator> = Arc::new(FakeGenerator::default());
        let rig = Rig {
            engines: BTreeMap::from([(EngineKind::Process, shared)]),
            generator,
            host: Arc::new(host),
            machine: machine(),
            clock: Arc::new(time),
            fixed_work: Arc::new(FakeWork::taking(|_| 2_000_000)),
            programs: Programs {
                nginx: PathBuf::from("/fake/nginx"),
                stub: PathBuf::from("/fake/loadlab-stub"),
                found: BTreeMap::new(),
            },
            pinned: Arc::new(Unpinned),
            rules: Rules::all(),
            folder: folder.to_owned(),
            entry,
            set_aside: None,
            pin_itself: false,
        };
        Self {
            calls,
            time,
            engine,
            rig,
        }
    }

    /// Changes the machine's readings, numbered from 0.
    pub fn host(
        &mut self,
        changed: impl Fn(u64, HostReading) -> HostReading + Send + Sync + 'static,
    ) {
        let (engine, calls) = (self.engine.clone(), self.calls.clone());
        self.rig.host = Arc::new(FakeHost::changing(engine, self.time, calls, changed));
    }
}
