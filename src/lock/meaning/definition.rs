//! What runs for a role, without what is only told about it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::candidate::{self, Endpoint, PrewarmStep, Process, Stub, Witness};
use crate::model::standards::Weight;
use crate::model::unit::Nanoseconds;
use crate::model::{
    Definition, EngineKind, Member, MemberName, PortName, Program, Ready, Service, ServiceName,
    Template,
};

#[derive(Serialize)]
pub(super) struct ServiceMeaning<'a> {
    name: &'a ServiceName,
    lifetime: candidate::Lifetime,
    definition: DefinitionMeaning<'a>,
}

impl<'a> ServiceMeaning<'a> {
    pub(super) fn of(service: &'a Service) -> Self {
        let Service {
            name,
            title: _,
            lifetime,
            definition,
        } = service;
        Self {
            name,
            lifetime: *lifetime,
            definition: DefinitionMeaning::of(definition),
        }
    }
}

/// What runs for a role, without what is only told about it.
#[derive(Serialize)]
pub struct DefinitionMeaning<'a> {
    engine: EngineKind,
    members: Vec<(&'a MemberName, MemberMeaning<'a>)>,
    endpoint: &'a Endpoint,
    values: &'a BTreeMap<String, String>,
    ready: &'a Ready,
    prewarm: &'a [PrewarmStep],
    witness: Option<&'a Witness>,
}

impl<'a> DefinitionMeaning<'a> {
    /// Of a candidate or a service; placeholders stay unbound.
    #[must_use]
    pub fn of(definition: &'a Definition) -> Self {
        let Definition {
            engine,
            members,
            endpoint,
            values,
            ready,
            prewarm,
            departures: _,
            witness,
        } = definition;
        Self {
            engine: *engine,
            members: members
                .iter()
                .map(|(name, member)| (name, MemberMeaning::of(member)))
                .collect(),
            endpoint,
            values,
            ready,
            prewarm,
            witness: witness.as_ref(),
        }
    }
}

#[derive(Serialize)]
struct MemberMeaning<'a> {
    program: ProgramMeaning<'a>,
    env: &'a BTreeMap<String, Template>,
    files: &'a BTreeMap<String, String>,
    user: Option<&'a str>,
    ports: &'a [PortName],
    grace: Nanoseconds,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum ProgramMeaning<'a> {
    Process(&'a [Template]),
    Stub(&'a Stub),
    Weight(&'a Weight),
}

impl<'a> MemberMeaning<'a> {
    fn of(member: &'a Member) -> Self {
        let Member {
            program,
            env,
            files,
            user,
            ports,
            grace,
        } = member;
        Self {
            program: match program {
                Program::Process(Process {
                    command,
                    version: _,
                }) => ProgramMeaning::Process(command),
                Program::Stub(stub) => ProgramMeaning::Stub(stub),
                Program::Weight(weight) => ProgramMeaning::Weight(weight),
            },
            env,
            files,
            user: user.as_deref(),
            ports,
            grace: *grace,
        }
    }
}
