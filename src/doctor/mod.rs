//! What is wrong with a machine for an experiment: symptoms, the gravest first, each with what was seen.
//!
//! A pure function of what was read and what is wanted; nothing here reads, starts or waits.

mod limits;
mod noise;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measure::host::Signs;
use crate::model::code::Symptom;
use crate::model::cores::{Isolation, Sharing};
use crate::model::{CpuSet, Experiment, Known, LoadPoint, Role};
use crate::plan::Plan;

/// What a symptom does to a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It cannot be made.
    Unfit,
    /// Its numbers are spoilt, or its blocks refused.
    Disturbs,
    /// Its conclusions are weaker.
    Caveat,
}

impl Effect {
    /// The effect of a symptom.
    #[must_use]
    pub const fn of(symptom: Symptom) -> Self {
        match symptom {
            Symptom::CoresMissing
            | Symptom::ProgramMissing
            | Symptom::MemoryTooSmall
            | Symptom::DiskTooSmall
            | Symptom::FilesTooFew
            | Symptom::PortsTooFew
            | Symptom::StrictIsolation => Self::Unfit,
            Symptom::OtherLoad
            | Symptom::StolenTime
            | Symptom::Swapping
            | Symptom::ClockSet
            | Symptom::OnBattery
            | Symptom::Governor
            | Symptom::Interrupts => Self::Disturbs,
            Symptom::GroupsDenied
            | Symptom::SharedSiblings
            | Symptom::RolesShare
            | Symptom::Turbo
            | Symptom::StealHidden
            | Symptom::PortsTight
            | Symptom::FilesTight
            | Symptom::SwapOn
            | Symptom::ClockSource
            | Symptom::Unseen => Self::Caveat,
        }
    }
}

/// A symptom as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sign {
    /// What it is called; `explain` expands it.
    #[schemars(with = "String")]
    pub code: Symptom,
    /// What it does.
    pub effect: Effect,
    /// What was seen, with values and units.
    pub seen: String,
    /// What to do.
    pub remedy: String,
}

/// What an experiment wants of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// CPUs by role.
    pub cores: BTreeMap<Role, CpuSet>,
    /// Whether siblings in two roles are an error.
    pub strict: bool,
    /// Whether roles share CPUs.
    pub shared: bool,
    /// Memory of all budgets, bytes; 0: none is said.
    pub memory_bytes: u64,
    /// Most connections at once.
    pub connections: u64,
    /// The highest rate, requests per second; 0: a closed loop only.
    pub rate: u64,
    /// The plan's estimate of the draft, bytes.
    pub disk_bytes: u64,
}

impl Wanted {
    /// What an experiment wants.
    #[must_use]
    pub fn of(experiment: &Experiment, plan: &Plan) -> Self {
        let measurements = || plan.blocks.iter().flat_map(|block| &block.measurements);
        let budgets = experiment.budgets.values();
        Self {
            cores: experiment.cores.clone(),
            strict: experiment.isolation == Isolation::Strict,
            shared: experiment.sharing != Sharing::Disjoint,
            memory_bytes: budgets
                .filter_map(|budget| budget.memory)
                .map(|memory| memory.0)
                .sum(),
            connections: measurements()
                .map(|it| u64::from(it.connections))
                .max()
                .unwrap_or(0),
            rate: measurements()
                .filter_map(|it| match it.id.at {
                    LoadPoint::Rate(rate) => Some(rate.get()),
                    LoadPoint::Connections(_) => None,
                })
                .max()
                .unwrap_or(0),
            disk_bytes: plan.totals.whole_disk_bytes(),
        }
    }

    /// The CPUs of a role; without a file, all of them.
    fn of_role(&self, role: &Role, signs: &Signs) -> CpuSet {
        let named = self.cores.get(role).cloned();
        named.unwrap_or_else(|| signs.facts.online.clone())
    }

    /// The CPUs of all roles; without a file, all of them.
    fn all(&self, signs: &Signs) -> CpuSet {
        let all = CpuSet::of(self.cores.values().flat_map(CpuSet::iter));
        all.unwrap_or_else(|| signs.facts.online.clone())
    }
}

/// A program that is missing, in words: who needs it, and why it is not there.
pub type Missing = String;

/// Everything that is known.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// What was read.
    pub signs: &'a Signs,
    /// What is wanted.
    pub wanted: &'a Wanted,
    /// Programs that are missing.
    pub missing: &'a [Missing],
    /// Space on the disk that drafts go to, bytes.
    pub disk_bytes: &'a Known<u64>,
}

/// Every symptom, the gravest first.
#[must_use]
pub fn examine(case: &Case<'_>) -> Vec<Sign> {
    let mut seen = limits::symptoms(case);
    seen.extend(noise::symptoms(case));
    seen.sort_by_key(|(code, _)| *code);
    seen.into_iter()
        .map(|(code, seen)| Sign {
            code,
            effect: Effect::of(code),
            seen,
            remedy: code.explain().remedy.to_owned(),
        })
        .collect()
}

/// A symptom with what was seen.
type Seen = (Symptom, String);

#[cfg(test)]
mod tests;
