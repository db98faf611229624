//! The programs that an experiment starts, by the names that its commands use.

use std::collections::BTreeMap;

use super::named;
use crate::model::candidate::{PrewarmStep, VersionRule};
use crate::model::template::{Bindings, Placeholder};
use crate::model::text::harmless;
use crate::model::{Definition, Experiment, Program, Template};

/// loadlab's own test server: a sibling of the `loadlab` program.
pub const STUB: &str = "loadlab-stub";

/// The program of the probe.
pub const PROBE: &str = "nginx";

/// How the probe's program says its version.
#[must_use]
pub fn probe_version() -> VersionRule {
    VersionRule {
        command: vec![PROBE.to_owned(), "-v".to_owned()],
        pattern: r"nginx/(\S+)".to_owned(),
    }
}

/// A program's command that names nothing which could be pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unnamed {
    /// The command has no first word.
    #[error("the command is empty")]
    Empty,
    /// The first word depends on what is given out at run time.
    #[error(
        "program `{0}` is known only while a block runs; expected a name, an absolute path, `{{{{ value.NAME }}}}`, or a file below `{{{{ work }}}}`"
    )]
    Unbound(String),
    /// A relative path that is no file of the role.
    #[error(
        "program `{0}` is no file that the role is given; expected a name looked up in PATH, an absolute path, or one of the role's `files`"
    )]
    NoFile(String),
    /// Two members say differently how the program tells its version.
    #[error("program `{0}` has two different `version` rules; give it one")]
    TwoRules(String),
}

/// The name that a command's program is pinned by. Absent: a file of the experiment, which is
/// pinned by its digest already.
///
/// Values of the role are bound, because they stand in the manifest.
///
/// # Errors
/// When the program cannot be known before a block runs.
pub fn name_of(
    command: &[Template],
    definition: Option<&Definition>,
) -> Result<Option<String>, Unnamed> {
    let first = command.first().ok_or(Unnamed::Empty)?;
    let mut bindings = Bindings::from([(Placeholder::Work, ".".to_owned())]);
    for (name, value) in definition.iter().flat_map(|role| &role.values) {
        bindings.insert(Placeholder::Value(name.clone()), value.clone());
    }
    let bound = first
        .bind(&bindings)
        .map_err(|_| Unnamed::Unbound(harmless(first.source())))?;
    if bound.is_empty() {
        return Err(Unnamed::Empty);
    }
    if bound.starts_with('/') || !bound.contains('/') {
        return Ok(Some(bound));
    }
    let inside = bound.trim_start_matches("./");
    let given = definition.is_some_and(|role| {
        let mut members = role.members.values();
        members.any(|member| member.files.contains_key(inside))
    });
    if given {
        Ok(None)
    } else {
        Err(Unnamed::NoFile(harmless(first.source())))
    }
}

/// The commands of prewarm steps.
fn commands(steps: &[PrewarmStep]) -> impl Iterator<Item = &[Template]> {
    steps.iter().filter_map(|step| match step {
        PrewarmStep::Command { command, .. } => Some(command.as_slice()),
        PrewarmStep::Http { .. } => None,
    })
}

/// Every program of a role with its version rule, or why it has no name.
pub fn of_definition(
    definition: &Definition,
) -> impl Iterator<Item = Result<(String, Option<&VersionRule>), Unnamed>> {
    let members = definition.members.values().map(|member| {
        let (name, rule) = match &member.program {
            Program::Stub(_) => (Ok(Some(STUB.to_owned())), None),
            // Its server is the test server or the probe's nginx, which is always pinned; a companion
            // beside it is the test server's program too.
            Program::Weight(_) => (Ok(Some(STUB.to_owned())), None),
            Program::Process(process) => (
                name_of(&process.command, Some(definition)),
                process.version.as_ref(),
            ),
        };
        name.map(|name| name.map(|name| (name, rule)))
    });
    let prewarm = commands(&definition.prewarm)
        .map(|command| name_of(command, Some(definition)))
        .map(|name| name.map(|name| name.map(|name| (name, None))));
    members.chain(prewarm).filter_map(Result::transpose)
}

/// Every program of the experiment's own prewarm steps.
pub fn of_prewarm(steps: &[PrewarmStep]) -> impl Iterator<Item = Result<String, Unnamed>> {
    commands(steps)
        .map(|command| name_of(command, None))
        .filter_map(Result::transpose)
}

/// Every program of an experiment by its name, the probe's included, with its version rule.
///
/// # Errors
/// Every command that names nothing which could be pinned.
pub fn of_experiment(
    experiment: &Experiment,
) -> Result<BTreeMap<String, Option<VersionRule>>, Vec<Unnamed>> {
    let mut programs: BTreeMap<String, Option<VersionRule>> = BTreeMap::new();
    let mut faults = Vec::new();
    let members = named::definitions(experiment).flat_map(of_definition);
    let prewarm = of_prewarm(&experiment.prewarm).map(|name| name.map(|name| (name, None)));
    for found in members.chain(prewarm) {
        let named = found.and_then(|(name, rule)| add(&mut programs, name, rule));
        faults.extend(named.err().filter(|fault| !faults.contains(fault)));
    }
    programs
        .entry(PROBE.to_owned())
        .or_default()
        .get_or_insert_with(probe_version);
    if faults.is_empty() {
        Ok(programs)
    } else {
        Err(faults)
    }
}

fn add(
    programs: &mut BTreeMap<String, Option<VersionRule>>,
    name: String,
    rule: Option<&VersionRule>,
) -> Result<(), Unnamed> {
    let shown = harmless(&name);
    let known = programs.entry(name).or_default();
    match (known.as_ref(), rule) {
        (Some(known), Some(rule)) if known != rule => return Err(Unnamed::TwoRules(shown)),
        (None, Some(rule)) => *known = Some(rule.clone()),
        _ => {}
    }
    Ok(())
}
