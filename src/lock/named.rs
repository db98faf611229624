//! The files of the experiment's folder that a model names, and who names them.

use crate::model::scenario::{Expect, ExpectBody, Request, RequestBody};
use crate::model::{Definition, Experiment};

/// What runs for every service, every candidate and every planted server, in the order of the manifest.
pub fn definitions(experiment: &Experiment) -> impl Iterator<Item = &Definition> {
    let services = experiment.services.values().map(|each| &each.definition);
    let standards = experiment.standards.iter();
    let weights = standards.flat_map(|standards| standards.weights.values());
    let candidates = experiment.candidates.values().chain(weights);
    services.chain(candidates.map(|each| &each.definition))
}

/// The sources, in the experiment's folder, of the files that members of a role are given.
pub fn files_of_definition(definition: &Definition) -> impl Iterator<Item = &str> {
    let members = definition.members.values();
    members.flat_map(|member| member.files.values().map(String::as_str))
}

/// The files that a request and its expected answer name.
pub fn files_of_request<'a>(
    request: &'a Request,
    expect: &'a Expect,
) -> impl Iterator<Item = &'a str> {
    let sent = match &request.body {
        Some(RequestBody::File { file }) => Some(file.as_str()),
        Some(RequestBody::Text { .. }) | None => None,
    };
    let wanted = match &expect.body {
        Some(ExpectBody::SameAsFile { file }) => Some(file.as_str()),
        Some(ExpectBody::Text { .. } | ExpectBody::Length { .. }) | None => None,
    };
    sent.into_iter().chain(wanted)
}

/// Whether a file is one of the experiment's own report templates: it ends in `.j2` or lies in
/// `templates/`, no member is given it, and no request names it.
#[must_use]
pub fn is_report_template(experiment: &Experiment, path: &str) -> bool {
    let given = definitions(experiment).flat_map(files_of_definition);
    let scenarios = experiment.scenarios.values();
    let asked = scenarios
        .map(|each| (&each.request, &each.expect))
        .chain(
            experiment
                .contract
                .iter()
                .map(|each| (&each.request, &each.expect)),
        )
        .flat_map(|(request, expect)| files_of_request(request, expect));
    let may_be = path.ends_with(".j2") || is_within(path, "templates");
    may_be && !given.chain(asked).any(|source| is_within(path, source))
}

/// Whether a path is a named file, or lies in a named folder.
#[must_use]
pub fn is_within(path: &str, source: &str) -> bool {
    path.strip_prefix(source.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
