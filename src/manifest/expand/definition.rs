//! What runs: candidates, services, their members and the steps before the load.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use regex::Regex;

use super::context::{Context, Fault, texts};
use super::placeholders::{self, Scope};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::files::plain;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::candidate::{
    Candidate, Definition, Departure, Endpoint, Lifetime, Member, PrewarmStep, Process, Program,
    Ready, Service, Stub, VersionRule, Witness,
};
use crate::model::name::{CandidateName, MemberName, PortName, ServiceName};
use crate::model::role::RESERVED_ROLES;
use crate::model::{Budget, Bytes, EngineKind, Nanoseconds, Role, Template};

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

/// Steps before any candidate runs: only services can be named.
pub(super) fn early_steps(
    wire: Option<Vec<wire::PrewarmStep>>,
    context: &mut Context<'_>,
) -> Vec<PrewarmStep> {
    let services = context.names.services.clone();
    let values = BTreeMap::new();
    let scope = Scope {
        owner: "this step".to_owned(),
        ports: None,
        members: &[],
        values: &values,
        values_at: String::new(),
        budget: None,
        role: "candidate".to_owned(),
        services: &services,
    };
    for (index, step) in wire.iter().flatten().enumerate() {
        if let wire::PrewarmStep::Http { .. } = step {
            let message = "an HTTP step before any candidate runs has nothing to ask";
            let pointer = format!("/prewarm/{index}/kind");
            context.report(Fault::new(DiagnosticCode::NoTarget, &pointer, message));
        }
    }
    steps(wire, "/prewarm", &scope, context)
}

fn definition(parts: Parts, owner: &Owner<'_>, context: &mut Context<'_>) -> Definition {
    let values: BTreeMap<String, String> = parts
        .values
        .into_iter()
        .flat_map(|values| values.0)
        .map(|(name, value)| (name.0, value.0))
        .collect();
    let written = members(parts.run, owner, context);
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

/// A member as it is written, with the pointer of its mapping.
struct Written {
    pointer: String,
    program: WrittenProgram,
}

enum WrittenProgram {
    Process(Box<wire::Process>),
    Stub(wire::Stub),
}

/// The only member of a role, when it does not name its members.
fn main_member() -> MemberName {
    "main".parse().expect("a plain name")
}

/// The only port of a member that does not name its ports.
fn http_port() -> PortName {
    "http".parse().expect("a plain name")
}

fn members(
    run: Option<wire::Run>,
    owner: &Owner<'_>,
    context: &mut Context<'_>,
) -> Vec<(MemberName, Written)> {
    let pointer = below(&owner.pointer, "run");
    let process = |pointer: String, process| Written {
        pointer,
        program: WrittenProgram::Process(Box::new(process)),
    };
    let stub = |pointer: String, stub| Written {
        pointer,
        program: WrittenProgram::Stub(stub),
    };
    match run {
        None => {
            let message = format!("nothing says what {} runs", owner.shown);
            let fault = Fault::new(DiagnosticCode::NoProgram, &owner.pointer, message).on_key();
            context.report(fault.help("add `run` here or in `defaults.candidate`"));
            Vec::new()
        }
        Some(wire::Run::Process(only)) => vec![(main_member(), process(pointer, only))],
        Some(wire::Run::Stub(only)) => vec![(main_member(), stub(pointer, only))],
        Some(wire::Run::Members { members }) => {
            let at = below(&pointer, "members");
            let each = members.0.into_iter().map(|(name, member)| {
                let pointer = below(&at, name.0.as_str());
                let written = match member {
                    wire::MemberRun::Process(one) => process(pointer, one),
                    wire::MemberRun::Stub(one) => stub(pointer, one),
                };
                (name.0, written)
            });
            each.collect()
        }
    }
}

/// A role's environment, with the place of each entry.
fn shared_env(env: Option<&Env>, owner: &Owner<'_>) -> Vec<(String, String, String)> {
    let at = below(&owner.pointer, "env");
    let entries = env.into_iter().flat_map(|env| &env.0);
    entries
        .map(|(name, value)| (name.0.clone(), value.0.clone(), below(&at, &name.0)))
        .collect()
}

impl Written {
    fn ports(&self) -> Vec<PortName> {
        match &self.program {
            WrittenProgram::Stub(_) => vec![http_port()],
            WrittenProgram::Process(process) => match &process.ports {
                None => vec![http_port()],
                Some(ports) => ports.iter().map(|name| name.0.clone()).collect(),
            },
        }
    }

    fn expand(
        self,
        shared: &[(String, String, String)],
        scope: &Scope<'_>,
        context: &mut Context<'_>,
    ) -> Member {
        let ports = self.ports();
        let at = |key: &str| below(&self.pointer, key);
        match self.program {
            WrittenProgram::Stub(stub) => Member {
                program: Program::Stub(expand_stub(&stub)),
                env: BTreeMap::new(),
                files: BTreeMap::new(),
                user: None,
                ports,
                grace: Nanoseconds::seconds(5),
            },
            WrittenProgram::Process(process) => {
                let own = process.env.iter().flat_map(|env| &env.0);
                let own = own.map(|(name, value)| {
                    (name.0.clone(), value.0.clone(), below(&at("env"), &name.0))
                });
                let mut env = BTreeMap::new();
                for (name, text, pointer) in shared.iter().cloned().chain(own) {
                    env.insert(
                        name,
                        placeholders::template(&text, &pointer, scope, context),
                    );
                }
                let files = files(process.files.as_ref(), &at("files"), scope, context);
                if process.command.is_none() {
                    let message = format!("nothing says which command {} runs", scope.owner);
                    let fault =
                        Fault::new(DiagnosticCode::NoProgram, &self.pointer, message).on_key();
                    context.report(fault.help("add `command` here or in `defaults.candidate`"));
                }
                let command = process.command.map(|command| command.0).unwrap_or_default();
                let version = process
                    .version
                    .map(|rule| version(rule, &at("version"), context));
                Member {
                    program: Program::Process(Process {
                        command: command_words(command, &at("command"), scope, context),
                        version,
                    }),
                    env,
                    files,
                    user: process.user,
                    ports,
                    grace: process
                        .grace
                        .map_or(Nanoseconds::seconds(5), |grace| grace.0),
                }
            }
        }
    }
}

fn expand_stub(stub: &wire::Stub) -> Stub {
    let time = |time: &Option<wire::Duration>| time.as_ref().map_or(Nanoseconds(0), |time| time.0);
    Stub {
        work: time(&stub.work),
        wait: time(&stub.wait),
        hold: stub.hold.as_ref().map_or(Bytes(0), |hold| hold.0),
        status: stub.status.unwrap_or(200),
        body: stub.body.as_ref().map_or(Bytes(2), |body| body.0),
    }
}

fn command_words(
    words: Vec<String>,
    pointer: &str,
    scope: &Scope<'_>,
    context: &mut Context<'_>,
) -> Vec<Template> {
    let words = words.into_iter().enumerate();
    words
        .map(|(index, word)| {
            let at = below(pointer, &index.to_string());
            if word.is_empty() && index == 0 {
                let message = "the program of a command is an empty text";
                context.report(Fault::new(DiagnosticCode::NoProgram, &at, message));
            }
            placeholders::template(&word, &at, scope, context)
        })
        .collect()
}

fn files(
    files: Option<&wire::Named<wire::PathText, wire::PathText>>,
    pointer: &str,
    scope: &Scope<'_>,
    context: &mut Context<'_>,
) -> BTreeMap<String, String> {
    let mut expanded = BTreeMap::new();
    for (destination, source) in files.into_iter().flat_map(|files| &files.0) {
        let at = below(pointer, &destination.0);
        if let Err(refused) = plain(&destination.0) {
            context.report(Fault::new(refused.code, &at, refused.message).on_key());
        }
        if let Some(Some(text)) = file(&source.0, &at, context) {
            placeholders::rendered(&source.0, &text, &at, scope, context);
        }
        expanded.insert(destination.0.clone(), source.0.clone());
    }
    expanded
}

/// Looks at a file; the text of one that is rendered comes back.
pub(super) fn file(
    path: &str,
    pointer: &str,
    context: &mut Context<'_>,
) -> Option<Option<Result<String, String>>> {
    if !context.is_sound(pointer) {
        return None;
    }
    match context.files.named(path) {
        Ok(read) => Some(read.template),
        Err(refused) => {
            context
                .report(Fault::new(refused.code, pointer, refused.message).help_if(refused.help));
            None
        }
    }
}

fn version(rule: wire::VersionRule, pointer: &str, context: &mut Context<'_>) -> VersionRule {
    for (index, word) in rule
        .command
        .0
        .iter()
        .enumerate()
        .filter(|(_, word)| word.contains("{{"))
    {
        let at = below(&below(pointer, "command"), &index.to_string());
        let message = format!(
            "`{}`: a version command runs before anything is bound",
            word.escape_debug()
        );
        context.report(Fault::new(DiagnosticCode::PlaceholderUnknown, &at, message));
    }
    pattern(&rule.pattern, &below(pointer, "pattern"), context);
    VersionRule {
        command: rule.command.0,
        pattern: rule.pattern,
    }
}

/// A regular expression compiles and has a group.
fn pattern(text: &str, pointer: &str, context: &mut Context<'_>) {
    let message = match Regex::new(text) {
        Ok(regex) if regex.captures_len() > 1 => return,
        Ok(_) => "the pattern has no group in parentheses to read".to_owned(),
        Err(regex::Error::CompiledTooBig(limit)) => {
            format!("the pattern needs more than {limit} bytes")
        }
        Err(error) => {
            let shown = error.to_string();
            let cause = shown.lines().last().unwrap_or_default();
            format!(
                "the pattern cannot be compiled: {}",
                cause.trim_start_matches("error: ")
            )
        }
    };
    context.report(Fault::new(DiagnosticCode::Pattern, pointer, message));
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

/// A length of time that must be longer than nothing.
pub(super) fn longer_than_nothing(
    time: Nanoseconds,
    what: &str,
    pointer: &str,
    context: &mut Context<'_>,
) {
    if time.0 == 0 {
        let message = format!("{what} is zero; expected a length of time");
        context.report(Fault::new(DiagnosticCode::NoTime, pointer, message));
    }
}

fn witness(rule: wire::Witness, owner: &Owner<'_>, context: &mut Context<'_>) -> Witness {
    match rule {
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

fn steps(
    wire: Option<Vec<wire::PrewarmStep>>,
    pointer: &str,
    scope: &Scope<'_>,
    context: &mut Context<'_>,
) -> Vec<PrewarmStep> {
    let longest =
        |within: Option<wire::Duration>| within.map_or(Nanoseconds::seconds(30), |within| within.0);
    let wire = wire.into_iter().flatten().enumerate();
    wire.map(|(index, step)| {
        let at = below(pointer, &index.to_string());
        let (step, within) = match step {
            wire::PrewarmStep::Command { command, within } => {
                let within = longest(within);
                let command = command_words(command.0, &below(&at, "command"), scope, context);
                (PrewarmStep::Command { command, within }, within)
            }
            wire::PrewarmStep::Http {
                path,
                status,
                times,
                within,
            } => {
                let within = longest(within);
                let (status, times) = (status.unwrap_or(200), times.unwrap_or(1));
                (
                    PrewarmStep::Http {
                        path,
                        status,
                        times,
                        within,
                    },
                    within,
                )
            }
        };
        longer_than_nothing(
            within,
            "the longest time of a step",
            &below(&at, "within"),
            context,
        );
        step
    })
    .collect()
}
