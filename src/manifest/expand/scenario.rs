//! Scenarios and the contract: what is asked and what must come back.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::context::{Context, Fault};
use super::member::file;
use super::placeholders::{self, Scope};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::name::{CandidateName, MemberName, PortName, ScenarioName};
use crate::model::scenario::{ContractCheck, Expect, ExpectBody, Request, RequestBody, Scenario};
use crate::model::{Budget, Candidate, Role};

type Candidates = IndexMap<CandidateName, Candidate>;
type Budgets = BTreeMap<Role, Budget>;

pub(super) fn scenarios(
    wire: wire::Named<wire::Name<ScenarioName>, wire::Scenario>,
    candidates: &Candidates,
    budgets: &Budgets,
    context: &mut Context<'_>,
) -> IndexMap<ScenarioName, Scenario> {
    let outlines = outlines(candidates);
    let services = context.names.services.clone();
    let scopes = scopes(candidates, &outlines, budgets, &services);
    let mut scenarios: IndexMap<ScenarioName, Scenario> = IndexMap::new();
    for (wire::Name(name), scenario) in wire.0 {
        let pointer = below("/scenarios", name.as_str());
        let request = request(
            scenario.request,
            &below(&pointer, "request"),
            &scopes,
            context,
        );
        let expect = expect(scenario.expect, &below(&pointer, "expect"), context);
        let title = scenario.title.unwrap_or_else(|| name.to_string());
        let changes_data = scenario.changes_data.unwrap_or(false);
        scenarios.insert(
            name.clone(),
            Scenario {
                name,
                title,
                request,
                expect,
                changes_data,
            },
        );
    }
    let order: Vec<&Scenario> = scenarios.values().collect();
    if let Some((_, earlier)) = order.split_last() {
        for scenario in earlier.iter().filter(|scenario| scenario.changes_data) {
            let pointer = below("/scenarios", scenario.name.as_str());
            let message = format!(
                "scenario `{}` changes data and is not the last one",
                scenario.name
            );
            let fault = Fault::new(DiagnosticCode::ChangesData, &pointer, message).on_key();
            context.report(
                fault
                    .touching(below(&pointer, "changes_data"))
                    .touching("/scenarios"),
            );
        }
    }
    scenarios
}

pub(super) fn contract(
    wire: Option<Vec<wire::Check>>,
    candidates: &Candidates,
    budgets: &Budgets,
    context: &mut Context<'_>,
) -> Vec<ContractCheck> {
    let outlines = outlines(candidates);
    let services = context.names.services.clone();
    let scopes = scopes(candidates, &outlines, budgets, &services);
    let mut checks = Vec::new();
    for (index, check) in wire.into_iter().flatten().enumerate() {
        let pointer = format!("/contract/{index}");
        let request = request(check.request, &below(&pointer, "request"), &scopes, context);
        let expect = expect(check.expect, &below(&pointer, "expect"), context);
        let same_for_all_candidates = check.same_for_all_candidates.unwrap_or(false);
        if same_for_all_candidates && candidates.len() == 1 {
            let message = "there is one candidate: its answers have nothing to be the same as";
            let at = below(&pointer, "same_for_all_candidates");
            context.report(
                Fault::new(DiagnosticCode::Compared, &at, message)
                    .note()
                    .touching("/candidates"),
            );
        }
        checks.push(ContractCheck {
            request,
            expect,
            same_for_all_candidates,
        });
    }
    checks
}

type Outline = Vec<(MemberName, Vec<PortName>)>;

fn outlines(candidates: &Candidates) -> Vec<Outline> {
    let outline = |candidate: &Candidate| -> Outline {
        let members = candidate.definition.members.iter();
        members
            .map(|(name, member)| (name.clone(), member.ports.clone()))
            .collect()
    };
    candidates.values().map(outline).collect()
}

/// A request is bound by each candidate in turn, as a text of the member that listens.
fn scopes<'a>(
    candidates: &'a Candidates,
    outlines: &'a [Outline],
    budgets: &'a Budgets,
    services: &'a [crate::model::ServiceName],
) -> Vec<Scope<'a>> {
    let each = candidates.values().zip(outlines);
    each.map(|(candidate, outline)| {
        let definition = &candidate.definition;
        let listening = outline
            .iter()
            .find(|(name, _)| *name == definition.endpoint.member);
        Scope {
            owner: format!("candidate `{}`", candidate.name),
            ports: listening.map(|(_, ports)| ports.as_slice()),
            members: outline,
            values: &definition.values,
            values_at: below(&below("/candidates", candidate.name.as_str()), "values"),
            budget: budgets.get(&Role::Candidate),
            role: "candidate".to_owned(),
            services,
        }
    })
    .collect()
}

fn request(
    wire: wire::Request,
    pointer: &str,
    scopes: &[Scope<'_>],
    context: &mut Context<'_>,
) -> Request {
    let mut bound =
        |text: &str, at: &str| placeholders::template_for_all(text, at, scopes.iter(), context);
    let path = bound(&wire.path, &below(pointer, "path"));
    let headers_at = below(pointer, "headers");
    let headers = wire.headers.into_iter().flat_map(|headers| headers.0);
    let headers = headers
        .map(|(name, value)| (name.0.clone(), bound(&value, &below(&headers_at, &name.0))))
        .collect();
    let body_at = below(pointer, "body");
    let body = wire.body.map(|body| match body {
        wire::Body::Text { text } => {
            let text = placeholders::template_for_all(
                &text,
                &below(&body_at, "text"),
                scopes.iter(),
                context,
            );
            RequestBody::Text { text }
        }
        wire::Body::File { file: path } => {
            file(&path.0, &below(&body_at, "file"), context);
            RequestBody::File { file: path.0 }
        }
    });
    Request {
        method: wire.method.unwrap_or_else(|| "GET".to_owned()),
        path,
        headers,
        body,
    }
}

fn expect(wire: Option<wire::Expect>, pointer: &str, context: &mut Context<'_>) -> Expect {
    let Some(wire) = wire else {
        return Expect {
            status: 200,
            headers: BTreeMap::new(),
            body: None,
        };
    };
    let status = wire.status.unwrap_or(200);
    if status < 200 {
        let message = format!("{status} announces an answer and is none");
        context.report(Fault::new(
            DiagnosticCode::NotOneAnswer,
            &below(pointer, "status"),
            message,
        ));
    }
    let headers = wire.headers.into_iter().flat_map(|headers| headers.0);
    let body = wire.body.map(|body| match body {
        wire::ExpectBody::SameAsFile { file: path } => {
            file(&path.0, &below(&below(pointer, "body"), "file"), context);
            ExpectBody::SameAsFile { file: path.0 }
        }
        wire::ExpectBody::Text { text } => ExpectBody::Text { text },
        wire::ExpectBody::Length { bytes } => ExpectBody::Length { bytes: bytes.0.0 },
    });
    Expect {
        status,
        headers: headers.map(|(name, value)| (name.0, value)).collect(),
        body,
    }
}
