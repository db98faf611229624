//! The environment and the machine, from what was observed and pinned, never typed.

use super::table::{Cell, Fact, Table};
use super::wording;
use crate::model::cores::{Isolation, Sharing};
use crate::model::reading::Known;
use crate::model::{Bytes, EngineFacts, Experiment, LoadPoint, Role};
use crate::report::Context;
use crate::report::format::{self, Digits, NONE, Scale};

/// The environment in short, for the head of the page.
pub(crate) fn environment(context: &Context<'_>) -> Vec<Fact> {
    let host = context.host;
    let experiment = context.experiment;
    let mut facts = vec![
        Fact::new(
            "Hardware",
            format!(
                "{} · {} · {}",
                known(&host.cpu_model, Clone::clone),
                wording::plural(host.online.count() as u64, "CPU online", "CPUs online"),
                memory(host.memory_bytes)
            ),
        ),
        Fact::new(
            "System",
            format!(
                "{} · {} · {}",
                known(&host.distribution, Clone::clone),
                host.kernel,
                host.architecture
            ),
        ),
        Fact::new("Virtualisation", known(&host.virtualisation, Clone::clone)),
    ];
    facts.extend(programs(context));
    facts.extend(generators(context));
    facts.push(Fact::new("Core split", core_split(experiment)));
    facts.push(Fact::new("Budgets", budgets(experiment)));
    facts.push(Fact::new("Network", network(context)));
    let repetitions = |phase: &crate::model::Phase| {
        format!(
            "{} {} × {}",
            phase.title,
            phase.repetitions,
            wording::time(phase.load.common().duration)
        )
    };
    let repetitions: Vec<String> = experiment.phases.values().map(repetitions).collect();
    facts.push(Fact::new("Repetitions", repetitions.join(" · ")));
    facts.push(Fact::new("loadlab", context.opened.version.clone()));
    facts
}

/// The programs as the lock pins them.
fn programs(context: &Context<'_>) -> Vec<Fact> {
    let Some(lock) = context.lock else {
        return vec![Fact::new("Programs", "not pinned: measured without a lock")];
    };
    let program = |(name, pin): (&String, &crate::lock::Pin)| match &pin.version {
        Some(version) => format!("{name} {version}"),
        None => {
            let digest = pin.sha256.values().next().map(crate::model::Digest::short);
            format!(
                "{name} (no version rule; sha256 {})",
                digest.unwrap_or_else(|| NONE.to_owned())
            )
        }
    };
    let programs: Vec<String> = lock.programs.iter().map(program).collect();
    if programs.is_empty() {
        Vec::new()
    } else {
        vec![Fact::new("Programs", programs.join(" · "))]
    }
}

/// The load generators and the engines of all sessions, each once.
fn generators(context: &Context<'_>) -> Vec<Fact> {
    let mut generators: Vec<String> = Vec::new();
    let mut engines: Vec<String> = Vec::new();
    for session in context.sessions {
        let generator = format!("{} {}", session.generator.name, session.generator.version);
        if !generators.contains(&generator) {
            generators.push(generator);
        }
        for engine in session.engines.values().map(engine) {
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
    }
    vec![
        Fact::new("Load generator", wording::list(&generators)),
        Fact::new("Engine", wording::list(&engines)),
    ]
}

fn engine(facts: &EngineFacts) -> String {
    let kind = match facts.kind {
        crate::model::EngineKind::Process => "local processes",
        crate::model::EngineKind::Docker => "Docker",
    };
    let place = if facts.local_kernel {
        "this machine's kernel"
    } else {
        "another machine's kernel"
    };
    format!("{kind} (version {}), {place}", facts.version)
}

/// Which CPUs each role has.
pub(crate) fn core_split(experiment: &Experiment) -> String {
    let role =
        |(role, cpus): (&Role, &crate::model::CpuSet)| format!("{} {cpus}", wording::role(role));
    let split: Vec<String> = experiment.cores.iter().map(role).collect();
    let sharing = match experiment.sharing {
        Sharing::Disjoint => "no CPU is shared",
        Sharing::Declared => "shared CPUs are declared by the profile",
    };
    let isolation = match experiment.isolation {
        Isolation::Declared => "",
        Isolation::Strict => "; strict isolation demanded",
    };
    format!("{} ({sharing}{isolation})", split.join(" · "))
}

fn budgets(experiment: &Experiment) -> String {
    let budget = |(role, budget): (&Role, &crate::model::Budget)| {
        let parts: Vec<String> = [
            budget
                .cores
                .map(|it| wording::plural(u64::from(it), "core", "cores")),
            budget.memory.map(wording::bytes),
            budget
                .processes
                .map(|it| wording::plural(u64::from(it), "process", "processes")),
            budget.connections.map(|it| {
                format!(
                    "{} to the database",
                    wording::point(LoadPoint::Connections(it))
                )
            }),
        ]
        .into_iter()
        .flatten()
        .collect();
        let parts = if parts.is_empty() {
            "not limited".to_owned()
        } else {
            parts.join(", ")
        };
        format!("{} {parts}", wording::role(role))
    };
    let budgets: Vec<String> = experiment.budgets.iter().map(budget).collect();
    if budgets.is_empty() {
        "none".to_owned()
    } else {
        budgets.join(" · ")
    }
}

/// How requests travelled.
fn network(context: &Context<'_>) -> String {
    let local = context
        .sessions
        .iter()
        .all(|session| session.engines.values().all(|it| it.local_kernel));
    if local {
        "loopback: sender and receiver share one kernel".to_owned()
    } else {
        "as the engine's network gives it".to_owned()
    }
}

/// Everything observed of the machine.
pub(crate) fn machine(context: &Context<'_>) -> Vec<Fact> {
    let host = context.host;
    let yes = |value: &bool| if *value { "yes" } else { "no" }.to_owned();
    let siblings = known(&host.siblings, |map| {
        let alone = map.values().all(|set| set.count() == 1);
        let sets: std::collections::BTreeSet<String> =
            map.values().map(ToString::to_string).collect();
        if alone {
            "none: a CPU is a core".to_owned()
        } else {
            sets.into_iter().collect::<Vec<_>>().join(" | ")
        }
    });
    let governors = known(&host.governors, |map| {
        let words: std::collections::BTreeSet<&String> = map.values().collect();
        words.into_iter().cloned().collect::<Vec<_>>().join(", ")
    });
    let interrupts = known(&host.interrupts, |map| {
        let cpu = |(cpu, count): (&u32, &u64)| format!("CPU {cpu}: {}", format::count(*count));
        map.iter().map(cpu).collect::<Vec<_>>().join(" · ")
    });
    vec![
        Fact::new("CPU", known(&host.cpu_model, Clone::clone)),
        Fact::new("CPUs online", host.online.to_string()),
        Fact::new("Hyper-thread siblings", siblings),
        Fact::new("Frequency governor", governors),
        Fact::new("Turbo", known(&host.turbo, yes)),
        Fact::new("Memory", memory(host.memory_bytes)),
        Fact::new(
            "Swap",
            if host.swap_bytes == 0 {
                "none".to_owned()
            } else {
                memory(host.swap_bytes)
            },
        ),
        Fact::new("Kernel", host.kernel.clone()),
        Fact::new(
            "Kernel command line",
            known(&host.command_line, Clone::clone),
        ),
        Fact::new("Timer", known(&host.kernel_hz, |hz| format!("{hz} Hz"))),
        Fact::new(
            "Interrupt time charged apart",
            known(&host.irq_time_accounting, yes),
        ),
        Fact::new("Interrupts served since boot", interrupts),
        Fact::new("Control groups", known(&host.cgroups, Clone::clone)),
        Fact::new("Virtualisation", known(&host.virtualisation, Clone::clone)),
        Fact::new("Clock source", known(&host.clock_source, Clone::clone)),
        Fact::new("Power", known(&host.power, Clone::clone)),
        Fact::new("Distribution", known(&host.distribution, Clone::clone)),
    ]
}

/// What is enforced by each engine, and where it reads CPU time.
pub(crate) fn enforced(context: &Context<'_>) -> Option<Table> {
    let mut table = Table::new(
        "What the engines enforce, and where they read CPU time",
        &[
            "Engine",
            "CPUs by a cpuset",
            "Memory",
            "Processes",
            "CPU time from",
        ],
    );
    for session in context.sessions {
        for facts in session.engines.values() {
            let limit = |limit: &Known<bool>| match limit {
                Known::Value(true) => Cell::words("enforced"),
                Known::Value(false) => Cell::words("not enforced"),
                Known::Absent(reason) => Cell::words("not enforced").under(reason.clone()),
            };
            let row = vec![
                Cell::head(engine(facts)),
                limit(&facts.enforces.cpus),
                limit(&facts.enforces.memory),
                limit(&facts.enforces.processes),
                Cell::words(facts.cpu_source.clone()),
            ];
            if !table.rows.iter().any(|it| it.cells == row) {
                table.push(row);
            }
        }
    }
    table.filled()
}

/// Every setting that differs from its vendor's default.
pub(crate) fn departures(experiment: &Experiment) -> Option<Table> {
    let mut table = Table::new(
        "Settings that differ from the vendor's default",
        &["Role", "Setting", "Default", "Used", "Because"],
    );
    let candidates = experiment
        .candidates
        .values()
        .map(|it| (&it.title, &it.definition));
    let services = experiment
        .services
        .values()
        .map(|it| (&it.title, &it.definition));
    for (title, definition) in candidates.chain(services) {
        for it in &definition.departures {
            table.push(vec![
                Cell::head(title.clone()),
                Cell::words(it.setting.clone()),
                Cell::words(it.default.clone()),
                Cell::words(it.value.clone()),
                Cell::words(it.because.clone()),
            ]);
        }
    }
    table.filled()
}

fn known<T>(value: &Known<T>, words: impl FnOnce(&T) -> String) -> String {
    match value {
        Known::Value(value) => words(value),
        Known::Absent(reason) => format!("{NONE} (not known: {reason})"),
    }
}

fn memory(bytes: u64) -> String {
    let bytes = Bytes(bytes).0 as f64;
    let scale = Scale::of(crate::model::Unit::Bytes, [bytes]);
    format::quantity(bytes, Digits::Significant(3), scale).unwrap_or_else(|| NONE.to_owned())
}
