//! Answers compared with what is expected of them.

use super::ask::ask;
use super::broken::Broken;
use super::error::RunError;
use super::files::Files;
use super::http;
use super::role::Running;
use crate::model::account::BoundRequest;
use crate::model::scenario::{Expect, ExpectBody, Request, RequestBody};
use crate::model::template::{Bindings, Template};
use crate::model::{Digest, Nanoseconds};
use crate::record::event::Check;

/// A request of the manifest with every placeholder bound.
///
/// # Errors
/// When a placeholder has no value or a file is not listed.
pub(super) fn bound(
    request: &Request,
    bindings: &Bindings,
    files: &Files,
) -> Result<BoundRequest, RunError> {
    let bind = |template: &Template| {
        template
            .bind(bindings)
            .map_err(|unbound| RunError::Unbound {
                what: format!("the request {} {}", request.method, request.path),
                because: unbound.to_string(),
            })
    };
    let headers = request.headers.iter();
    let headers = headers.map(|(name, value)| Ok((name.clone(), bind(value)?)));
    let body = match &request.body {
        None => None,
        Some(RequestBody::Text { text }) => Some(bind(text)?.into_bytes()),
        Some(RequestBody::File { file }) => Some(files.get(file)?.to_vec()),
    };
    Ok(BoundRequest {
        method: request.method.clone(),
        path: bind(&request.path)?,
        headers: headers.collect::<Result<_, RunError>>()?,
        body,
    })
}

/// Asks once and compares the answer.
///
/// # Errors
/// When a file of the expectation is not listed. No answer is a difference, not an error.
pub(super) async fn checked(
    running: &Running<'_>,
    request: &BoundRequest,
    expect: &Expect,
    files: &Files,
    within: Nanoseconds,
) -> Result<Check, Broken> {
    let asked = format!("{} {}", request.method, request.path);
    let body = match &expect.body {
        Some(ExpectBody::SameAsFile { file }) => Some(files.get(file)?),
        _ => None,
    };
    match ask(running, request, within.duration()).await {
        Ok(answer) => Ok(Check {
            request: asked,
            status: Some(answer.status),
            body: Some(Digest::of(&answer.body)),
            wire_bytes: Some(answer.wire_bytes),
            difference: http::check(&answer, expect, body),
        }),
        Err(because) => Ok(Check {
            request: asked,
            status: None,
            body: None,
            wire_bytes: None,
            difference: Some(format!("no answer: {because}")),
        }),
    }
}
