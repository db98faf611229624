//! Which CPUs each role has and what it may use.

use std::collections::BTreeMap;

use super::context::{Context, Fault, texts};
use super::{Machine, wire};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::nearest::did_you_mean;
use crate::manifest::tree::below;
use crate::model::cores::Isolation;
use crate::model::plural::counted;
use crate::model::role::RESERVED_ROLES;
use crate::model::{Budget, CpuSet, Role, ServiceName};

/// The cores and budgets of an experiment.
pub(super) struct Split {
    pub(super) cores: BTreeMap<Role, CpuSet>,
    pub(super) budgets: BTreeMap<Role, Budget>,
}

type WireCores = wire::Named<wire::RoleName, wire::CoreSet>;
type WireBudgets = wire::Named<wire::RoleName, wire::Budget>;

pub(super) fn expand(
    cores: Option<WireCores>,
    budgets: Option<WireBudgets>,
    isolation: Isolation,
    machine: &Machine,
    context: &mut Context<'_>,
) -> Split {
    let budgets: BTreeMap<Role, Budget> = budgets
        .into_iter()
        .flat_map(|budgets| budgets.0)
        .map(|(role, budget)| (role.0, expand_budget(&budget)))
        .collect();
    let cores: BTreeMap<Role, CpuSet> = cores
        .into_iter()
        .flat_map(|cores| cores.0)
        .map(|(role, set)| (role.0, set.0))
        .collect();
    known_roles(cores.keys(), "/cores", context);
    known_roles(budgets.keys(), "/budgets", context);
    given(&cores, machine, context);
    if !machine.share {
        disjoint(&cores, context);
    } else if isolation == Isolation::Strict {
        let message = "`isolation: strict` and a profile that shares cores";
        context.report(Fault::new(
            DiagnosticCode::StrictSharing,
            "/isolation",
            message,
        ));
    }
    let cores = cores
        .into_iter()
        .map(|(role, set)| {
            let wanted = budgets.get(&role).and_then(|budget| budget.cores);
            let set = fitted(&role, set, wanted, context);
            (role, set)
        })
        .collect();
    Split { cores, budgets }
}

fn expand_budget(budget: &wire::Budget) -> Budget {
    Budget {
        cores: budget.cores,
        memory: budget.memory.as_ref().map(|memory| memory.0),
        processes: budget.processes,
        connections: budget.connections,
    }
}

fn known_roles<'r>(
    roles: impl Iterator<Item = &'r Role>,
    pointer: &str,
    context: &mut Context<'_>,
) {
    let services = texts(&context.names.services);
    for role in roles {
        let Role::Service(name) = role else { continue };
        if context.names.services.contains(name) {
            continue;
        }
        let known: Vec<&str> = RESERVED_ROLES
            .into_iter()
            .chain(services.iter().map(String::as_str))
            .collect();
        let help = did_you_mean(name.as_str(), known.iter().copied(), || {
            format!("roles are {}", known.join(", "))
        });
        let message = format!("there is no role `{name}`");
        let fault = Fault::new(
            DiagnosticCode::UnknownRole,
            &below(pointer, name.as_str()),
            message,
        );
        context.report(
            fault
                .on_key()
                .touching(below("/services", name.as_str()))
                .help(help),
        );
    }
}

/// The roles that need CPUs have some.
fn given(cores: &BTreeMap<Role, CpuSet>, machine: &Machine, context: &mut Context<'_>) {
    let is_own = |name: &&ServiceName| !RESERVED_ROLES.contains(&name.as_str());
    let services = context
        .names
        .services
        .iter()
        .filter(is_own)
        .cloned()
        .map(Role::Service);
    let needed: Vec<Role> = [Role::Candidate, Role::Load]
        .into_iter()
        .chain(services)
        .collect();
    for role in needed.iter().filter(|role| !cores.contains_key(role)) {
        let message = format!("nothing says which CPUs the role `{role}` has");
        let fault = Fault::new(DiagnosticCode::NoCores, "/cores", message);
        let help = match machine.known.as_slice() {
            [] => format!("add `{role}` to `cores`"),
            known => format!(
                "add `{role}` to `cores`, or name a profile: {}",
                known.join(", ")
            ),
        };
        context.report(
            fault
                .touching(below("/cores", &role.to_string()))
                .help(help),
        );
    }
}

/// No two roles share a CPU. The probe is driven on the candidate's: the two never run at once.
fn disjoint(cores: &BTreeMap<Role, CpuSet>, context: &mut Context<'_>) {
    let sets: Vec<(&Role, &CpuSet)> = cores.iter().collect();
    for (index, (first, set)) in sets.iter().enumerate() {
        for (second, other) in &sets[index + 1..] {
            let common = CpuSet::of(set.common(other));
            let pair = (*first, *second);
            let by_design = matches!(
                pair,
                (Role::Candidate, Role::Probe) | (Role::Probe, Role::Candidate)
            );
            let Some(common) = common.filter(|_| !by_design) else {
                continue;
            };
            let at = |role: &Role| below("/cores", &role.to_string());
            let message = format!("the roles `{first}` and `{second}` share CPU {common}");
            let fault = Fault::new(DiagnosticCode::CoresOverlap, &at(second), message);
            context.report(fault.label(&at(first), format!("`{first}` has it here")));
        }
    }
}

/// As many CPUs as the budget says: the first ones of the set.
fn fitted(role: &Role, set: CpuSet, wanted: Option<u32>, context: &mut Context<'_>) -> CpuSet {
    let Some(wanted) = wanted.map(|wanted| wanted as usize) else {
        return set;
    };
    let count = set.count();
    if count < wanted {
        let name = role.to_string();
        let budget = below(&below("/budgets", &name), "cores");
        let message = format!(
            "the role `{name}` has {count} of the {} that its budget says",
            counted(wanted as u64, "core", "cores")
        );
        let fault = Fault::new(
            DiagnosticCode::TooFewCores,
            &below("/cores", &name),
            message,
        );
        context.report(fault.label(&budget, "the budget"));
    }
    CpuSet::of(set.iter().take(wanted)).unwrap_or(set)
}
