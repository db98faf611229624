//! The head of the page: what the entry is, its headline metrics, where it comes from.

use minijinja::Value;
use serde::Serialize;

use super::table::Fact;
use super::{headlines, machine, method, wording};
use crate::estimate::Summary;
use crate::report::Context;
use crate::report::escape::plain;
use crate::report::format::{self, NONE, Scale};

/// The head of the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Head {
    kind: &'static str,
    draft: bool,
    incomplete: bool,
    /// When, by whom, what became of it.
    byline: String,
    title: String,
    question: String,
    method: String,
    headlines: Vec<headlines::Headline>,
    facts: Vec<Fact>,
    environment: Vec<Fact>,
    commands: Vec<String>,
    /// The same as lines of a code block, in which nothing is escaped.
    commands_md: Value,
    cite: String,
    licence: Option<String>,
}

/// The head of a summary.
pub(crate) fn head(summary: &Summary, context: &Context<'_>) -> Head {
    let page = &context.experiment.page;
    let commands = commands(summary, context);
    Head {
        kind: "Measurement",
        draft: !context.published,
        incomplete: !summary.complete,
        byline: byline(summary, context),
        title: page.title.clone(),
        question: page.question.clone(),
        method: method::paragraph(context.experiment, summary),
        headlines: headlines::headlines(context.experiment, summary),
        facts: facts(summary, context),
        environment: machine::environment(context),
        commands_md: Value::from_safe_string(
            commands
                .iter()
                .map(|it| format!("{}\n", plain(it)))
                .collect(),
        ),
        commands,
        cite: cite(summary, context),
        licence: page.licence.clone(),
    }
}

fn days(summary: &Summary) -> String {
    let (first, last) = &summary.measured_on;
    if first == last {
        first.clone()
    } else {
        format!("{first} to {last}")
    }
}

const fn status(summary: &Summary, context: &Context<'_>) -> &'static str {
    match (context.published, summary.complete) {
        (true, _) => "Current at publication",
        (false, true) => "Draft, complete",
        (false, false) => "Draft, not complete",
    }
}

fn byline(summary: &Summary, context: &Context<'_>) -> String {
    let mut parts = vec![format!("measured on {}", days(summary))];
    if context.published {
        parts.push("current at publication".to_owned());
    }
    let page = &context.experiment.page;
    parts.extend(page.programme.as_ref().map(|it| format!("programme {it}")));
    parts.extend(page.licence.clone());
    parts.join(" · ")
}

fn facts(summary: &Summary, context: &Context<'_>) -> Vec<Fact> {
    let page = &context.experiment.page;
    let mut facts = vec![
        Fact::new("Measured on", days(summary)),
        Fact::new("Status at publication", status(summary, context)),
        Fact::new("Entry", format!("{}/{}", summary.experiment, summary.entry)),
        Fact::new(
            "Programme",
            page.programme.clone().unwrap_or_else(|| "none".to_owned()),
        ),
        Fact::new(
            "Authors",
            wording::list(
                &page
                    .authors
                    .iter()
                    .map(|it| it.name.clone())
                    .collect::<Vec<_>>(),
            ),
        ),
        Fact::new(
            "Technologies",
            if page.technologies.is_empty() {
                "not named".to_owned()
            } else {
                page.technologies.join(", ")
            },
        ),
        Fact::new("Source code", source(context)),
        Fact::new("Raw data", raw_data(context)),
    ];
    let licence = page
        .licence
        .clone()
        .unwrap_or_else(|| "not named yet: not publishable".to_owned());
    facts.push(Fact::new("Licence", licence));
    facts
}

fn source(context: &Context<'_>) -> String {
    match &context.opened.source {
        crate::model::Known::Value(source) => {
            let repository = source
                .repository
                .as_deref()
                .unwrap_or("a repository without an address");
            let state = if source.clean {
                "the folder was clean"
            } else {
                "the folder had changes that are not in the commit"
            };
            format!("{repository}, commit {} ({state})", source.commit)
        }
        crate::model::Known::Absent(reason) => format!("{NONE} (not known: {reason})"),
    }
}

fn raw_data(context: &Context<'_>) -> String {
    let raw = context
        .files
        .iter()
        .filter(|it| it.path.starts_with("raw/"));
    let (count, bytes) = raw.fold((0, 0), |(count, bytes), file| {
        (count + 1, bytes + file.bytes)
    });
    let bytes = bytes as f64;
    let size = format::quantity(
        bytes,
        format::Digits::Significant(3),
        Scale::of(crate::model::Unit::Bytes, [bytes]),
    );
    format!(
        "records.jsonl and raw/ ({}, {}) beside this page; every number as CSV in report/tables/",
        wording::plural(count, "file", "files"),
        size.unwrap_or_else(|| NONE.to_owned())
    )
}

fn commands(summary: &Summary, context: &Context<'_>) -> Vec<String> {
    let mut commands = Vec::new();
    if let Some(source) = context.opened.source.value() {
        let repository = source.repository.as_ref().filter(|it| is_plain_word(it));
        if let Some(repository) = repository {
            commands.push(format!("git clone {repository} work && cd work"));
        }
        if is_plain_word(&source.commit) {
            commands.push(format!("git checkout {}", source.commit));
        }
    }
    if context.published {
        commands.push(format!(
            "loadlab reproduce results/{}/{}",
            summary.experiment, summary.entry
        ));
    }
    let source = context.opened.source.value();
    let manifest = source.and_then(|source| source.manifest.clone());
    let manifest = manifest.filter(|it| is_plain_word(it));
    let usual = || format!("experiments/{}/experiment.yaml", summary.experiment);
    commands.push(format!("loadlab run {}", manifest.unwrap_or_else(usual)));
    commands
}

/// Whether a shell takes the text as one word and nothing more: people copy these lines.
fn is_plain_word(text: &str) -> bool {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b":/@._~-".contains(&it);
    text.bytes().all(plain)
        && text
            .bytes()
            .next()
            .is_some_and(|it| it.is_ascii_alphanumeric())
}

fn cite(summary: &Summary, context: &Context<'_>) -> String {
    let page = &context.experiment.page;
    let authors: Vec<String> = page.authors.iter().map(|it| it.name.clone()).collect();
    let year = summary.measured_on.1.split('-').next().unwrap_or_default();
    format!(
        "{} ({year}). {}. Data set, entry {}/{}, made with loadlab {}.",
        wording::list(&authors),
        page.title.trim_end_matches('.'),
        summary.experiment,
        summary.entry,
        context.opened.version
    )
}
