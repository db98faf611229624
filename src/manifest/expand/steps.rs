//! Steps before the first request, and lengths of time that must not be zero.

use std::collections::BTreeMap;

use super::context::{Context, Fault};
use super::member::command_words;
use super::placeholders::Scope;
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::Nanoseconds;
use crate::model::candidate::PrewarmStep;

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

/// Steps in their order.
pub(super) fn steps(
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
