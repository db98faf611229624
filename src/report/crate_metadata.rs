//! `ro-crate-metadata.json`: what an entry consists of, RO-Crate 1.1.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Context;
use super::escape::plain;
use crate::estimate::Summary;

/// The file. `rendered` names the files that the report adds.
pub(super) fn render(
    summary: &Summary,
    context: &Context<'_>,
    rendered: &BTreeSet<&str>,
) -> String {
    let page = &context.experiment.page;
    let authors: Vec<Value> = (0..page.authors.len())
        .map(|index| json!({"@id": author_id(context, index)}))
        .collect();
    let mut files: Vec<Value> = context
        .files
        .iter()
        .map(|file| reference(&file.path))
        .collect();
    files.extend(rendered.iter().map(|path| reference(path)));
    let mut root = json!({
        "@id": "./",
        "@type": "Dataset",
        "name": plain(&page.title),
        "description": plain(&page.question),
        "identifier": format!("{}/{}", summary.experiment, summary.entry),
        "datePublished": summary.measured_on.1,
        "temporalCoverage": format!("{}/{}", summary.measured_on.0, summary.measured_on.1),
        "author": authors,
        "hasPart": files,
        "mentions": [{"@id": "#measuring"}, {"@id": "#reporting"}],
    });
    if let Some(licence) = &page.licence {
        root["license"] = json!({"@id": licence_id(licence)});
    }
    if !page.technologies.is_empty() {
        root["keywords"] = page
            .technologies
            .iter()
            .map(|it| plain(it))
            .collect::<Vec<_>>()
            .join(", ")
            .into();
    }
    let mut graph = vec![descriptor(), root];
    graph.extend(page.authors.iter().enumerate().map(|(index, author)| {
        json!({"@id": author_id(context, index), "@type": "Person", "name": plain(&author.name)})
    }));
    if let Some(licence) = &page.licence {
        graph.push(
            json!({"@id": licence_id(licence), "@type": "CreativeWork", "name": plain(licence)}),
        );
    }
    graph.extend(actions(context));
    graph.extend(context.files.iter().map(|file| {
        json!({"@id": path_id(&file.path), "@type": "File", "contentSize": file.bytes.to_string(), "sha256": file.digest.hex()})
    }));
    graph.extend(
        rendered
            .iter()
            .map(|path| json!({"@id": path_id(path), "@type": "File"})),
    );
    let metadata = json!({"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph});
    let mut text = serde_json::to_string_pretty(&metadata).unwrap_or_default();
    text.push('\n');
    text
}

fn descriptor() -> Value {
    json!({
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    })
}

/// What made the records and what made the report of them.
fn actions(context: &Context<'_>) -> [Value; 3] {
    let version = &context.opened.version;
    [
        json!({"@id": "#loadlab", "@type": "SoftwareApplication", "name": "loadlab", "version": plain(version)}),
        json!({
            "@id": "#measuring", "@type": "CreateAction", "name": "loadlab run",
            "instrument": {"@id": "#loadlab"},
            "object": [{"@id": "experiment.yaml"}, {"@id": "experiment.lock.json"}],
            "result": {"@id": "records.jsonl"},
        }),
        json!({
            "@id": "#reporting", "@type": "CreateAction", "name": "loadlab report",
            "instrument": {"@id": "#loadlab"},
            "object": {"@id": "records.jsonl"},
            "result": [{"@id": "summary.json"}, {"@id": "report/entry.html"}],
        }),
    ]
}

fn reference(path: &str) -> Value {
    json!({"@id": path_id(path)})
}

/// A path as an identifier: relative, what is no plain character of a path percent-encoded.
fn path_id(path: &str) -> String {
    let mut id = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            id.push(char::from(byte));
        } else {
            id.push_str(&format!("%{byte:02X}"));
        }
    }
    id
}

fn author_id(context: &Context<'_>, index: usize) -> String {
    let id = context
        .experiment
        .page
        .authors
        .get(index)
        .and_then(|author| author.id.as_deref());
    match id {
        Some(id) if id.starts_with("https://") => plain(id),
        _ => format!("#author-{}", index + 1),
    }
}

/// The SPDX list's address of a licence.
fn licence_id(licence: &str) -> String {
    format!("https://spdx.org/licenses/{}", path_id(licence))
}
