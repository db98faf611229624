//! A role that runs: its group, its members, and what happens to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bench::Bench;
use super::bind::{Binder, ServiceAddress};
use super::broken::Broken;
use super::groups::{Groups, Label, Place};
use super::turn::Turn;
use super::turn::{Begun, Stage};
use super::watch::Watch;
use super::{prewarm, ready};
use crate::engine::{EngineError, RoleSpec, Trouble};
use crate::load::Address;
use crate::model::candidate::{Definition, Lifetime, Service};
use crate::model::template::Bindings;
use crate::model::{GuardCode, Outcome, Role, ServiceName};
use crate::record::event::StepKind;

/// A role whose members were started.
pub(super) struct Running<'a> {
    pub(super) role: Role,
    pub(super) place: Arc<Place>,
    pub(super) watch: Watch,
    pub(super) definition: &'a Definition,
    /// Of the member that requests go to.
    pub(super) bindings: Bindings,
}

impl Running<'_> {
    /// The address as requests name it.
    pub(super) fn host(&self) -> String {
        let address = self.address();
        address.map_or_else(|_| "localhost".to_owned(), |address| address.to_string())
    }

    /// Where requests go.
    pub(super) fn address(&self) -> Result<Address, Broken> {
        let endpoint = &self.definition.endpoint;
        let key = (endpoint.member.clone(), endpoint.port.clone());
        let port = self.place.group.ports.get(&key).copied();
        let port = port.ok_or_else(|| {
            let (member, port) = key;
            Broken::harness(format!(
                "the engine gave no port `{port}` to member `{member}`"
            ))
        })?;
        Ok(Address {
            host: self.place.group.host.clone(),
            port,
        })
    }
}

/// Starts the services that live as long as `lifetime`, in order, each ready before the next.
pub(super) async fn services<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'_>,
    lifetime: Lifetime,
    earlier: &[Running<'a>],
    stage: &mut Stage<'a>,
) -> Result<(), Broken> {
    let experiment = bench.experiment;
    let wanted = |service: &&'a Service| service.lifetime == lifetime;
    for service in experiment.services.values().filter(wanted) {
        bench.check_cancel()?;
        let begun = Begun::step(bench, turn, StepKind::Service, service.name.as_str());
        let started = start_service(bench, turn, service, earlier, stage).await;
        begun.close(bench, started)?;
    }
    Ok(())
}

async fn start_service<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'_>,
    service: &'a Service,
    earlier: &[Running<'a>],
    stage: &mut Stage<'a>,
) -> Result<(), Broken> {
    let role = Role::Service(service.name.clone());
    let services = addresses(earlier.iter().chain(&stage.services))?;
    let Stage {
        groups,
        services: running,
    } = stage;
    let label = &turn.label;
    let started = start(bench, groups, role, &service.definition, &services, label).await?;
    ready::wait(bench, &started).await?.map_err(|not_ready| {
        let evidence = format!("service `{}` {not_ready}", service.name);
        Broken::breach(GuardCode::ServiceLost, evidence)
    })?;
    prewarm::of_role(bench, turn, &started, StepKind::Prewarm).await?;
    running.push(started);
    Ok(())
}

/// Starts the fresh candidate and waits until it answers its ready request correctly.
pub(super) async fn candidate<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'a>,
    lasting: &Stage<'a>,
    stage: &mut Stage<'a>,
) -> Result<Running<'a>, Broken> {
    bench.check_cancel()?;
    let begun = Begun::step(bench, turn, StepKind::Ready, turn.candidate.name.as_str());
    let started = start_candidate(bench, turn, lasting, stage).await;
    let failed = started.as_ref().err().map(ToString::to_string);
    begun.end(bench, failed, BTreeMap::new())?;
    started
}

async fn start_candidate<'a>(
    bench: &mut Bench<'a>,
    turn: &Turn<'a>,
    lasting: &Stage<'a>,
    stage: &mut Stage<'a>,
) -> Result<Running<'a>, Broken> {
    let services = addresses(lasting.services.iter().chain(&stage.services))?;
    let (definition, label) = (&turn.candidate.definition, &turn.label);
    let groups = &mut stage.groups;
    let started = start(bench, groups, Role::Candidate, definition, &services, label).await?;
    ready::wait(bench, &started).await?.map_err(|not_ready| {
        let detail = format!("candidate `{}` {not_ready}", turn.candidate.name);
        Broken::Outcome(not_ready.outcome(), detail)
    })?;
    Ok(started)
}

/// Reserves a role's group and starts its members.
async fn start<'a>(
    bench: &Bench<'a>,
    groups: &mut Groups,
    role: Role,
    definition: &'a Definition,
    services: &BTreeMap<ServiceName, ServiceAddress>,
    label: &Label,
) -> Result<Running<'a>, Broken> {
    let budget = bench.budget(&role);
    let members = definition.members.iter();
    let spec = RoleSpec {
        role: role.clone(),
        cpus: bench.cpus(&role).cloned(),
        budget: budget.clone(),
        members: members
            .map(|(name, member)| (name.clone(), member.ports.clone()))
            .collect(),
    };
    let place = groups
        .reserve(bench, definition.engine, &spec, label)
        .await?;
    let watch = Watch::over(place.engine.events(&place.group).await?);
    let binder = Binder {
        definition,
        group: &place.group,
        budget: &budget,
        services,
        files: &bench.files,
        programs: &bench.rig.programs,
    };
    let bindings = binder.bindings(&definition.endpoint.member);
    for member in binder.members()? {
        let started = place.engine.start(&place.group, &member).await;
        started.map_err(|error| not_started(&role, error))?;
    }
    Ok(Running {
        role,
        place,
        watch,
        definition,
        bindings,
    })
}

/// A program that cannot be executed is the role's own fault; the rest is the engine's.
fn not_started(role: &Role, error: EngineError) -> Broken {
    match (role, error.kind) {
        (Role::Candidate, Trouble::NoProgram) => {
            Broken::Outcome(Outcome::NotReady, error.to_string())
        }
        (Role::Service(_), Trouble::NoProgram) => {
            Broken::breach(GuardCode::ServiceLost, error.to_string())
        }
        _ => error.into(),
    }
}

fn addresses<'a, 'b: 'a>(
    running: impl Iterator<Item = &'a Running<'b>>,
) -> Result<BTreeMap<ServiceName, ServiceAddress>, Broken> {
    let mut addresses = BTreeMap::new();
    for service in running {
        if let Role::Service(name) = &service.role {
            let Address { host, port } = service.address()?;
            addresses.insert(name.clone(), ServiceAddress { host, port });
        }
    }
    Ok(addresses)
}
