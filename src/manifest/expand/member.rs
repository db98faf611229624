//! The members of a role: what each executes, its environment, its files.

use std::collections::BTreeMap;

use regex::Regex;

use super::context::{Context, Fault};
use super::placeholders::{self, Scope};
use super::stub;
use crate::manifest::code::DiagnosticCode;
use crate::manifest::files::plain;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::candidate::{Member, Process, Program, VersionRule};
use crate::model::name::{MemberName, PortName};
use crate::model::{Nanoseconds, Template};

/// An entry of an environment that all members have: name, text, and where it stands.
pub(super) type Shared = (String, String, String);

/// A member as it is written, with the pointer of its mapping.
pub(super) struct Written {
    pointer: String,
    program: WrittenProgram,
}

enum WrittenProgram {
    Process(Box<wire::Process>),
    Stub(Box<wire::Stub>),
}

/// The only member of a role, when it does not name its members.
pub(super) fn main_member() -> MemberName {
    "main".parse().expect("a plain name")
}

/// The only port of a member that does not name its ports.
pub(super) fn http_port() -> PortName {
    "http".parse().expect("a plain name")
}

/// The members of a role as they are written, in starting order.
pub(super) fn members(
    run: Option<wire::Run>,
    owner: &str,
    shown: &str,
    context: &mut Context<'_>,
) -> Vec<(MemberName, Written)> {
    let pointer = below(owner, "run");
    let process = |pointer: String, process| Written {
        pointer,
        program: WrittenProgram::Process(process),
    };
    let server = |pointer: String, stub| Written {
        pointer,
        program: WrittenProgram::Stub(stub),
    };
    match run {
        None => {
            let message = format!("nothing says what {} runs", shown);
            let fault = Fault::new(DiagnosticCode::NoProgram, owner, message).on_key();
            context.report(fault.help("add `run` here or in `defaults.candidate`"));
            Vec::new()
        }
        Some(wire::Run::Process(only)) => vec![(main_member(), process(pointer, only))],
        Some(wire::Run::Stub(only)) => vec![(main_member(), server(pointer, only))],
        Some(wire::Run::Members { members }) => {
            let at = below(&pointer, "members");
            let each = members.0.into_iter().map(|(name, member)| {
                let pointer = below(&at, name.0.as_str());
                let written = match member {
                    wire::MemberRun::Process(one) => process(pointer, one),
                    wire::MemberRun::Stub(one) => server(pointer, one),
                };
                (name.0, written)
            });
            each.collect()
        }
    }
}

impl Written {
    pub(super) fn ports(&self) -> Vec<PortName> {
        match &self.program {
            WrittenProgram::Stub(_) => vec![http_port()],
            WrittenProgram::Process(process) => match &process.ports {
                None => vec![http_port()],
                Some(ports) => ports.iter().map(|name| name.0.clone()).collect(),
            },
        }
    }

    pub(super) fn expand(
        self,
        shared: &[Shared],
        scope: &Scope<'_>,
        context: &mut Context<'_>,
    ) -> Member {
        let ports = self.ports();
        let at = |key: &str| below(&self.pointer, key);
        match self.program {
            WrittenProgram::Stub(written) => Member {
                program: Program::Stub(stub::expand(&written, &self.pointer, context)),
                env: BTreeMap::new(),
                files: BTreeMap::new(),
                user: None,
                ports,
                grace: Nanoseconds::seconds(5),
            },
            WrittenProgram::Process(process) => {
                let own = process.env.iter().flat_map(|env| &env.0);
                let own = own.map(|(name, value)| {
                    (name.0.clone(), value.0.clone(), below(&at("env"), &name.0))
                });
                let mut env = BTreeMap::new();
                for (name, text, pointer) in shared.iter().cloned().chain(own) {
                    env.insert(
                        name,
                        placeholders::template(&text, &pointer, scope, context),
                    );
                }
                let files = files(process.files.as_ref(), &at("files"), scope, context);
                if process.command.is_none() {
                    let message = format!("nothing says which command {} runs", scope.owner);
                    let fault =
                        Fault::new(DiagnosticCode::NoProgram, &self.pointer, message).on_key();
                    context.report(fault.help("add `command` here or in `defaults.candidate`"));
                }
                let command = process.command.map(|command| command.0).unwrap_or_default();
                let version = process
                    .version
                    .map(|rule| version(rule, &at("version"), context));
                Member {
                    program: Program::Process(Process {
                        command: command_words(command, &at("command"), scope, context),
                        version,
                    }),
                    env,
                    files,
                    user: process.user,
                    ports,
                    grace: process
                        .grace
                        .map_or(Nanoseconds::seconds(5), |grace| grace.0),
                }
            }
        }
    }
}

pub(super) fn command_words(
    words: Vec<String>,
    pointer: &str,
    scope: &Scope<'_>,
    context: &mut Context<'_>,
) -> Vec<Template> {
    let words = words.into_iter().enumerate();
    words
        .map(|(index, word)| {
            let at = below(pointer, &index.to_string());
            if word.is_empty() && index == 0 {
                let message = "the program of a command is an empty text";
                context.report(Fault::new(DiagnosticCode::NoProgram, &at, message));
            }
            placeholders::template(&word, &at, scope, context)
        })
        .collect()
}

fn files(
    files: Option<&wire::Named<wire::PathText, wire::PathText>>,
    pointer: &str,
    scope: &Scope<'_>,
    context: &mut Context<'_>,
) -> BTreeMap<String, String> {
    let mut expanded = BTreeMap::new();
    for (destination, source) in files.into_iter().flat_map(|files| &files.0) {
        let at = below(pointer, &destination.0);
        if let Err(refused) = plain(&destination.0) {
            context.report(Fault::new(refused.code, &at, refused.message).on_key());
        }
        if let Some(Some(text)) = file(&source.0, &at, context) {
            placeholders::rendered(&source.0, &text, &at, scope, context);
        }
        expanded.insert(destination.0.clone(), source.0.clone());
    }
    expanded
}

/// Looks at a file; the text of one that is rendered comes back.
pub(super) fn file(
    path: &str,
    pointer: &str,
    context: &mut Context<'_>,
) -> Option<Option<Result<String, String>>> {
    if !context.is_sound(pointer) {
        return None;
    }
    match context.files.named(path) {
        Ok(read) => Some(read.template),
        Err(refused) => {
            context
                .report(Fault::new(refused.code, pointer, refused.message).help_if(refused.help));
            None
        }
    }
}

fn version(rule: wire::VersionRule, pointer: &str, context: &mut Context<'_>) -> VersionRule {
    for (index, word) in rule
        .command
        .0
        .iter()
        .enumerate()
        .filter(|(_, word)| word.contains("{{"))
    {
        let at = below(&below(pointer, "command"), &index.to_string());
        let message = format!(
            "`{}`: a version command runs before anything is bound",
            word.escape_debug()
        );
        context.report(Fault::new(DiagnosticCode::PlaceholderUnknown, &at, message));
    }
    pattern(&rule.pattern, &below(pointer, "pattern"), context);
    VersionRule {
        command: rule.command.0,
        pattern: rule.pattern,
    }
}

/// A regular expression compiles and has a group.
pub(super) fn pattern(text: &str, pointer: &str, context: &mut Context<'_>) {
    let message = match Regex::new(text) {
        Ok(regex) if regex.captures_len() > 1 => return,
        Ok(_) => "the pattern has no group in parentheses to read".to_owned(),
        Err(regex::Error::CompiledTooBig(limit)) => {
            format!("the pattern needs more than {limit} bytes")
        }
        Err(error) => {
            let shown = error.to_string();
            let cause = shown.lines().last().unwrap_or_default();
            format!(
                "the pattern cannot be compiled: {}",
                cause.trim_start_matches("error: ")
            )
        }
    };
    context.report(Fault::new(DiagnosticCode::Pattern, pointer, message));
}
