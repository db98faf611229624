//! A group while it runs: its members, what happened to them, its record on disk.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ChildStdin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::cgroup::GroupFolders;
use super::state::{GroupState, Identity};
use super::work::WorkFolder;
use crate::engine::{Exit, MemberChange, MemberEvent, RoleSpec};
use crate::measure::cgroup::{Version, v1, v2};
use crate::measure::clock;
use crate::model::Known;
use crate::model::name::MemberName;

/// How many events wait for a reader.
const EVENTS: usize = 1024;

/// How many of them are kept free of lines, which are in the log anyway, for ends and kills.
const NO_LINES: usize = 64;

/// How often kills for want of memory are looked for.
const OOM_PERIOD: Duration = Duration::from_millis(250);

/// How far a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Its program runs.
    Running,
    /// Its program ended; where a gate stays, others of its tree may live.
    Ended(Exit),
    /// Nothing of it is left to wait for.
    Gone(Exit),
}

/// A member that was started.
pub(super) struct Member {
    /// The child of loadlab.
    pub(super) identity: Identity,
    /// The program's own number.
    pub(super) program: i32,
    /// From SIGTERM until SIGKILL.
    pub(super) grace: Duration,
    /// Files that are results.
    pub(super) outputs: Vec<String>,
    /// Standard input of a gated member that was not let go yet.
    pub(super) input: Option<ChildStdin>,
    /// How far it is.
    pub(super) progress: watch::Receiver<Progress>,
    /// Reads its standard error.
    pub(super) pump: JoinHandle<()>,
}

/// A group that was reserved.
pub(super) struct Running {
    /// What it was reserved for.
    pub(super) spec: RoleSpec,
    /// Its cgroups; empty where there are none.
    pub(super) folders: GroupFolders,
    /// Its folder.
    pub(super) work: WorkFolder,
    /// Whether gates stay above the programs: without cgroups.
    pub(super) stay: bool,
    /// CPU time of trees that are gone, ticks.
    pub(super) retired_ticks: AtomicU64,
    members: Mutex<BTreeMap<MemberName, Member>>,
    record: Mutex<(PathBuf, GroupState)>,
    events: mpsc::Sender<MemberEvent>,
    taken: Mutex<Option<mpsc::Receiver<MemberEvent>>>,
    oom_seen: Mutex<BTreeMap<MemberName, u64>>,
    oom_watch: Mutex<Option<JoinHandle<()>>>,
    commands: AtomicU64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder panics")
}

impl Running {
    /// A group without members yet.
    pub(super) fn new(
        spec: RoleSpec,
        folders: GroupFolders,
        work: WorkFolder,
        record: (PathBuf, GroupState),
    ) -> Self {
        let (events, taken) = mpsc::channel(EVENTS);
        Self {
            stay: folders.listing().is_none() || folders.cpu_time().is_none(),
            spec,
            folders,
            work,
            retired_ticks: AtomicU64::new(0),
            members: Mutex::default(),
            record: Mutex::new(record),
            events,
            taken: Mutex::new(Some(taken)),
            oom_seen: Mutex::default(),
            oom_watch: Mutex::default(),
            commands: AtomicU64::new(0),
        }
    }

    /// The members that were started. Never held across a wait.
    pub(super) fn members(&self) -> MutexGuard<'_, BTreeMap<MemberName, Member>> {
        locked(&self.members)
    }

    /// The events; absent the second time.
    pub(super) fn take_events(&self) -> Option<mpsc::Receiver<MemberEvent>> {
        locked(&self.taken).take()
    }

    /// The number of the next command, for the names of its files.
    pub(super) fn next_command(&self) -> u64 {
        self.commands.fetch_add(1, Ordering::Relaxed)
    }

    /// Puts a member's identity on disk.
    pub(super) fn identify(&self, name: &MemberName, identity: Identity) -> io::Result<()> {
        let mut record = locked(&self.record);
        record.1.members.insert(name.clone(), Some(identity));
        record.1.write(&record.0)
    }

    /// Where the group's record is.
    pub(super) fn record_path(&self) -> PathBuf {
        locked(&self.record).0.clone()
    }

    fn event(member: &MemberName, what: MemberChange) -> MemberEvent {
        MemberEvent {
            member: member.clone(),
            monotonic_ns: clock::monotonic_ns(),
            what,
        }
    }

    /// Tells of a line, unless nobody reads and too much waits already.
    pub(super) fn tell_line(&self, member: &MemberName, line: Vec<u8>) {
        if self.events.capacity() <= NO_LINES {
            return;
        }
        drop(
            self.events
                .try_send(Self::event(member, MemberChange::Line(line))),
        );
    }

    /// Tells of an end, and before it of kills that nobody saw yet.
    pub(super) async fn tell_exit(&self, member: &MemberName, exit: Exit) {
        self.tell_kills(member).await;
        drop(
            self.events
                .send(Self::event(member, MemberChange::Exited(exit)))
                .await,
        );
    }

    /// Tells of kills for want of memory that were not told yet.
    pub(super) async fn tell_kills(&self, member: &MemberName) {
        let Known::Value(kills) = self.oom_kills(member) else {
            return;
        };
        let fresh = {
            let mut seen = locked(&self.oom_seen);
            let seen = seen.entry(member.clone()).or_default();
            std::mem::replace(seen, kills) < kills
        };
        if fresh {
            drop(
                self.events
                    .send(Self::event(member, MemberChange::OutOfMemory))
                    .await,
            );
        }
    }

    /// Kills for want of memory of a member so far.
    pub(super) fn oom_kills(&self, member: &MemberName) -> Known<u64> {
        match self.folders.member(member) {
            Some((Version::V1, folder)) => v1::oom_kills(&folder),
            Some((Version::V2, folder)) => v2::oom_kills(&folder),
            None => Known::Absent("no `memory` cgroup holds the member".to_owned()),
        }
    }

    /// Keeps looking for kills for want of memory, once for the whole group.
    pub(super) fn watch_memory(self: &std::sync::Arc<Self>) {
        let mut watch = locked(&self.oom_watch);
        if watch.is_some() || self.folders.of("memory").is_none() {
            return;
        }
        let group = std::sync::Arc::downgrade(self);
        *watch = Some(tokio::spawn(async move {
            loop {
                tokio::time::sleep(OOM_PERIOD).await;
                let Some(group) = group.upgrade() else {
                    return;
                };
                for (name, _) in &group.spec.members {
                    group.tell_kills(name).await;
                }
            }
        }));
    }

    /// Ends what looks after the group.
    pub(super) fn stop_watching(&self) {
        if let Some(watch) = locked(&self.oom_watch).take() {
            watch.abort();
        }
    }
}
