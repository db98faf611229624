//! `CITATION.cff`: how to cite an entry, Citation File Format 1.2.

use std::fmt::Write as _;

use super::Context;
use super::escape::plain;
use crate::estimate::Summary;

/// The file.
pub(super) fn render(summary: &Summary, context: &Context<'_>) -> String {
    let page = &context.experiment.page;
    let mut file = String::from("cff-version: 1.2.0\n");
    let mut line = |key: &str, text: &str| {
        let _ = writeln!(file, "{key}: {}", quoted(text));
    };
    line("message", "If you use this data, please cite it as below.");
    line("type", "dataset");
    line("title", &page.title);
    line("abstract", &page.question);
    line("version", summary.entry.as_str());
    line("date-released", &summary.measured_on.1);
    if let Some(licence) = &page.licence {
        line("license", licence);
    }
    let source = context.opened.source.value();
    if let Some(commit) = source {
        line("commit", &commit.commit);
    }
    if let Some(repository) = source.and_then(|source| source.repository.as_ref()) {
        line("repository-code", repository);
    }
    file.push_str("authors:\n");
    for author in &page.authors {
        let _ = writeln!(file, "  - name: {}", quoted(&author.name));
        if let Some(id) = &author.id {
            let key = if is_orcid(id) { "orcid" } else { "website" };
            if is_orcid(id) || id.starts_with("https://") || id.starts_with("http://") {
                let _ = writeln!(file, "    {key}: {}", quoted(id));
            }
        }
    }
    if !page.technologies.is_empty() {
        file.push_str("keywords:\n");
        for technology in &page.technologies {
            let _ = writeln!(file, "  - {}", quoted(technology));
        }
    }
    file
}

/// Whether an id is an ORCID iD in the form that the format asks for.
fn is_orcid(id: &str) -> bool {
    let digits = id.strip_prefix("https://orcid.org/").unwrap_or_default();
    let group =
        |group: &str| group.len() == 4 && group.bytes().all(|it| it.is_ascii_digit() || it == b'X');
    digits.split('-').count() == 4 && digits.split('-').all(group)
}

/// A double-quoted YAML scalar, which JSON's strings are.
fn quoted(text: &str) -> String {
    serde_json::Value::from(plain(text)).to_string()
}
