//! What cannot be done to a machine for a test is done to its readings; and a generator whose output
//! somebody doctored.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use loadlab::engine::{MemberEvent, MemberSpec};
use loadlab::load::oha::RESULT_FILE;
use loadlab::load::{Address, LoadGenerator, RawOutput, Unreadable, Unsupported, WindowStart};
use loadlab::measure::host;
use loadlab::model::facts::GeneratorFacts;
use loadlab::model::reading::{FixedWork, HostReading};
use loadlab::model::{Account, CpuSet, Known, Shot};
use loadlab::run::{FixedWorker, HostReader, ProbeWork};

/// Readings of this machine, numbered from 0, and what a test makes of them.
pub struct Machine {
    number: AtomicU64,
    change: fn(&mut HostReading, u64),
}

impl Machine {
    pub fn changing(change: fn(&mut HostReading, u64)) -> Self {
        Self {
            number: AtomicU64::new(0),
            change,
        }
    }
}

impl HostReader for Machine {
    fn read(&self) -> std::io::Result<HostReading> {
        let mut reading = host::reading();
        (self.change)(&mut reading, self.number.fetch_add(1, Ordering::Relaxed));
        Ok(reading)
    }
}

/// The fixed work of this machine, slower by half from some time on, counted from 0.
pub struct SlowFrom {
    number: AtomicU64,
    from: u64,
}

impl SlowFrom {
    pub fn the(from: u64) -> Self {
        Self {
            number: AtomicU64::new(0),
            from,
        }
    }
}

impl FixedWorker for SlowFrom {
    fn work(&self, cpus: &CpuSet) -> Known<FixedWork> {
        let slow = self.number.fetch_add(1, Ordering::Relaxed) >= self.from;
        ProbeWork.work(cpus).map(|mut work| {
            for took in work.per_cpu_ns.values_mut() {
                *took = if slow { *took * 3 / 2 } else { *took };
            }
            work
        })
    }
}

/// A real generator whose output of a measurement is changed before it is read.
pub struct Doctored {
    pub inner: Arc<dyn LoadGenerator>,
    pub change: fn(&mut Vec<u8>),
}

impl LoadGenerator for Doctored {
    fn facts(&self) -> GeneratorFacts {
        self.inner.facts()
    }

    fn member(
        &self,
        shot: &Shot,
        address: &Address,
        cpus: &CpuSet,
    ) -> Result<MemberSpec, Unsupported> {
        self.inner.member(shot, address, cpus)
    }

    fn at_gate(&self, event: &MemberEvent) -> bool {
        self.inner.at_gate(event)
    }

    fn window(&self, event: &MemberEvent) -> Option<WindowStart> {
        self.inner.window(event)
    }

    fn account(&self, raw: &RawOutput, shot: &Shot) -> Result<Account, Unreadable> {
        let mut raw = raw.clone();
        if shot.request.path == "/page" {
            raw.get_mut(RESULT_FILE).into_iter().for_each(self.change);
        }
        self.inner.account(&raw, shot)
    }
}
