//! What a fake engine knows of its groups.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::mpsc;

use super::Fault;
use crate::engine::{Exit, Group, MemberEvent, MemberSpec, RoleSpec};
use crate::model::MemberName;

pub(super) struct Load {
    pub(super) began_ns: u64,
    pub(super) length_ns: u64,
    pub(super) cpu_ns: u64,
    pub(super) requests: u64,
}

impl Load {
    pub(super) fn share(&self, of: u64, now_ns: u64) -> u64 {
        let done = now_ns.saturating_sub(self.began_ns).min(self.length_ns);
        let share = u128::from(of) * u128::from(done) / u128::from(self.length_ns.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

pub(super) struct Member {
    pub(super) spec: MemberSpec,
    pub(super) alive: bool,
    pub(super) ended: Option<Exit>,
    pub(super) oom_kills: u64,
    pub(super) silent_from_ns: Option<u64>,
    pub(super) never_ends: bool,
}

pub(super) struct FakeGroup {
    pub(super) part: String,
    pub(super) spec: RoleSpec,
    pub(super) group: Group,
    pub(super) events: mpsc::Sender<MemberEvent>,
    pub(super) taken: Option<mpsc::Receiver<MemberEvent>>,
    pub(super) members: BTreeMap<MemberName, Member>,
    pub(super) loads: Vec<Load>,
    pub(super) asked: u64,
}

impl FakeGroup {
    pub(super) fn cpu_ns(&self, now_ns: u64) -> u64 {
        1_000_000
            + self
                .loads
                .iter()
                .map(|load| load.share(load.cpu_ns, now_ns))
                .sum::<u64>()
    }

    pub(super) fn answered(&self, now_ns: u64) -> u64 {
        let loads = self.loads.iter();
        self.asked
            + loads
                .map(|load| load.share(load.requests, now_ns))
                .sum::<u64>()
    }

    pub(super) fn first_cpu(&self) -> u32 {
        let cpus = self.spec.cpus.as_ref().and_then(|cpus| cpus.iter().next());
        cpus.unwrap_or(0)
    }
}

pub(super) struct State {
    pub(super) groups: BTreeMap<String, FakeGroup>,
    pub(super) faults: VecDeque<Fault>,
    pub(super) next: u16,
    /// CPU time of groups that were released, by CPU.
    pub(super) past: BTreeMap<u32, u64>,
}
