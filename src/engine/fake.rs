//! A fake engine for tests: keeps a journal of calls, runs nothing, and fails on demand.
//!
//! Its members answer requests, use CPU time while they are under load, and end when they are told to.
//! It waits on tokio's time only, so that with paused time a whole run takes milliseconds.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{
    Duplex, Engine, EngineError, Exit, Group, Leftover, MemberChange, MemberEvent, MemberSpec,
    Output, RoleSpec, Tag, Trouble,
};
use crate::model::facts::{Enforces, EngineFacts};
use crate::model::reading::{CpuReading, EffectiveLimits, MemberReading, MemoryReading};
use crate::model::{
    Bytes, CpuSet, EngineKind, Known, MemberName, PortName, Role, RoleReading, Source,
};

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
/// CPU time that a candidate uses for each request, nanoseconds.
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

struct Load {
    began_ns: u64,
    length_ns: u64,
    cpu_ns: u64,
    requests: u64,
}

impl Load {
    fn share(&self, of: u64, now_ns: u64) -> u64 {
        let done = now_ns.saturating_sub(self.began_ns).min(self.length_ns);
        let share = u128::from(of) * u128::from(done) / u128::from(self.length_ns.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

struct Member {
    spec: MemberSpec,
    alive: bool,
    ended: Option<Exit>,
    oom_kills: u64,
    silent_from_ns: Option<u64>,
    never_ends: bool,
}

struct FakeGroup {
    part: String,
    spec: RoleSpec,
    group: Group,
    events: mpsc::Sender<MemberEvent>,
    taken: Option<mpsc::Receiver<MemberEvent>>,
    members: BTreeMap<MemberName, Member>,
    loads: Vec<Load>,
    asked: u64,
}

impl FakeGroup {
    fn cpu_ns(&self, now_ns: u64) -> u64 {
        1_000_000
            + self
                .loads
                .iter()
                .map(|load| load.share(load.cpu_ns, now_ns))
                .sum::<u64>()
    }

    fn answered(&self, now_ns: u64) -> u64 {
        let loads = self.loads.iter();
        self.asked
            + loads
                .map(|load| load.share(load.requests, now_ns))
                .sum::<u64>()
    }

    fn first_cpu(&self) -> u32 {
        let cpus = self.spec.cpus.as_ref().and_then(|cpus| cpus.iter().next());
        cpus.unwrap_or(0)
    }
}

struct State {
    groups: BTreeMap<String, FakeGroup>,
    faults: VecDeque<Fault>,
    next: u16,
    /// CPU time of groups that were released, by CPU.
    past: BTreeMap<u32, u64>,
}

/// The fake engine.
#[derive(Clone)]
pub struct FakeEngine {
    calls: Calls,
    time: FakeTime,
    answers: Arc<Answers>,
    state: Arc<Mutex<State>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn called(&self, operation: &'static str, role: &Role, part: &str) -> Option<Effect> {
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

    fn send(&self, group: &str, member: &MemberName, what: MemberChange) {
        let sender = locked(&self.state)
            .groups
            .get(group)
            .map(|group| group.events.clone());
        let event = MemberEvent {
            member: member.clone(),
            monotonic_ns: self.time.now_ns(),
            what,
        };
        if let Some(sender) = sender {
            // A full or closed channel means that nobody asks any more.
            let _ = sender.try_send(event);
        }
    }

    fn with_member<T>(
        &self,
        group: &str,
        member: &MemberName,
        change: impl FnOnce(&mut Member) -> T,
    ) -> Option<T> {
        let mut state = locked(&self.state);
        let group = state.groups.get_mut(group)?;
        group.members.get_mut(member).map(change)
    }

    fn ends(&self, group: &Group, member: &MemberName, after: Duration, exit: Exit, again: bool) {
        let (engine, id, member) = (self.clone(), group.id.clone(), member.clone());
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            engine.with_member(&id, &member, |member| {
                member.alive = again;
                member.ended = Some(exit);
            });
            engine.send(&id, &member, MemberChange::Exited(exit));
        });
    }

    fn out_of_memory(&self, group: &Group, member: &MemberName, after: Duration) {
        let (engine, id, member) = (self.clone(), group.id.clone(), member.clone());
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            engine.with_member(&id, &member, |member| member.oom_kills += 1);
            engine.send(&id, &member, MemberChange::OutOfMemory);
        });
    }

    /// Runs the load of a fake generator on whoever has its port.
    fn load(&self, group: &Group, spec: &MemberSpec) {
        let number = |name: &str| spec.env.get(name).and_then(|text| text.parse::<u64>().ok());
        let length_ns = number(LOAD_NS).unwrap_or(0);
        let requests = number(LOAD_REQUESTS).unwrap_or(0);
        let port = number(LOAD_PORT).and_then(|port| u16::try_from(port).ok());
        let began_ns = self.time.now_ns();
        let load = |cpu_ns: u64| Load {
            began_ns,
            length_ns,
            cpu_ns: requests * cpu_ns,
            requests,
        };
        {
            let mut state = locked(&self.state);
            for other in state.groups.values_mut() {
                if other.group.id == group.id {
                    other.loads.push(load(LOAD_CPU_PER_REQUEST_NS));
                } else if other.group.ports.values().any(|given| Some(*given) == port) {
                    other.loads.push(load(CPU_PER_REQUEST_NS));
                }
            }
        }
        let marker = format!("{START_LINE}{began_ns}").into_bytes();
        self.send(&group.id, &spec.name, MemberChange::Line(marker));
        let never = self.with_member(&group.id, &spec.name, |member| member.never_ends);
        if never != Some(true) {
            let length = Duration::from_nanos(length_ns);
            self.ends(group, &spec.name, length, Exit::Status(0), false);
        }
    }

    async fn serve(self, group: String, member: MemberName, mut stream: tokio::io::DuplexStream) {
        let mut head = Vec::new();
        while !head.windows(4).any(|window| window == b"\r\n\r\n") {
            let mut bytes = [0; 1024];
            match stream.read(&mut bytes).await {
                Ok(0) | Err(_) => return,
                Ok(count) => head.extend_from_slice(&bytes[..count]),
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let Some(asked) = self.asked(&group, &member, path) else {
            return std::future::pending().await;
        };
        let FakeAnswer { status, body } = (self.answers)(&asked);
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} fake\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let answer = [head.into_bytes(), body].concat();
        // The asker may have given up.
        let _ = stream.write_all(&answer).await;
        let _ = stream.shutdown().await;
    }

    /// Counts a request; absent: the member is silent.
    fn asked(&self, group: &str, member: &MemberName, path: String) -> Option<Asked> {
        let now_ns = self.time.now_ns();
        let mut state = locked(&self.state);
        let group = state.groups.get_mut(group)?;
        let silent = group.members.get(member)?.silent_from_ns;
        if silent.is_some_and(|from| now_ns >= from) {
            return None;
        }
        let asked = Asked {
            role: group.spec.role.clone(),
            part: group.part.clone(),
            path,
            answered: group.answered(now_ns),
        };
        group.asked += 1;
        Some(asked)
    }
}

fn failed(operation: &'static str, role: &Role, kind: Trouble) -> EngineError {
    EngineError {
        operation,
        object: format!("the group of {role}"),
        because: "the test says so".to_owned(),
        kind,
    }
}

#[async_trait]
impl Engine for FakeEngine {
    fn describe(&self) -> EngineFacts {
        EngineFacts {
            kind: EngineKind::Process,
            version: "fake".to_owned(),
            local_kernel: true,
            enforces: Enforces {
                cpus: Known::Value(true),
                memory: Known::Value(true),
                processes: Known::Value(true),
            },
            cpu_source: "fake".to_owned(),
        }
    }

    async fn reserve(&self, role: &RoleSpec, tag: &Tag) -> Result<Group, EngineError> {
        if let Some(Effect::Fail(kind)) = self.called("reserve", &role.role, &tag.part) {
            return Err(failed("reserve", &role.role, kind));
        }
        let mut state = locked(&self.state);
        let id = format!("{}-{}", tag.part, role.role);
        let (mut ports, mut work) = (BTreeMap::new(), BTreeMap::new());
        for (member, wanted) in &role.members {
            work.insert(
                member.clone(),
                PathBuf::from(format!("/fake/{id}/{member}")),
            );
            for port in wanted {
                state.next += 1;
                ports.insert((member.clone(), port.clone()), 20_000 + state.next);
            }
        }
        let group = Group {
            id: id.clone(),
            role: role.role.clone(),
            host: "127.0.0.1".to_owned(),
            ports,
            work,
        };
        let (events, taken) = mpsc::channel(64);
        let made = FakeGroup {
            part: tag.part.clone(),
            spec: role.clone(),
            group: group.clone(),
            events,
            taken: Some(taken),
            members: BTreeMap::new(),
            loads: Vec::new(),
            asked: 0,
        };
        if state.groups.insert(id, made).is_some() {
            return Err(failed("reserve", &role.role, Trouble::Failed));
        }
        Ok(group)
    }

    async fn start(&self, group: &Group, member: &MemberSpec) -> Result<(), EngineError> {
        let effect = self.on("start", group)?;
        let now_ns = self.time.now_ns();
        let silent = match &effect {
            Some(Effect::Silent(after)) => u64::try_from(after.as_nanos()).ok(),
            _ => None,
        };
        let started = Member {
            spec: member.clone(),
            alive: true,
            ended: None,
            oom_kills: 0,
            silent_from_ns: silent.map(|after| now_ns + after),
            never_ends: effect == Some(Effect::NeverEnds),
        };
        if let Some(group) = locked(&self.state).groups.get_mut(&group.id) {
            group.members.insert(member.name.clone(), started);
        }
        match effect {
            Some(Effect::Ends(after, exit)) => self.ends(group, &member.name, after, exit, false),
            Some(Effect::Restarts(after, exit)) => {
                self.ends(group, &member.name, after, exit, true);
            }
            Some(Effect::OutOfMemory(after)) => self.out_of_memory(group, &member.name, after),
            _ => {}
        }
        if member.gated {
            let line = GATE_LINE.as_bytes().to_vec();
            self.send(&group.id, &member.name, MemberChange::Line(line));
        } else if member.env.contains_key(LOAD_NS) {
            self.load(group, member);
        }
        Ok(())
    }

    async fn events(&self, group: &Group) -> Result<mpsc::Receiver<MemberEvent>, EngineError> {
        let mut state = locked(&self.state);
        let taken = state
            .groups
            .get_mut(&group.id)
            .and_then(|group| group.taken.take());
        taken.ok_or_else(|| failed("events", &group.role, Trouble::Failed))
    }

    async fn proceed(&self, group: &Group, member: &MemberName) -> Result<(), EngineError> {
        self.on("proceed", group)?;
        let spec = self.with_member(&group.id, member, |member| member.spec.clone());
        let spec = spec.ok_or_else(|| failed("proceed", &group.role, Trouble::Failed))?;
        self.load(group, &spec);
        Ok(())
    }

    async fn dial(
        &self,
        group: &Group,
        member: &MemberName,
        _port: &PortName,
    ) -> Result<Box<dyn Duplex>, std::io::Error> {
        self.calls
            .note(format!("dial {} {}", group.role, self.part(group)));
        let alive = self.with_member(&group.id, member, |member| member.alive);
        if alive != Some(true) {
            return Err(std::io::ErrorKind::ConnectionRefused.into());
        }
        let (near, far) = tokio::io::duplex(1 << 16);
        tokio::spawn(self.clone().serve(group.id.clone(), member.clone(), far));
        Ok(Box::new(near))
    }

    async fn read(&self, group: &Group) -> Result<RoleReading, EngineError> {
        let effect = self.on("read", group)?;
        let now_ns = self.time.now_ns();
        let state = locked(&self.state);
        let found = state.groups.get(&group.id);
        let found = found.ok_or_else(|| failed("read", &group.role, Trouble::Failed))?;
        let cpu_ns = match effect {
            Some(Effect::Backwards) => 0,
            _ => found.cpu_ns(now_ns),
        };
        let cpu = CpuReading {
            cpu_ns,
            per_cpu_ns: Known::Value(BTreeMap::from([(found.first_cpu(), cpu_ns)])),
            throttled_ns: Known::Value(0),
            source: Source::Fake,
            granularity_ns: 1,
        };
        let members = found.members.iter().map(|(name, member)| MemberReading {
            name: name.clone(),
            alive: member.alive,
            ended: member.ended.map(|exit| exit.to_string()),
            oom_kills: Known::Value(member.oom_kills),
        });
        Ok(RoleReading {
            role: group.role.clone(),
            monotonic_ns: now_ns,
            uncertainty_ns: 0,
            cpu: match effect {
                Some(Effect::NoCounter) => Known::Absent("the test says so".to_owned()),
                _ => Known::Value(cpu),
            },
            memory: Known::Value(MemoryReading {
                anonymous_bytes: 10 << 20,
                shared_bytes: Known::Value(1 << 20),
                kernel_bytes: Known::Value(1 << 20),
                kernel_peak_bytes: Known::Value(16 << 20),
                source: Source::Fake,
            }),
            processes: Known::Value(1),
            run_delay_ns: Known::Value(0),
            members: members.collect(),
        })
    }

    async fn limits(&self, group: &Group) -> Result<EffectiveLimits, EngineError> {
        let effect = self.on("limits", group)?;
        let state = locked(&self.state);
        let found = state.groups.get(&group.id);
        let found = found.ok_or_else(|| failed("limits", &group.role, Trouble::Failed))?;
        let unlimited = || Known::Absent("not limited".to_owned());
        let cpus = match effect {
            Some(Effect::OtherCpus) => CpuSet::of([63]),
            _ => found.spec.cpus.clone(),
        };
        let half = if effect == Some(Effect::OtherLimit) {
            2
        } else {
            1
        };
        let memory = found.spec.budget.memory;
        let processes = found.spec.budget.processes;
        Ok(EffectiveLimits {
            cpus: cpus.map_or_else(unlimited_cpus, Known::Value),
            memory: memory.map_or_else(unlimited_memory, |memory| {
                Known::Value(Bytes(memory.0 / half))
            }),
            processes: processes.map_or_else(unlimited, |count| Known::Value(u64::from(count))),
        })
    }

    async fn execute(
        &self,
        group: &Group,
        command: &[String],
        _within: Duration,
    ) -> Result<Output, EngineError> {
        self.calls.note(format!("command {}", command.join(" ")));
        self.on("execute", group)?;
        Ok(Output {
            exit: Exit::Status(0),
            stdout: Vec::new(),
            stderr: Vec::new(),
        })
    }

    async fn collect(
        &self,
        group: &Group,
        _member: &MemberName,
    ) -> Result<BTreeMap<String, Vec<u8>>, EngineError> {
        self.on("collect", group)?;
        Ok(BTreeMap::from([(RESULT_FILE.to_owned(), b"{}".to_vec())]))
    }

    async fn stop(&self, group: &Group, _logs: &Path) -> Result<(), EngineError> {
        self.on("stop", group)?;
        if let Some(group) = locked(&self.state).groups.get_mut(&group.id) {
            for member in group.members.values_mut() {
                member.alive = false;
            }
        }
        Ok(())
    }

    async fn release(&self, group: Group) -> Result<(), EngineError> {
        self.on("release", &group)?;
        let mut state = locked(&self.state);
        if let Some(gone) = state.groups.remove(&group.id) {
            let used = gone.cpu_ns(self.time.now_ns());
            *state.past.entry(gone.first_cpu()).or_default() += used;
        }
        Ok(())
    }

    async fn leftovers(&self) -> Result<Vec<Leftover>, EngineError> {
        Ok(Vec::new())
    }

    async fn remove(&self, _leftover: &Leftover) -> Result<(), EngineError> {
        Ok(())
    }
}

fn unlimited_cpus() -> Known<CpuSet> {
    Known::Absent("not limited".to_owned())
}

fn unlimited_memory() -> Known<Bytes> {
    Known::Absent("not limited".to_owned())
}
