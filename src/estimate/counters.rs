//! Where counters came from and which limits were read back, over every load window.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Role;
use crate::model::reading::{Edge, EffectiveLimits, Known, Source};
use crate::record::event::Measured;

use super::observed::LimitsSeen;

/// What the edges of all load windows show, window by window.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    roles: BTreeMap<Role, OfRole>,
    /// Every state of a role's limits, with the edges that it was read at.
    limits: Vec<(Role, EffectiveLimits, u64)>,
    /// Steps of the machine's own counters, nanoseconds.
    steps: BTreeSet<u64>,
    /// Whether the use of each CPU was exact.
    exact: BTreeSet<bool>,
    /// Longest reading of the machine, nanoseconds.
    unsure: u64,
    /// Whether the kernel counted any stolen time since boot; of a virtual machine that never did,
    /// it does not say whether there is any.
    pub(super) steal_was_seen: bool,
    /// Answers of all load windows, kept or not.
    pub(super) answered: u64,
}

/// A role's counters.
#[derive(Debug, Clone, Default)]
struct OfRole {
    /// Where CPU time came from, with the smallest step, nanoseconds.
    sources: BTreeSet<(Source, u64)>,
    /// Longest reading, nanoseconds.
    unsure: u64,
}

impl Counters {
    pub(super) fn take(&mut self, measured: &Measured) {
        let answered = measured.account.value().map(|it| it.answered.get());
        self.answered = self.answered.saturating_add(answered.unwrap_or(0));
        for edge in [&measured.before, &measured.after] {
            self.edge(edge);
        }
    }

    fn edge(&mut self, edge: &Edge) {
        for (role, reading) in &edge.roles {
            let of_role = match self.roles.get_mut(role) {
                Some(of_role) => of_role,
                None => self.roles.entry(role.clone()).or_default(),
            };
            of_role.unsure = of_role.unsure.max(reading.uncertainty_ns);
            if let Known::Value(cpu) = &reading.cpu {
                of_role.sources.insert((cpu.source, cpu.granularity_ns));
            }
        }
        for (role, limits) in &edge.limits {
            let mut known = self.limits.iter_mut();
            match known.find(|(whose, state, _)| whose == role && state == limits) {
                Some((_, _, edges)) => *edges += 1,
                None => self.limits.push((role.clone(), limits.clone(), 1)),
            }
        }
        self.steps.insert(edge.host.granularity_ns);
        self.exact
            .insert(edge.host.used_per_cpu_ns.value().is_some());
        self.unsure = self.unsure.max(edge.host.uncertainty_ns);
        self.steal_was_seen |= edge.host.cpus.values().any(|times| times.steal_ns > 0);
    }

    /// Where each role's counters came from, in words.
    pub(super) fn of_roles(&self) -> BTreeMap<Role, String> {
        let known = self.roles.iter().filter(|(_, it)| !it.sources.is_empty());
        let words = |(role, it): (&Role, &OfRole)| {
            let sources: Vec<String> = it.sources.iter().copied().map(shown).collect();
            let words = format!("{}; read within {} ns", sources.join("; "), it.unsure);
            (role.clone(), words)
        };
        known.map(words).collect()
    }

    /// Where the machine's own counters came from, in words.
    pub(super) fn of_machine(&self) -> String {
        if self.steps.is_empty() {
            return "nothing was read".to_owned();
        }
        let used = match (self.exact.contains(&true), self.exact.contains(&false)) {
            (true, false) => "use of each CPU exact",
            (true, true) => "use of each CPU exact in some windows only",
            (false, _) => "use of each CPU by ticks, 5 % of a core unsure",
        };
        let steps: Vec<String> = self.steps.iter().map(|ns| format!("{ns} ns")).collect();
        format!(
            "{used}; steal and softirq from /proc/stat in steps of {}; read within {} ns",
            steps.join(" or "),
            self.unsure
        )
    }

    /// The limits of every role as they were read back at both edges of every window, each state once.
    pub(super) fn limits(&self) -> Vec<LimitsSeen> {
        let mut seen: BTreeMap<LimitsSeen, u64> = BTreeMap::new();
        for (role, limits, edges) in &self.limits {
            *seen.entry(limits_of(role, limits)).or_default() += edges;
        }
        let with_edges = |(state, edges): (LimitsSeen, u64)| LimitsSeen { edges, ..state };
        seen.into_iter().map(with_edges).collect()
    }
}

fn limits_of(role: &Role, limits: &EffectiveLimits) -> LimitsSeen {
    let reasons = [
        limits.cpus.reason(),
        limits.memory.reason(),
        limits.processes.reason(),
    ];
    let reasons: BTreeSet<&String> = reasons.into_iter().flatten().collect();
    LimitsSeen {
        role: role.clone(),
        cpus: limits.cpus.value().map(ToString::to_string),
        memory_bytes: limits.memory.value().map(|it| it.0),
        processes: limits.processes.value().copied(),
        because: reasons.into_iter().cloned().collect(),
        edges: 0,
    }
}

fn shown((source, granularity_ns): (Source, u64)) -> String {
    let source = match source {
        Source::CgroupV1 => "cgroup v1",
        Source::CgroupV2 => "cgroup v2",
        Source::ProcessTree => "the process tree",
        Source::ProcStat => "/proc/stat",
        Source::EngineApi => "the engine's API",
        Source::Schedstat => "schedstat",
        Source::Fake => "a fake",
    };
    format!("{source}, in steps of {granularity_ns} ns")
}
