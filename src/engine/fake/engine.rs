//! The engine's own functions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;

use super::group::{FakeGroup, Member};
use super::{Effect, FakeEngine, GATE_LINE, LOAD_NS, RESULT_FILE, failed, locked};
use crate::engine::{
    Duplex, Engine, EngineError, Exit, Group, Leftover, MemberChange, MemberEvent, MemberSpec,
    Output, RoleSpec, Tag, Trouble,
};
use crate::model::facts::{Enforces, EngineFacts};
use crate::model::reading::{CpuReading, EffectiveLimits, MemberReading, MemoryReading};
use crate::model::{Bytes, CpuSet, EngineKind, Known, MemberName, PortName, RoleReading, Source};

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
        let started = Member::started(member, now_ns, effect.as_ref());
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
            _ => found.counted_ns(now_ns),
        };
        let cpu = CpuReading {
            cpu_ns,
            per_cpu_ns: Known::Value(BTreeMap::from([(found.first_cpu(), cpu_ns)])),
            throttled_ns: Known::Value(found.throttled_ns(now_ns)),
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
            processes: Known::Value(found.processes()),
            refused_processes: Known::Value(0),
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
        Ok(locked(&self.state).leftovers.clone())
    }

    async fn remove(&self, leftover: &Leftover) -> Result<(), EngineError> {
        let left = &mut locked(&self.state).leftovers;
        let position = left.iter().position(|left| left == leftover);
        let position = position.ok_or_else(|| EngineError {
            operation: "remove",
            object: format!("leftover of `{}`", leftover.entry),
            because: "it is no leftover".to_owned(),
            kind: Trouble::Failed,
        })?;
        left.remove(position);
        Ok(())
    }
}

fn unlimited_cpus() -> Known<CpuSet> {
    Known::Absent("not limited".to_owned())
}

fn unlimited_memory() -> Known<Bytes> {
    Known::Absent("not limited".to_owned())
}
