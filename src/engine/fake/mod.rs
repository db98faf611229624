//! A fake engine for tests: keeps a journal of calls, runs nothing, and fails on demand.
//!
//! Its members answer requests, use CPU time while they are under load, and end when they are told to.
//! It waits on tokio's time only, so that with paused time a whole run takes milliseconds.

mod engine;
mod group;
mod members;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use self::group::State;
use super::{EngineError, Exit, Group, Leftover, Trouble};
use crate::model::Role;

/// The environment variable that makes a fake member a load generator: how long its load takes, ns.
pub const LOAD_NS: &str = "FAKE_LOAD_NS";
/// How many requests its load sends.
pub const LOAD_REQUESTS: &str = "FAKE_LOAD_REQUESTS";
/// The port that its load goes to.
pub const LOAD_PORT: &str = "FAKE_LOAD_PORT";
/// The line that a fake generator prints at its gate.
pub const GATE_LINE: &str = "fake: at the gate";
/// The start of the line that marks its load's beginning; nanoseconds follow.
pub const START_LINE: &str = "fake: start ";
/// The file that it leaves.
pub const RESULT_FILE: &str = "fake.json";
/// CPU time that a candidate or the probe uses for each request, nanoseconds.
pub const CPU_PER_REQUEST_NS: u64 = 50_000;
/// CPU time that the generator uses for each request, nanoseconds.
pub const LOAD_CPU_PER_REQUEST_NS: u64 = 10_000;

/// A journal of calls, shared by everything fake in a test.
#[derive(Debug, Clone, Default)]
pub struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    /// Notes a call.
    pub fn note(&self, call: impl Into<String>) {
        locked(&self.0).push(call.into());
    }

    /// Every call so far, and forgets them.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.0))
    }
}

/// A monotonic clock over tokio's time.
#[derive(Debug, Clone, Copy)]
pub struct FakeTime(Instant);

impl Default for FakeTime {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl FakeTime {
    /// Nanoseconds; begins at one second.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        let elapsed = u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX);
        1_000_000_000 + elapsed
    }
}

/// What goes wrong, where it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: lets one call pass, so that a later one goes wrong.
    Nothing,
    /// The operation fails with this kind of trouble.
    Fail(Trouble),
    /// A started member ends by itself after this time.
    Ends(Duration, Exit),
    /// A started member ends by itself after this time and lives again at once.
    Restarts(Duration, Exit),
    /// The kernel kills a process of a started member after this time; the member goes on.
    OutOfMemory(Duration),
    /// From this time after its start on, a member takes connections and answers nothing.
    Silent(Duration),
    /// A started generator never reaches its gate, or never ends its load.
    NeverEnds,
    /// The counters are below those of the last reading.
    Backwards,
    /// There is no CPU counter.
    NoCounter,
    /// Half of the memory limit is read back.
    OtherLimit,
    /// Another CPU is read back.
    OtherCpus,
    /// From this time after the start of a member on, the CPU counter of its group begins at 0 again.
    CountsAnew(Duration),
    /// A started member uses this CPU time for each request, nanoseconds.
    Uses(u64),
    /// A started member has this many processes.
    Forks(u64),
    /// From this time after the start of a member on, a quota holds its group back half of the time.
    Throttled(Duration),
}

/// A fault to inject, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The operation: the name of the engine's function.
    pub operation: &'static str,
    /// The role of the group.
    pub role: Role,
    /// A text that the tag's part begins with: `b0000a1`.
    pub part: String,
    /// What goes wrong.
    pub effect: Effect,
}

/// A request that a fake member was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its role.
    pub role: Role,
    /// Its group's tag.
    pub part: String,
    /// The path.
    pub path: String,
    /// Requests answered before, those of the load generator included.
    pub answered: u64,
}

/// An answer of a fake member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FakeAnswer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

type Answers = dyn Fn(&Asked) -> FakeAnswer + Send + Sync;

/// The fake engine.
#[derive(Clone)]
pub struct FakeEngine {
    calls: Calls,
    time: FakeTime,
    answers: Arc<Answers>,
    state: Arc<Mutex<State>>,
}

impl FakeEngine {
    /// An engine whose members answer by this rule.
    pub fn new(
        calls: Calls,
        time: FakeTime,
        answers: impl Fn(&Asked) -> FakeAnswer + Send + Sync + 'static,
    ) -> Self {
        let state = State {
            groups: BTreeMap::new(),
            faults: VecDeque::new(),
            next: 0,
            leftovers: Vec::new(),
            past: BTreeMap::new(),
        };
        Self {
            calls,
            time,
            answers: Arc::new(answers),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Makes the next call that fits go wrong.
    pub fn inject(&self, fault: Fault) {
        locked(&self.state).faults.push_back(fault);
    }

    /// Leaves something behind, as a killed run would.
    pub fn leave(&self, leftover: Leftover) {
        locked(&self.state).leftovers.push(leftover);
    }

    /// Faults that nothing has met.
    #[must_use]
    pub fn unmet(&self) -> usize {
        locked(&self.state).faults.len()
    }

    /// Groups that were reserved and not released.
    #[must_use]
    pub fn held(&self) -> Vec<String> {
        locked(&self.state).groups.keys().cloned().collect()
    }

    /// CPU time of all groups there were, by CPU.
    #[must_use]
    pub fn used_per_cpu_ns(&self) -> BTreeMap<u32, u64> {
        let state = locked(&self.state);
        let mut used = state.past.clone();
        for group in state.groups.values() {
            *used.entry(group.first_cpu()).or_default() += group.cpu_ns(self.time.now_ns());
        }
        used
    }

    /// Notes the call and takes the fault that fits it.
    pub(super) fn called(
        &self,
        operation: &'static str,
        role: &Role,
        part: &str,
    ) -> Option<Effect> {
        self.calls.note(format!("{operation} {role} {part}"));
        let mut state = locked(&self.state);
        let fits = |fault: &Fault| {
            fault.operation == operation && fault.role == *role && part.starts_with(&fault.part)
        };
        let position = state.faults.iter().position(fits)?;
        state.faults.remove(position).map(|fault| fault.effect)
    }

    fn part(&self, group: &Group) -> String {
        let state = locked(&self.state);
        state
            .groups
            .get(&group.id)
            .map_or_else(String::new, |group| group.part.clone())
    }

    /// The effect of a call on a group, failures first.
    fn on(&self, operation: &'static str, group: &Group) -> Result<Option<Effect>, EngineError> {
        match self.called(operation, &group.role, &self.part(group)) {
            Some(Effect::Fail(kind)) => Err(failed(operation, &group.role, kind)),
            effect => Ok(effect),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(operation: &'static str, role: &Role, kind: Trouble) -> EngineError {
    EngineError {
        operation,
        object: format!("the group of {role}"),
        because: "the test says so".to_owned(),
        kind,
    }
}
