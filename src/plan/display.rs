//! A plan as a person reads it.

use std::fmt::Write as _;

use super::{Block, Plan};
use crate::model::code::Caveat;
use crate::model::cores::Sharing;
use crate::model::experiment::OrderRule;
use crate::model::plural::{counted, lasting, noun};
use crate::model::text::is_treacherous;
use crate::model::unit::Bytes;
use crate::model::{Budget, Definition, EngineKind, Experiment, LoadShape, Phase, Program, Role};

/// Rounds of a phase that are printed one by one; of more, only these and the last.
const ROUNDS_SHOWN: usize = 12;

/// The model with every default, as JSON with two spaces and a line end. Characters that could do
/// harm to a terminal are escaped the way JSON does it, so that it reads back to the same model.
///
/// # Panics
/// Never: the model has string keys only.
#[must_use]
pub fn expanded(experiment: &Experiment) -> String {
    let json = serde_json::to_string_pretty(experiment).expect("a model has string keys");
    let mut text = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        let harmful = character.is_control() && character != '\n';
        if harmful || is_treacherous(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                text += &format!("\\u{unit:04x}");
            }
        } else {
            text.push(character);
        }
    }
    text.push('\n');
    text
}

/// What `loadlab plan` prints: blocks in order, who gets what, time and disk, and the caveats that
/// are known already.
#[must_use]
pub fn display(experiment: &Experiment, plan: &Plan, caveats: &[(Caveat, String)]) -> String {
    let mut text = headline(plan);
    for phase in experiment.phases.values() {
        let blocks: Vec<&Block> = plan
            .blocks
            .iter()
            .filter(|block| block.id.phase == phase.name)
            .collect();
        if !blocks.is_empty() {
            text += &of_phase(experiment, phase, &blocks);
        }
    }
    text += &planted(experiment, plan);
    text += &given(experiment);
    text += &costs(plan);
    if !caveats.is_empty() {
        text += "\ncaveats\n";
        for (caveat, about) in caveats {
            line(&mut text, format_args!("  {caveat}: {about}"));
        }
    }
    text
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{words}");
}

fn headline(plan: &Plan) -> String {
    let locked = plan.blocks.iter().all(|block| block.method_key.is_some());
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "{}: {}, {}, seed {}{}",
            plan.experiment,
            counted(plan.totals.blocks, "block", "blocks"),
            counted(plan.totals.measurements, "measurement", "measurements"),
            plan.seed,
            if locked {
                ""
            } else {
                " (not locked: no keys yet)"
            },
        ),
    );
    text
}

fn of_phase(experiment: &Experiment, phase: &Phase, blocks: &[&Block]) -> String {
    let rule = match experiment.order.rule {
        OrderRule::Balanced => "balanced",
        OrderRule::Random => "random",
        OrderRule::Rotated => "rotated",
    };
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "\nphase {}: {}, {} of {}, order {rule}",
            phase.name,
            match phase.load {
                LoadShape::FixedRate { .. } => "fixed rate, open loop",
                LoadShape::Ceiling { .. } => "ceiling, closed loop",
            },
            counted(u64::from(phase.repetitions), "round", "rounds"),
            counted(phase.candidates.len() as u64, "candidate", "candidates"),
        ),
    );
    for scenario in phase.load.scenarios() {
        let points: Vec<String> = phase
            .load
            .points(scenario)
            .iter()
            .map(ToString::to_string)
            .collect();
        let points = points.join(", ");
        let common = phase.load.common();
        let at = match &phase.load {
            LoadShape::FixedRate { connections, .. } => {
                format!(
                    "at {points} over {}",
                    counted(u64::from(*connections), "connection", "connections")
                )
            }
            LoadShape::Ceiling { connections, .. } => {
                let most = connections.iter().copied().max().unwrap_or(0);
                let noun = noun(u64::from(most), "connection", "connections");
                format!("with {points} {noun}")
            }
        };
        let warmup = if common.warmup.0 == 0 {
            "no warm-up".to_owned()
        } else {
            format!("{} warm-up", common.warmup)
        };
        line(
            &mut text,
            format_args!("  {scenario} {at}: {warmup}, {} each", common.duration),
        );
    }
    text + &rounds(blocks)
}

/// What is planted, on which load, and in how many rounds.
fn planted(experiment: &Experiment, plan: &Plan) -> String {
    let (Some(standards), Some(added)) = (&experiment.standards, &plan.totals.standards) else {
        return String::new();
    };
    let differences = standards.planted.open_the_seal().iter();
    let differences: Vec<String> = differences
        .map(|pair| pair.difference.to_string())
        .collect();
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "\nstandards: {} among the blocks above",
            counted(added.blocks, "block", "blocks")
        ),
    );
    line(
        &mut text,
        format_args!("  planted: {}", differences.join(", ")),
    );
    line(
        &mut text,
        format_args!(
            "  {} in {} of phase {}, each at {}; at most {} of the time",
            counted(
                standards.weights.len() as u64,
                "planted server",
                "planted servers"
            ),
            counted(added.rounds, "round", "rounds"),
            standards.phase,
            standards.rate,
            standards.share,
        ),
    );
    text
}

fn rounds(blocks: &[&Block]) -> String {
    let mut rounds: Vec<(u32, Vec<&str>)> = Vec::new();
    for block in blocks {
        let candidate = block.id.candidate.as_str();
        match rounds.last_mut() {
            Some((round, candidates)) if *round == block.id.round => candidates.push(candidate),
            _ => rounds.push((block.id.round, vec![candidate])),
        }
    }
    let hidden = rounds.len().saturating_sub(ROUNDS_SHOWN + 1);
    let mut text = String::new();
    for (index, (round, candidates)) in rounds.iter().enumerate() {
        if hidden > 0 && index == ROUNDS_SHOWN {
            line(
                &mut text,
                format_args!(
                    "  … {}",
                    counted(hidden as u64, "more round", "more rounds")
                ),
            );
        }
        if hidden == 0 || index < ROUNDS_SHOWN || index + 1 == rounds.len() {
            line(
                &mut text,
                format_args!("  r{round:02}  {}", candidates.join("  ")),
            );
        }
    }
    text
}

/// Who gets which cores, what budget, and which way requests come in.
fn given(experiment: &Experiment) -> String {
    let mut text = "\nroles\n".to_owned();
    let mut roles: Vec<&Role> = experiment
        .cores
        .keys()
        .chain(experiment.budgets.keys())
        .chain([&Role::Probe])
        .collect();
    roles.sort();
    roles.dedup();
    let width = roles
        .iter()
        .map(|role| role.to_string().len())
        .max()
        .unwrap_or(0);
    for role in roles {
        let cpus = experiment.cores.get(role);
        let cpus = cpus.map_or_else(|| anywhere(role), |cpus| format!("CPU {cpus}"));
        let budget = experiment.budgets.get(role).map(limits).unwrap_or_default();
        line(
            &mut text,
            format_args!("  {:width$}  {cpus}{budget}", role.to_string()),
        );
    }
    if experiment.sharing == Sharing::Declared {
        text += "  roles may share CPUs: the profile declares it\n";
    }
    text + &reachable(experiment)
}

fn anywhere(role: &Role) -> String {
    let place = match role {
        Role::Probe => "the candidate's CPUs",
        Role::Candidate | Role::Service(_) | Role::Load => "any CPU",
    };
    place.to_owned()
}

fn limits(budget: &Budget) -> String {
    let Budget {
        cores,
        memory,
        processes,
        connections,
    } = budget;
    let mut text = String::new();
    let mut add = |words: String| text += &format!("; {words}");
    if let Some(cores) = cores {
        add(counted(u64::from(*cores), "core", "cores"));
    }
    if let Some(memory) = memory {
        add(format!("at most {memory} of memory"));
    }
    if let Some(processes) = processes {
        let processes = counted(u64::from(*processes), "process", "processes");
        add(format!("at most {processes}"));
    }
    if let Some(connections) = connections {
        let connections = counted(
            u64::from(*connections),
            "database connection",
            "database connections",
        );
        add(format!("at most {connections}"));
    }
    text
}

/// Local processes share the machine's network: who is told a port could listen on every address.
fn reachable(experiment: &Experiment) -> String {
    let open = |definition: &Definition| {
        let process = definition.engine == EngineKind::Process;
        let mut members = definition.members.values();
        process
            && members
                .any(|each| !each.ports.is_empty() && matches!(each.program, Program::Process(_)))
    };
    let services = experiment.services.values();
    let services = services
        .filter(|each| open(&each.definition))
        .map(|each| each.name.to_string());
    let candidates = experiment.candidates.values();
    let candidates = candidates
        .filter(|each| open(&each.definition))
        .map(|each| each.name.to_string());
    let names: Vec<String> = services.chain(candidates).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "\nnetwork\n  loadlab gives out ports of 127.0.0.1. Local processes share the machine's network: one that\n  \
         listens on all addresses can be reached from outside: {}\n",
        names.join(", ")
    )
}

fn costs(plan: &Plan) -> String {
    let totals = &plan.totals;
    let share = (totals.load_seconds * 100).checked_div(totals.wall_seconds);
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "\ntime  about {}, of which load {} ({} %) and warm-up {}",
            lasting(totals.wall_seconds),
            lasting(totals.load_seconds),
            share.unwrap_or(0),
            lasting(totals.warmup_seconds),
        ),
    );
    if let Some(added) = &totals.standards {
        let whole = totals.whole_seconds();
        line(
            &mut text,
            format_args!(
                "      and {} for the standards ({} %): {} altogether",
                lasting(added.wall_seconds),
                (added.wall_seconds * 100).checked_div(whole).unwrap_or(0),
                lasting(whole),
            ),
        );
    }
    line(
        &mut text,
        format_args!("disk  about {}", size(totals.whole_disk_bytes())),
    );
    text
}

/// Bytes in whole MiB, rounded up.
fn size(bytes: u64) -> String {
    Bytes(bytes.div_ceil(1 << 20) << 20).to_string()
}
