//! What runs: candidates and services.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::context::{Context, Fault, texts};
use super::member::{Shared, http_port, main_member, members, pattern};
use super::placeholders::Scope;
use super::steps::{longer_than_nothing, steps};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::candidate::{
    Candidate, Definition, Departure, Endpoint, Lifetime, Ready, Service, Witness,
};
use crate::model::name::{CandidateName, MemberName, PortName, ServiceName};
use crate::model::role::RESERVED_ROLES;
use crate::model::{Budget, EngineKind, Nanoseconds, Role};

type Budgets = BTreeMap<Role, Budget>;
type Values = wire::Named<wire::ValueKey, wire::PlainValue>;
type Env = wire::Named<wire::EnvName, wire::PlainValue>;

/// The parts of a definition as they are written, the same for candidates and services.
struct Parts {
    run: Option<wire::Run>,
    env: Option<Env>,
    values: Option<Values>,
    ready: Option<wire::Ready>,
    endpoint: Option<wire::Endpoint>,
    prewarm: Option<Vec<wire::PrewarmStep>>,
    departures: Option<Vec<wire::Departure>>,
    witness: Option<wire::Witness>,
}

/// Whose definition it is.
struct Owner<'a> {
    pointer: String,
    /// ``candidate `go` ``.
    shown: String,
    role: Role,
    budgets: &'a Budgets,
    services: &'a [ServiceName],
}

pub(super) fn candidates(
    wire: wire::Named<wire::Name<CandidateName>, wire::Candidate>,
    budgets: &Budgets,
    context: &mut Context<'_>,
) -> IndexMap<CandidateName, Candidate> {
    let services = context.names.services.clone();
    let mut candidates = IndexMap::new();
    for (wire::Name(name), candidate) in wire.0 {
        let owner = Owner {
            pointer: below("/candidates", name.as_str()),
            shown: format!("candidate `{name}`"),
            role: Role::Candidate,
            budgets,
            services: &services,
        };
        let parts = Parts {
            run: candidate.run,
            env: candidate.env,
            values: candidate.values,
            ready: candidate.ready,
            endpoint: candidate.endpoint,
            prewarm: candidate.prewarm,
            departures: candidate.departures,
            witness: candidate.witness,
        };
        let definition = definition(parts, &owner, context);
        let title = candidate.title.unwrap_or_else(|| name.to_string());
        candidates.insert(
            name.clone(),
            Candidate {
                name,
                title,
                definition,
            },
        );
    }
    candidates
}

pub(super) fn services(
    wire: Option<wire::Named<wire::Name<ServiceName>, wire::Service>>,
    budgets: &Budgets,
    context: &mut Context<'_>,
) -> IndexMap<ServiceName, Service> {
    let all = context.names.services.clone();
    let mut services = IndexMap::new();
    for (wire::Name(name), service) in wire.into_iter().flat_map(|services| services.0) {
        let pointer = below("/services", name.as_str());
        if RESERVED_ROLES.contains(&name.as_str()) {
            let message = format!("a service cannot be called `{name}`: that role always exists");
            context.report(Fault::new(DiagnosticCode::ReservedName, &pointer, message).on_key());
        }
        let owner = Owner {
            pointer,
            shown: format!("service `{name}`"),
            role: Role::Service(name.clone()),
            budgets,
            services: &all[..services.len().min(all.len())],
        };
        let parts = Parts {
            run: Some(service.run),
            env: service.env,
            values: service.values,
            ready: service.ready,
            endpoint: service.endpoint,
            prewarm: service.prewarm,
            departures: service.departures,
            witness: None,
        };
        let definition = definition(parts, &owner, context);
        let title = service.title.unwrap_or_else(|| name.to_string());
        let lifetime = match service.lifetime {
            Some(wire::Lifetime::Run) => Lifetime::Run,
            Some(wire::Lifetime::Block) | None => Lifetime::Block,
        };
        services.insert(
            name.clone(),
            Service {
                name,
                title,
                lifetime,
                definition,
            },
        );
    }
    services
}

/// Values are put in as they are written: a placeholder in one would never get its value.
fn plain_values(values: &BTreeMap<String, String>, owner: &Owner<'_>, context: &mut Context<'_>) {
    let values_at = below(&owner.pointer, "values");
    for (name, value) in values {
        let Some(start) = value.find("{{") else {
            continue;
        };
        let end = value[start..].find("}}");
        let end = end.map_or(value.len(), |length| start + length + 2);
        let placeholder = &value[start..end];
        let message =
            format!("the value `{name}` holds `{placeholder}`, which is not rendered in a value");
        let help = format!(
            "a value is put in as it is written: write `{placeholder}` beside `{{{{ value.{name} }}}}` in the \
             command or the rendered file, or in its stead"
        );
        let at = below(&values_at, name);
        let fault = Fault::new(DiagnosticCode::PlaceholderInValue, &at, message);
        context.report(fault.part(start, end).help(help));
    }
}

fn definition(parts: Parts, owner: &Owner<'_>, context: &mut Context<'_>) -> Definition {
    let values: BTreeMap<String, String> = parts
        .values
        .into_iter()
        .flat_map(|values| values.0)
        .map(|(name, value)| (name.0, value.0))
        .collect();
    plain_values(&values, owner, context);
    let written = members(parts.run, &owner.pointer, &owner.shown, context);
    let outline: Vec<(MemberName, Vec<PortName>)> = written
        .iter()
        .map(|(name, member)| (name.clone(), member.ports()))
        .collect();
    let mut scope = Scope {
        owner: owner.shown.clone(),
        ports: None,
        members: &outline,
        values: &values,
        values_at: below(&owner.pointer, "values"),
        budget: owner.budgets.get(&owner.role),
        role: owner.role.to_string(),
        services: owner.services,
    };
    let shared = shared_env(parts.env.as_ref(), owner);
    let mut members = IndexMap::new();
    for ((name, member), (_, ports)) in written.into_iter().zip(&outline) {
        scope.ports = Some(ports);
        members.insert(name, member.expand(&shared, &scope, context));
    }
    let endpoint = endpoint(parts.endpoint.as_ref(), &outline, owner, context);
    let listening = outline.iter().find(|(name, _)| *name == endpoint.member);
    scope.ports = listening.map(|(_, ports)| ports.as_slice());
    let prewarm = steps(
        parts.prewarm,
        &below(&owner.pointer, "prewarm"),
        &scope,
        context,
    );
    let ready = ready(parts.ready, owner, context);
    let witness = parts.witness.map(|rule| witness(rule, owner, context));
    Definition {
        engine: EngineKind::Process,
        members,
        endpoint,
        values,
        ready,
        prewarm,
        departures: parts
            .departures
            .into_iter()
            .flatten()
            .map(departure)
            .collect(),
        witness,
    }
}

/// A role's environment, with the place of each entry.
fn shared_env(env: Option<&Env>, owner: &Owner<'_>) -> Vec<Shared> {
    let at = below(&owner.pointer, "env");
    let entries = env.into_iter().flat_map(|env| &env.0);
    entries
        .map(|(name, value)| (name.0.clone(), value.0.clone(), below(&at, &name.0)))
        .collect()
}

fn endpoint(
    wire: Option<&wire::Endpoint>,
    outline: &[(MemberName, Vec<PortName>)],
    owner: &Owner<'_>,
    context: &mut Context<'_>,
) -> Endpoint {
    let at = below(&owner.pointer, "endpoint");
    let named = wire
        .and_then(|wire| wire.member.as_ref())
        .map(|name| &name.0);
    let member = match named {
        Some(name) => outline.iter().find(|(member, _)| member == name),
        None => outline.iter().find(|(_, ports)| !ports.is_empty()),
    };
    let fallback = Endpoint {
        member: main_member(),
        port: http_port(),
    };
    let Some((member, ports)) = member else {
        if let Some(name) = named {
            let known: Vec<MemberName> = outline.iter().map(|(name, _)| name.clone()).collect();
            let among = below(&below(&owner.pointer, "run"), "members");
            context.unknown(
                &below(&at, "member"),
                "member",
                name.as_str(),
                &texts(&known),
                &among,
            );
        } else if !outline.is_empty() {
            no_port(owner, context);
        }
        return fallback;
    };
    let port = match wire.and_then(|wire| wire.port.as_ref()) {
        Some(port) if !ports.contains(&port.0) => {
            let pointer = below(&at, "port");
            context.unknown(
                &pointer,
                "port",
                port.0.as_str(),
                &texts(ports),
                &owner.pointer,
            );
            None
        }
        Some(port) => Some(port.0.clone()),
        None => ports.first().cloned(),
    };
    if ports.is_empty() {
        no_port(owner, context);
    }
    Endpoint {
        member: member.clone(),
        port: port.unwrap_or_else(http_port),
    }
}

fn no_port(owner: &Owner<'_>, context: &mut Context<'_>) {
    let message = format!("{} has no port that requests could go to", owner.shown);
    let fault = Fault::new(DiagnosticCode::NoPort, &owner.pointer, message).on_key();
    context.report(fault.touching(below(&owner.pointer, "run")));
}

fn ready(wire: Option<wire::Ready>, owner: &Owner<'_>, context: &mut Context<'_>) -> Ready {
    let usual = Nanoseconds::seconds(10);
    let longest = |within: Option<wire::Duration>| within.map_or(usual, |within| within.0);
    let ready = match wire {
        None => return Ready::Tcp { within: usual },
        Some(wire::Ready::Tcp { within }) => Ready::Tcp {
            within: longest(within),
        },
        Some(wire::Ready::Http {
            path,
            status,
            within,
        }) => Ready::Http {
            path,
            status: status.unwrap_or(200),
            within: longest(within),
        },
    };
    let at = below(&below(&owner.pointer, "ready"), "within");
    longer_than_nothing(ready.within(), "the longest wait", &at, context);
    ready
}

fn witness(rule: wire::Witness, owner: &Owner<'_>, context: &mut Context<'_>) -> Witness {
    match rule {
        wire::Witness::Stub {} => Witness::Stub,
        wire::Witness::StubStatus { path } => Witness::StubStatus { path },
        wire::Witness::Counter {
            path,
            pattern: text,
        } => {
            pattern(
                &text,
                &below(&below(&owner.pointer, "witness"), "pattern"),
                context,
            );
            Witness::Counter {
                path,
                pattern: text,
            }
        }
    }
}

fn departure(wire: wire::Departure) -> Departure {
    Departure {
        setting: wire.setting,
        default: wire.default.0,
        value: wire.value.0,
        because: wire.because,
    }
}
