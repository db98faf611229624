//! What a fake engine knows of its groups.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::mpsc;

use super::{Effect, Fault};
use crate::engine::{Exit, Group, Leftover, MemberEvent, MemberSpec, RoleSpec};
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
    /// CPU time for each request; absent: what a member of its kind uses.
    pub(super) uses_ns: Option<u64>,
    pub(super) processes: u64,
    pub(super) throttled_from_ns: Option<u64>,
    pub(super) anew_from_ns: Option<u64>,
}

impl Member {
    /// A member as it is when it starts under an effect.
    pub(super) fn started(spec: &MemberSpec, now_ns: u64, effect: Option<&Effect>) -> Self {
        let later = |after: &Duration| now_ns + u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        let mut member = Self {
            spec: spec.clone(),
            alive: true,
            ended: None,
            oom_kills: 0,
            silent_from_ns: None,
            never_ends: false,
            uses_ns: None,
            processes: 1,
            throttled_from_ns: None,
            anew_from_ns: None,
        };
        match effect {
            Some(Effect::Silent(after)) => member.silent_from_ns = Some(later(after)),
            Some(Effect::NeverEnds) => member.never_ends = true,
            Some(Effect::Uses(cpu_ns)) => member.uses_ns = Some(*cpu_ns),
            Some(Effect::Forks(processes)) => member.processes = *processes,
            Some(Effect::CountsAnew(after)) => member.anew_from_ns = Some(later(after)),
            Some(Effect::Throttled(after)) => member.throttled_from_ns = Some(later(after)),
            _ => {}
        }
        member
    }
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

    /// What the group's counter shows: its CPU time, or what it used since it began anew.
    pub(super) fn counted_ns(&self, now_ns: u64) -> u64 {
        let mut members = self.members.values();
        let anew = members.find_map(|member| member.anew_from_ns.filter(|from| *from <= now_ns));
        let before = anew.map_or(0, |from| self.cpu_ns(from));
        self.cpu_ns(now_ns) - before
    }

    /// CPU time for each request of whichever member says so, nanoseconds.
    pub(super) fn uses_ns(&self) -> Option<u64> {
        self.members.values().find_map(|member| member.uses_ns)
    }

    pub(super) fn processes(&self) -> u64 {
        self.members.values().map(|member| member.processes).sum()
    }

    pub(super) fn throttled_ns(&self, now_ns: u64) -> u64 {
        let members = self.members.values();
        let since = members.filter_map(|member| now_ns.checked_sub(member.throttled_from_ns?));
        since.map(|since| since / 2).sum()
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
    pub(super) leftovers: Vec<Leftover>,
    /// CPU time of groups that were released, by CPU.
    pub(super) past: BTreeMap<u32, u64>,
}
