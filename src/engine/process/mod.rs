//! The process engine: members are local processes, in cgroups of their own where that is permitted.
//!
//! With cgroups (version 1 or 2, found for each controller) nothing leaves a group but a root process that
//! moves itself out. Without them a gate stays above every member and adopts whatever it forks; what
//! escapes is what kills its gate. Limits that cannot be enforced are named by [`Engine::describe`].

mod cgroup;
mod command;
pub mod gate;
mod group;
mod kill;
mod launch;
mod leftovers;
mod limits;
pub mod lock;
mod member;
mod outside;
mod port;
mod reading;
mod reserve;
mod settings;
mod state;
mod stop;
mod tree;
mod user;
mod work;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;

pub use lock::{CoreLock, Refused};
pub use settings::ProcessSettings;
pub use state::default_state_folder;

use self::cgroup::Places;
use self::group::Running;
use self::launch::Refusal;
use self::port::Ports;
use self::reserve::{group_name, plain};
use self::state::Identity;
use super::{
    Duplex, Engine, EngineError, Group, Leftover, MemberEvent, MemberSpec, Output, RoleSpec, Tag,
    Trouble,
};
use crate::measure::cgroup::{Controllers, Version};
use crate::model::facts::{Enforces, EngineFacts};
use crate::model::name::{MemberName, PortName};
use crate::model::reading::EffectiveLimits;
use crate::model::{EngineKind, Known, RoleReading};

/// The address that members listen on.
const HOST: &str = "127.0.0.1";

/// The engine of local processes.
pub struct ProcessEngine {
    settings: ProcessSettings,
    places: Places,
    owner: Identity,
    boot: String,
    ports: Ports,
    groups: Mutex<BTreeMap<String, Arc<Running>>>,
}

impl ProcessEngine {
    /// An engine; finds out what it may do and makes loadlab's own, empty cgroups.
    ///
    /// # Errors
    /// [`Trouble::Unfit`] when the folder for records cannot be made or `/proc` cannot be read.
    pub fn new(settings: ProcessSettings) -> Result<Self, EngineError> {
        let unfit = |object: String, because: String| EngineError {
            operation: "prepare",
            object,
            because,
            kind: Trouble::Unfit,
        };
        state::make_folder(&settings.state).map_err(|error| {
            unfit(
                format!("the folder `{}`", settings.state.display()),
                error.to_string(),
            )
        })?;
        let owner = Identity::own()
            .map_err(|error| unfit("the process engine".to_owned(), error.to_string()))?;
        let places = match Controllers::detect() {
            _ if !settings.cgroups => Places::none("cgroups are switched off"),
            Ok(controllers) => Places::make(&controllers),
            Err(error) => Places::none(&error.to_string()),
        };
        Ok(Self {
            settings,
            places,
            owner,
            boot: state::boot_id(),
            ports: Ports::default(),
            groups: Mutex::default(),
        })
    }

    fn find(&self, group: &Group, operation: &'static str) -> Result<Arc<Running>, EngineError> {
        let groups = self.groups.lock().expect("no holder panics");
        groups.get(&group.id).cloned().ok_or_else(|| {
            failed(operation, format!("group `{}`", group.id))("this engine has no such group")
        })
    }
}

fn failed<E: std::fmt::Display>(
    operation: &'static str,
    object: String,
) -> impl FnOnce(E) -> EngineError {
    move |because| EngineError {
        operation,
        object,
        because: because.to_string(),
        kind: Trouble::Failed,
    }
}

/// The same for what writes files: a disk that takes no more is no fault of a block.
fn unwritten(operation: &'static str, object: String) -> impl FnOnce(io::Error) -> EngineError {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    move |because| {
        let full = [StorageFull, ReadOnlyFilesystem, QuotaExceeded].contains(&because.kind());
        EngineError {
            kind: if full {
                Trouble::Storage
            } else {
                Trouble::Failed
            },
            ..failed(operation, object)(because)
        }
    }
}

fn refused(operation: &'static str, object: String) -> impl FnOnce(Refusal) -> EngineError {
    move |refusal| EngineError {
        operation,
        object,
        because: refusal.because,
        kind: refusal.kind,
    }
}

#[async_trait]
impl Engine for ProcessEngine {
    fn describe(&self) -> EngineFacts {
        let enforced = |controller: &str| {
            self.places
                .refusal(controller)
                .map_or(Known::Value(true), Known::Absent)
        };
        let folders = self.places.folders("entry", "group");
        let cpu_source = match folders.cpu_time() {
            Some((Version::V1, _)) => "cgroup v1 cpuacct.usage, 1 ns".to_owned(),
            Some((Version::V2, _)) => "cgroup v2 cpu.stat, 1 us".to_owned(),
            None => format!(
                "process tree, {} ms a process",
                crate::measure::process::ticks_ns(1) / 1_000_000
            ),
        };
        EngineFacts {
            kind: EngineKind::Process,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            local_kernel: true,
            enforces: Enforces {
                cpus: enforced("cpuset"),
                memory: enforced("memory"),
                processes: enforced("pids"),
            },
            cpu_source,
        }
    }

    async fn reserve(&self, role: &RoleSpec, tag: &Tag) -> Result<Group, EngineError> {
        let id = format!("{}/{}", tag.entry, group_name(role, tag));
        let object = || format!("group `{}`", id.escape_debug());
        if !plain(&tag.entry) || !plain(&tag.part) {
            return Err(failed("reserve", object())("its name cannot be a folder's"));
        }
        let mut ports = BTreeMap::new();
        for (member, names) in &role.members {
            for name in names {
                let port = self.ports.give();
                let port = port
                    .ok_or("no port is free")
                    .map_err(failed("reserve", object()))?;
                ports.insert((member.clone(), name.clone()), port);
            }
        }
        let running = self.make(role, tag).await.map_err(|error| {
            let error = unwritten("reserve", object())(error);
            let kind = match error.kind {
                Trouble::Storage => Trouble::Storage,
                _ => Trouble::Unfit,
            };
            EngineError { kind, ..error }
        })?;
        let work = role
            .members
            .iter()
            .map(|(name, _)| (name.clone(), running.work.of(name)));
        let group = Group {
            role: role.role.clone(),
            host: HOST.to_owned(),
            ports,
            work: work.collect(),
            id,
        };
        let mut groups = self.groups.lock().expect("no holder panics");
        groups.insert(group.id.clone(), Arc::new(running));
        Ok(group)
    }

    async fn start(&self, group: &Group, member: &MemberSpec) -> Result<(), EngineError> {
        let running = self.find(group, "start")?;
        let object = format!("member `{}` of {}", member.name, group.role);
        member::start(&running, &self.settings.gate_program, member)
            .await
            .map_err(refused("start", object))
    }

    async fn events(&self, group: &Group) -> Result<mpsc::Receiver<MemberEvent>, EngineError> {
        let taken = self.find(group, "watch")?.take_events();
        taken.ok_or_else(|| {
            failed("watch", format!("group `{}`", group.id))("its events were taken already")
        })
    }

    async fn proceed(&self, group: &Group, member: &MemberName) -> Result<(), EngineError> {
        let object = || format!("member `{member}` of {}", group.role);
        let running = self.find(group, "let go")?;
        let input = running
            .members()
            .get_mut(member)
            .and_then(|member| member.input.take());
        let mut input = input
            .ok_or("it does not wait at its standard input")
            .map_err(failed("let go", object()))?;
        input.write_all(b"\n").map_err(failed("let go", object()))
    }

    async fn dial(
        &self,
        group: &Group,
        member: &MemberName,
        port: &PortName,
    ) -> Result<Box<dyn Duplex>, io::Error> {
        let number = group
            .ports
            .get(&(member.clone(), port.clone()))
            .ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::NotFound,
                    format!("member `{member}` of {} has no port `{port}`", group.role),
                )
            })?;
        let stream = tokio::net::TcpStream::connect((group.host.as_str(), *number)).await?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }

    async fn read(&self, group: &Group) -> Result<RoleReading, EngineError> {
        Ok(reading::read(&*self.find(group, "read")?))
    }

    async fn outside_ns(&self, group: &Group) -> Result<Known<u64>, EngineError> {
        let running = self.find(group, "look for what left")?;
        Ok(Known::Value(outside::cpu_ns(&running)))
    }

    async fn limits(&self, group: &Group) -> Result<EffectiveLimits, EngineError> {
        Ok(reading::limits(&*self.find(group, "read the limits of")?))
    }

    async fn execute(
        &self,
        group: &Group,
        command: &[String],
        within: Duration,
    ) -> Result<Output, EngineError> {
        let running = self.find(group, "execute a command in")?;
        let program = command.first().map_or("", String::as_str);
        let object = format!(
            "`{}` in the group of {}",
            program.escape_debug(),
            group.role
        );
        command::execute(&running, &self.settings.gate_program, command, within)
            .await
            .map_err(refused("execute", object))
    }

    async fn collect(
        &self,
        group: &Group,
        member: &MemberName,
    ) -> Result<BTreeMap<String, Vec<u8>>, EngineError> {
        let running = self.find(group, "collect outputs of")?;
        let outputs = running
            .members()
            .get(member)
            .map(|member| member.outputs.clone());
        let object = format!("outputs of member `{member}` of {}", group.role);
        running
            .work
            .collect(member, &outputs.unwrap_or_default())
            .map_err(failed("collect", object))
    }

    async fn stop(&self, group: &Group, logs: &Path) -> Result<(), EngineError> {
        let running = self.find(group, "stop")?;
        let object = || format!("group `{}`", group.id);
        stop::stop(&running)
            .await
            .map_err(failed("stop", object()))?;
        stop::move_logs(&running, logs).map_err(unwritten("keep the logs of", object()))
    }

    async fn release(&self, group: Group) -> Result<(), EngineError> {
        let running = self.find(&group, "release")?;
        let object = || format!("group `{}`", group.id);
        stop::stop(&running)
            .await
            .map_err(failed("release", object()))?;
        kill::remove(&running.folders.all())
            .await
            .map_err(failed("release", object()))?;
        running.work.remove().map_err(failed("release", object()))?;
        std::fs::remove_file(running.record_path()).map_err(failed("release", object()))?;
        self.groups
            .lock()
            .expect("no holder panics")
            .remove(&group.id);
        Ok(())
    }

    async fn leftovers(&self) -> Result<Vec<Leftover>, EngineError> {
        Ok(leftovers::find(&self.settings.state))
    }

    async fn remove(&self, leftover: &Leftover) -> Result<(), EngineError> {
        leftovers::remove(&self.settings.state, Path::new(&leftover.handle))
            .await
            .map_err(failed(
                "remove",
                format!("leftover of `{}`", leftover.entry.escape_debug()),
            ))
    }
}
