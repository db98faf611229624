//! Before anything is measured: is everything there that a run will need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::bind::{Binder, ServiceAddress};
use super::error::RunError;
use super::files::Files;
use super::rig::Rig;
use crate::engine::Group;
use crate::model::candidate::{Definition, PrewarmStep, Program};
use crate::model::cores::Isolation;
use crate::model::reading::Known;
use crate::model::{Experiment, Role, Template};

/// Folders that a program without a folder is looked for in, when nobody found it before.
const FOLDERS: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// Checks files, engines, cores and programs, and binds every text and file once. Starts nothing.
///
/// # Errors
/// Everything that is wrong, at once.
pub fn preflight(experiment: &Experiment, rig: &Rig) -> Result<(), Vec<RunError>> {
    let mut faults = Vec::new();
    match Files::read(experiment, &rig.folder) {
        Ok(files) => faults.extend(unbound(experiment, rig, &files)),
        Err(fault) => faults.push(fault),
    }
    faults.extend(missing_engines(experiment, rig));
    faults.extend(missing_cores(experiment, rig));
    faults.extend(not_isolated(experiment, rig));
    faults.extend(missing_programs(experiment, rig));
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

/// Every role with its name for a person and what runs.
fn definitions(experiment: &Experiment) -> impl Iterator<Item = (String, Role, &Definition)> {
    let services = experiment.services.values().map(|service| {
        let role = Role::Service(service.name.clone());
        (
            format!("service `{}`", service.name),
            role,
            &service.definition,
        )
    });
    let candidates = experiment.candidates.values().map(|candidate| {
        let name = format!("candidate `{}`", candidate.name);
        (name, Role::Candidate, &candidate.definition)
    });
    let standards = experiment.standards.iter();
    let weights = standards.flat_map(|standards| standards.weights.values());
    let weights = weights.map(|weight| {
        let name = format!("planted server `{}`", weight.name);
        (name, Role::Candidate, &weight.definition)
    });
    services.chain(candidates).chain(weights)
}

fn missing_engines<'a>(
    experiment: &'a Experiment,
    rig: &'a Rig,
) -> impl Iterator<Item = RunError> + 'a {
    let missing = |definition: &Definition| !rig.engines.contains_key(&definition.engine);
    definitions(experiment)
        .filter(move |(_, _, definition)| missing(definition))
        .map(|(role, _, definition)| RunError::NoEngine {
            role,
            engine: definition.engine,
        })
}

fn missing_cores(experiment: &Experiment, rig: &Rig) -> Vec<RunError> {
    let online = &rig.machine.online;
    let mut faults = Vec::new();
    for (role, cpus) in &experiment.cores {
        faults.extend(cpus.offline(role, online).map(RunError::Unfit));
    }
    for role in [Role::Candidate, Role::Load] {
        if !experiment.cores.contains_key(&role) {
            faults.push(RunError::Unfit(format!("the {role} role has no cores")));
        }
    }
    faults
}

/// What `isolation: strict` forbids: roles that share a core by its threads, or that nobody knows whether.
fn not_isolated(experiment: &Experiment, rig: &Rig) -> Vec<RunError> {
    const FORBIDDEN: &str = "`isolation: strict` forbids it";
    if experiment.isolation != Isolation::Strict {
        return Vec::new();
    }
    let unfit = |text: String| RunError::Unfit(format!("{text}; {FORBIDDEN}"));
    match rig.machine.shared_cores(&experiment.cores) {
        Known::Absent(because) => vec![unfit(format!("siblings are not known: {because}"))],
        Known::Value(shared) => shared.iter().map(|it| unfit(it.to_string())).collect(),
    }
}

fn missing_programs(experiment: &Experiment, rig: &Rig) -> Vec<RunError> {
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for (role, program) in programs(experiment, rig) {
        if !seen.insert(program.clone()) {
            continue;
        }
        if let Some(because) = not_executable(&program, rig) {
            faults.push(RunError::Unfit(format!(
                "{role} needs the program {program}: {because}"
            )));
        }
    }
    faults
}

/// Every program that will be started, by its name or place; those below `{{ work }}` are files.
fn programs(experiment: &Experiment, rig: &Rig) -> Vec<(String, String)> {
    let nginx = rig.programs.nginx.to_string_lossy().into_owned();
    let mut programs = vec![("the probe".to_owned(), nginx)];
    for (role, _, definition) in definitions(experiment) {
        for member in definition.members.values() {
            match &member.program {
                Program::Process(process) => programs.extend(first(&role, &process.command)),
                Program::Stub(_) | Program::Weight(_) => {
                    let stub = rig.programs.stub.to_string_lossy().into_owned();
                    programs.push((role.clone(), stub));
                }
            }
        }
        programs.extend(
            definition
                .prewarm
                .iter()
                .filter_map(|step| of_step(&role, step)),
        );
    }
    let steps = experiment.prewarm.iter();
    programs.extend(steps.filter_map(|step| of_step("a prewarm step", step)));
    programs
}

fn of_step(role: &str, step: &PrewarmStep) -> Option<(String, String)> {
    match step {
        PrewarmStep::Command { command, .. } => first(role, command),
        PrewarmStep::Http { .. } => None,
    }
}

/// The program of a command, unless its place is known only when it starts.
fn first(role: &str, command: &[Template]) -> Option<(String, String)> {
    let program = command.first()?;
    let fixed = program.placeholders().next().is_none();
    let source = program.source();
    let relative = source.contains('/') && !source.starts_with('/');
    (fixed && !relative).then(|| (role.to_owned(), source.to_owned()))
}

fn not_executable(program: &str, rig: &Rig) -> Option<String> {
    let found = rig.programs.found.get(program).cloned();
    let place = found.or_else(|| program.contains('/').then(|| PathBuf::from(program)));
    match place {
        Some(place) if is_executable(&place) => None,
        Some(place) => Some(format!("{} is no executable file", place.display())),
        None if FOLDERS
            .iter()
            .any(|folder| is_executable(&Path::new(folder).join(program))) =>
        {
            None
        }
        None => Some(format!("it is not in {}", FOLDERS.join(", "))),
    }
}

fn is_executable(place: &Path) -> bool {
    place.is_file() && rustix::fs::access(place, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Binds everything to made-up ports and folders, to find what has no value.
fn unbound(experiment: &Experiment, rig: &Rig, files: &Files) -> Vec<RunError> {
    let services = experiment.services.keys().map(|name| {
        let host = "127.0.0.1".to_owned();
        (name.clone(), ServiceAddress { host, port: 1 })
    });
    let services: BTreeMap<_, _> = services.collect();
    let mut faults = Vec::new();
    for (name, role, definition) in definitions(experiment) {
        let budget = experiment.budgets.get(&role).cloned().unwrap_or_default();
        let group = made_up(&role, definition);
        let binder = Binder {
            definition,
            group: &group,
            budget: &budget,
            services: &services,
            files,
            programs: &rig.programs,
        };
        if let Err(RunError::Unbound { what, because }) = binder.members() {
            let what = format!("{what} of {name}");
            faults.push(RunError::Unbound { what, because });
        }
    }
    faults
}

fn made_up(role: &Role, definition: &Definition) -> Group {
    let ports = definition.members.iter().flat_map(|(name, member)| {
        let ports = member.ports.iter();
        ports.map(move |port| ((name.clone(), port.clone()), 1))
    });
    let work = definition.members.keys();
    Group {
        id: "preflight".to_owned(),
        role: role.clone(),
        host: "127.0.0.1".to_owned(),
        ports: ports.collect(),
        work: work
            .map(|name| (name.clone(), PathBuf::from("/work")))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CpuSet;
    use crate::run::fake::FakeRig;

    #[test]
    fn strict_isolation_needs_cores_of_ones_own_and_to_know_so() {
        let mut sample = crate::record::sample::Sample::default().inputs().experiment;
        sample.cores = BTreeMap::from([
            (Role::Candidate, CpuSet::of([0]).unwrap()),
            (Role::Load, CpuSet::of([1]).unwrap()),
        ]);
        let mut fakes = FakeRig::new("2026-01-01.abc".parse().unwrap(), Path::new("/"));
        assert_eq!(not_isolated(&sample, &fakes.rig).len(), 0, "nobody asked");
        sample.isolation = Isolation::Strict;
        let told = |fakes: &FakeRig| -> Vec<String> {
            let faults = not_isolated(&sample, &fakes.rig);
            faults.iter().map(ToString::to_string).collect()
        };
        let unknown = told(&fakes);
        assert!(unknown[0].contains("siblings are not known"), "{unknown:?}");
        let apart = |cpu| (cpu, CpuSet::of([cpu]).unwrap());
        fakes.rig.machine.siblings = Known::Value([0, 1].map(apart).into());
        assert_eq!(told(&fakes), [""; 0]);
        let both = |cpu| (cpu, CpuSet::of([0, 1]).unwrap());
        fakes.rig.machine.siblings = Known::Value([0, 1].map(both).into());
        let shared = told(&fakes);
        let said =
            "CPU 0 of candidate and CPU 1 of load are one core; `isolation: strict` forbids it";
        assert!(shared[0].contains(said), "{shared:?}");
    }
}
