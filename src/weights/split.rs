//! Which CPUs the experiment uses.

use std::collections::BTreeMap;

use crate::model::{CpuSet, Known};

/// One CPU for the candidate, one for the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The candidate's.
    pub candidate: CpuSet,
    /// The load's.
    pub load: CpuSet,
    /// What weakens it, in words; absent: nothing.
    pub caveat: Option<String>,
}

/// The last CPU for the candidate, since interrupts go to the first ones, and another core for the load.
/// Absent: there are not two CPUs among the `allowed` ones.
#[must_use]
pub fn split(
    online: &CpuSet,
    siblings: &Known<BTreeMap<u32, CpuSet>>,
    allowed: &CpuSet,
) -> Option<Split> {
    let usable: Vec<u32> = online.iter().filter(|cpu| allowed.contains(*cpu)).collect();
    let candidate = *usable.last()?;
    let others = usable.iter().rev().skip(1).copied();
    let of_candidate = siblings.value().and_then(|all| all.get(&candidate));
    let is_sibling = |cpu: &u32| of_candidate.is_some_and(|siblings| siblings.contains(*cpu));
    let apart = others.clone().find(|cpu| !is_sibling(cpu));
    let load = apart.or_else(|| others.clone().next())?;
    let caveat = match siblings {
        Known::Absent(because) => Some(format!("hyper-thread siblings are not known: {because}")),
        Known::Value(_) if apart.is_none() => Some(format!(
            "CPU {load} of the load is a hyper-thread sibling of the candidate's CPU {candidate}"
        )),
        Known::Value(_) => None,
    };
    Some(Split {
        candidate: CpuSet::of([candidate])?,
        load: CpuSet::of([load])?,
        caveat,
    })
}
