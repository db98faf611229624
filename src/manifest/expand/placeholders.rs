//! Placeholders: they can be read, and what they name exists where they stand.

use std::collections::BTreeMap;

use minijinja::{AutoEscape, Environment};

use super::context::{Context, Fault};
use crate::manifest::code::DiagnosticCode;
use crate::manifest::nearest::did_you_mean;
use crate::manifest::tree::below;
use crate::model::name::{MemberName, PortName, ServiceName};
use crate::model::template::{BUDGET_FIELDS, MEMBER_FIELDS, Placeholder, SERVICE_FIELDS};
use crate::model::{Budget, Template};

/// What placeholders may name at a place.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    /// The role, for messages: ``candidate `go` ``.
    pub(super) owner: String,
    /// The ports of the member; absent: there is no member here.
    pub(super) ports: Option<&'a [PortName]>,
    /// The members of the role, with their ports.
    pub(super) members: &'a [(MemberName, Vec<PortName>)],
    /// The values of the role, and where they are declared.
    pub(super) values: &'a BTreeMap<String, String>,
    pub(super) values_at: String,
    /// The budget of the role, and its name.
    pub(super) budget: Option<&'a Budget>,
    pub(super) role: String,
    /// The services that run already.
    pub(super) services: &'a [ServiceName],
}

/// Reads a text with placeholders and checks what they name.
pub(super) fn template(
    text: &str,
    pointer: &str,
    scope: &Scope<'_>,
    context: &mut Context<'_>,
) -> Template {
    match text.parse::<Template>() {
        Ok(template) => {
            for placeholder in template.placeholders() {
                check(placeholder, text, pointer, scope, context);
            }
            template
        }
        Err(fault) => {
            let (start, end) = fault.range;
            let fault = Fault::new(DiagnosticCode::Placeholder, pointer, fault.message);
            context.report(fault.part(start, end));
            nothing()
        }
    }
}

/// Stands in for a text that cannot be read.
fn nothing() -> Template {
    "".parse().expect("a text without placeholders")
}

/// Reads a text that is bound for several roles in turn, and checks it for the first that it fails.
pub(super) fn template_for_all<'s>(
    text: &str,
    pointer: &str,
    mut scopes: impl Iterator<Item = &'s Scope<'s>>,
    context: &mut Context<'_>,
) -> Template {
    let Ok(read) = text.parse::<Template>() else {
        return scopes
            .next()
            .map_or_else(nothing, |scope| template(text, pointer, scope, context));
    };
    let fails = |scope: &&Scope<'_>| {
        read.placeholders()
            .any(|placeholder| missing(placeholder, scope).is_some())
    };
    if let Some(scope) = scopes.find(fails) {
        template(text, pointer, scope, context);
    }
    read
}

fn check(
    placeholder: &Placeholder,
    text: &str,
    pointer: &str,
    scope: &Scope<'_>,
    context: &mut Context<'_>,
) {
    let Some((what, touching)) = missing(placeholder, scope) else {
        return;
    };
    let shown = placeholder.to_string();
    let message = format!("`{{{{ {shown} }}}}`: {}", what.message);
    let mut fault = Fault::new(DiagnosticCode::PlaceholderUnknown, pointer, message);
    if let Some((start, end)) = find(text, &shown) {
        fault = fault.part(start, end);
    }
    context.report(fault.touching(touching).help_if(what.help));
}

/// Where a placeholder stands in its text, braces included.
fn find(text: &str, placeholder: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(open) = text[from..].find("{{").map(|at| from + at) {
        let close = open + text[open..].find("}}")?;
        if text[open + 2..close].trim() == placeholder {
            return Some((open, close + 2));
        }
        from = close + 2;
    }
    None
}

struct Missing {
    message: String,
    help: Option<String>,
}

/// What a placeholder names that does not exist, and the pointer that would declare it.
fn missing(placeholder: &Placeholder, scope: &Scope<'_>) -> Option<(Missing, String)> {
    let owner = &scope.owner;
    match placeholder {
        Placeholder::Port(name) => Some((port(name.as_ref(), scope)?, String::new())),
        Placeholder::Work if scope.ports.is_none() => Some((
            say("there is no work folder here".to_owned(), None),
            String::new(),
        )),
        Placeholder::Work => None,
        Placeholder::Value(name) => (!scope.values.contains_key(name)).then(|| {
            let help = suggestion(
                name,
                scope.values.keys().map(String::as_str),
                "its values are",
            );
            (
                say(format!("{owner} has no such value"), help),
                below(&scope.values_at, name),
            )
        }),
        Placeholder::Budget(field) => (!is_budgeted(field, scope.budget)).then(|| {
            let role = &scope.role;
            let help = Some(format!("add `{field}` to `budgets.{role}`"));
            let message = format!("the budget of `{role}` does not say it");
            (say(message, help), below(&below("/budgets", role), field))
        }),
        Placeholder::Service(name, _) => (!scope.services.contains(name)).then(|| {
            let known = scope.services.iter().map(ServiceName::as_str);
            let help = suggestion(name.as_str(), known, "services that run by then are");
            let at = below("/services", name.as_str());
            (say("no such service runs by then".to_owned(), help), at)
        }),
        Placeholder::Member(name, field) => Some((member(name, field, scope)?, String::new())),
    }
}

const fn say(message: String, help: Option<String>) -> Missing {
    Missing { message, help }
}

fn port(name: Option<&PortName>, scope: &Scope<'_>) -> Option<Missing> {
    let Some(ports) = scope.ports else {
        return Some(say("there is no port here".to_owned(), None));
    };
    let exists = name.map_or(!ports.is_empty(), |name| ports.contains(name));
    let known: Vec<&str> = ports.iter().map(PortName::as_str).collect();
    let help = (!known.is_empty()).then(|| format!("its ports are {}", known.join(", ")));
    (!exists).then(|| say("the member has no such port".to_owned(), help))
}

fn is_budgeted(field: &str, budget: Option<&Budget>) -> bool {
    budget.is_some_and(|budget| match field {
        "cores" => budget.cores.is_some(),
        "memory" => budget.memory.is_some(),
        "processes" => budget.processes.is_some(),
        _ => budget.connections.is_some(),
    })
}

fn member(name: &MemberName, field: &str, scope: &Scope<'_>) -> Option<Missing> {
    match scope.members.iter().find(|(member, _)| member == name) {
        None => {
            let known = scope.members.iter().map(|(member, _)| member.as_str());
            let help = suggestion(name.as_str(), known, "its members are");
            Some(say(format!("{} has no such member", scope.owner), help))
        }
        Some((_, ports)) if field == "port" && ports.is_empty() => {
            Some(say("that member has no port".to_owned(), None))
        }
        Some(_) => None,
    }
}

fn suggestion<'w>(
    word: &str,
    known: impl Iterator<Item = &'w str>,
    listed: &str,
) -> Option<String> {
    let known: Vec<&str> = known.collect();
    let all = || format!("{listed} {}", known.join(", "));
    (!known.is_empty()).then(|| did_you_mean(word, known.iter().copied(), all))
}

/// Checks a file that is rendered: it is a template, and its names exist.
pub(super) fn rendered(
    source: &str,
    text: &Result<String, String>,
    pointer: &str,
    scope: &Scope<'_>,
    context: &mut Context<'_>,
) {
    let shown = source.escape_debug();
    let text = match text {
        Ok(text) => text,
        Err(because) => {
            let message = format!("`{shown}` cannot be rendered: {because}");
            context.report(Fault::new(DiagnosticCode::Rendered, pointer, message));
            return;
        }
    };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let template = match environment.template_from_named_str(source, text) {
        Ok(template) => template,
        Err(error) => {
            let line = error
                .line()
                .map_or_else(String::new, |line| format!(", line {line}"));
            let detail = error
                .detail()
                .map_or_else(|| error.kind().to_string(), str::to_owned);
            let message = format!("`{shown}`{line} is no template: {detail}");
            context.report(Fault::new(DiagnosticCode::Rendered, pointer, message));
            return;
        }
    };
    let mut names: Vec<String> = template.undeclared_variables(true).into_iter().collect();
    names.sort();
    for name in names {
        if let Some(message) = unknown_variable(&name, scope) {
            let message = format!("`{shown}` uses `{}`: {message}", name.escape_debug());
            let fault = Fault::new(DiagnosticCode::PlaceholderUnknown, pointer, message);
            context.report(fault.touching(scope.values_at.clone()));
        }
    }
}

/// What is wrong with a name of a rendered file. Built-in functions of the templates are no names.
fn unknown_variable(name: &str, scope: &Scope<'_>) -> Option<String> {
    let first = name.split('.').next().unwrap_or(name);
    if scope.values.contains_key(first) || ["range", "dict", "debug", "namespace"].contains(&first)
    {
        return None;
    }
    let words: Vec<&str> = name.split('.').collect();
    let partial = matches!(
        words.as_slice(),
        ["value" | "budget" | "service" | "member"] | ["service" | "member", _]
    );
    if partial {
        return None;
    }
    // A field of what a placeholder names is as far as the check can see.
    let deepest = match first {
        "service" | "member" => 3,
        "port" | "value" | "budget" => 2,
        _ => words.len(),
    };
    let placeholder: Result<Placeholder, String> =
        words[..deepest.min(words.len())].join(".").parse();
    match placeholder {
        Ok(placeholder) => missing(&placeholder, scope).map(|(missing, _)| missing.message),
        Err(_) => Some(format!(
            "there is no such name; known are port, work, value.NAME, budget.{{{}}}, service.NAME.{{{}}}, \
             member.NAME.{{{}}} and the names under `values`",
            BUDGET_FIELDS.join(","),
            SERVICE_FIELDS.join(","),
            MEMBER_FIELDS.join(",")
        )),
    }
}
