//! `loadlab pilot`: only the standards and the probe; what this machine resolves, and what a question needs.

use std::fmt::Write as _;

use serde::Serialize;

use super::args::{Format, Pilot as Arguments};
use super::equipment::Equipment;
use super::failure::{Code, Failure};
use super::ui::{Ui, safe};
use super::{drive, paths, run, validate};
use crate::estimate::pilot::{RoundsNeeded, deviations, rounds_needed, spread};
use crate::estimate::summary::{Decimal, RecoveredStandards};
use crate::estimate::{self, Summary};
use crate::model::plural::lasting;
use crate::model::{Caveat, Experiment, Share};
use crate::plan;
use crate::record::{Draft, Inputs};
use crate::report::standards;

/// What a pilot found, as `--format json` prints it.
#[derive(Debug, Serialize)]
struct Found {
    /// The experiment that it was made for.
    experiment: String,
    /// The draft that it was measured into.
    draft: String,
    /// Rounds that were measured.
    rounds: u64,
    /// What came back of the standards.
    standards: RecoveredStandards,
    /// Robust standard deviation of a single block's CPU cost, of its server's median.
    spread: Option<Decimal>,
    /// What the question needs.
    needs: RoundsNeeded,
    /// How long the experiment then takes, seconds; absent: the rounds are not known.
    wall_seconds: Option<u64>,
}

/// Measures the standards alone and says what they show.
///
/// # Errors
/// When something is missing or unfit, blocks stayed invalid, or a person interrupted it.
pub fn pilot(arguments: &Arguments, ui: Ui) -> Result<(), Failure> {
    let manifest = &arguments.manifest;
    let loaded = validate::load(&manifest.file, manifest.profile.as_deref(), ui)?;
    let experiment = loaded.experiment.pilot(arguments.rounds).ok_or_else(|| {
        let message = format!("{} plants no standards", paths::shown(&manifest.file));
        Failure::new(Code::Manifest, message)
            .hint("add `standards: {differences: [\"0%\", \"5%\"]}` to it")
    })?;
    let difference = difference(arguments.difference.as_deref(), &loaded.experiment)?;
    let plan = plan::build(&experiment, None).only_standards(true);
    let mut equipment = Equipment::find(&loaded.folder, arguments.generator.as_deref())?;
    equipment.check_programs(&experiment, None, ui)?;
    equipment.take_cores(&experiment)?;
    let inputs = Inputs {
        manifest: loaded.manifest.clone(),
        lock: None,
        profile: loaded.profile.as_ref().map(|profile| profile.bytes.clone()),
        prose: None,
        templates: std::collections::BTreeMap::new(),
        experiment: experiment.clone(),
        plan: plan.clone(),
        host: equipment.rig.machine.clone(),
        engine: equipment.file(),
    };
    let runs = arguments.runs.clone();
    let runs = runs.unwrap_or_else(|| paths::root(&loaded.folder).join("runs"));
    let draft = run::create(&runs.join(experiment.name.as_str()), &inputs)?;
    equipment.name(draft.entry());
    let mut caveats = equipment.caveats(&experiment);
    let pilot = "a pilot measures standards alone; it answers no question and is never published";
    caveats.push((Caveat::Unlocked, pilot.to_owned()));
    let records = run::open(&draft, &loaded, caveats)?;
    let ready = run::Ready {
        draft,
        equipment,
        asked: plan.into(),
        records,
    };
    let ended = drive::measure(&ready, ui)?;
    ended.complete()?;
    tell(
        &ready.draft,
        &loaded.experiment,
        &experiment,
        difference,
        arguments,
        ui,
    )?;
    ended.valid()
}

/// The difference that is asked for: the one that is named, or what the primary comparison takes for the
/// same, or 5 %.
fn difference(named: Option<&str>, experiment: &Experiment) -> Result<Share, Failure> {
    let primary = experiment.primary.as_ref();
    let within = primary.and_then(|primary| primary.equivalent_within);
    let usual = within.unwrap_or(Share::percent(5));
    let share = named.map_or(Ok(usual), |text| {
        text.parse::<Share>().map_err(|error| error.to_string())
    });
    let share = share
        .map_err(|because| Failure::new(Code::Usage, safe(&format!("--difference: {because}"))))?;
    if share.millionths() == 0 {
        let message = "--difference 0%: no number of rounds shows that nothing differs";
        return Err(Failure::new(Code::Usage, message));
    }
    Ok(share)
}

fn tell(
    draft: &Draft,
    asked: &Experiment,
    experiment: &Experiment,
    difference: Share,
    arguments: &Arguments,
    ui: Ui,
) -> Result<(), Failure> {
    let read = draft.records();
    let records = read
        .map_err(|error| Failure::caused(Code::Damaged, &error))?
        .records;
    let plan = draft
        .plan()
        .map_err(|error| Failure::caused(Code::Damaged, &error))?;
    let summary: Summary = estimate::estimate(&records, experiment, &plan, &[]);
    let Some(recovered) = summary.standards else {
        return Err(Failure::new(Code::Internal, "a pilot without standards"));
    };
    let deviations = deviations(&recovered);
    let (coverage, kind) = (experiment.coverage, experiment.ratio_interval);
    let needs = rounds_needed(&deviations, difference, coverage, kind);
    let found = Found {
        experiment: asked.name.to_string(),
        draft: paths::shown(draft.folder()),
        rounds: recovered.rounds,
        spread: spread(&deviations),
        wall_seconds: needs.rounds.map(|rounds| seconds(asked, rounds)),
        needs,
        standards: recovered,
    };
    match arguments.format {
        Format::Json => ui.json(&found),
        Format::Text => ui.result(&shown(&found)),
    }
    Ok(())
}

/// How long the experiment takes when its primary phase, or the standards' one, has so many rounds.
fn seconds(experiment: &Experiment, rounds: u32) -> u64 {
    let mut longer = experiment.clone();
    let primary = experiment.primary.as_ref().map(|primary| &primary.phase);
    let standards = experiment
        .standards
        .as_ref()
        .map(|standards| &standards.phase);
    if let Some(phase) = primary
        .or(standards)
        .and_then(|name| longer.phases.get_mut(name))
    {
        phase.repetitions = rounds;
    }
    plan::build(&longer, None).totals.whole_seconds()
}

/// What a person reads.
fn shown(found: &Found) -> String {
    let mut text = format!(
        "{}: {} rounds of the standards on this machine ({})\n\n",
        found.experiment, found.rounds, found.draft
    );
    for line in standards::lines(&found.standards) {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    }
    let mut say = |words: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{words}");
    };
    say(format_args!("\n{}", standards::resolved(&found.standards)));
    if let Some(spread) = &found.spread {
        let percent = spread.get() * 100.0;
        say(format_args!(
            "A single block's cost varies by {percent:.1}% around what its server costs."
        ));
    }
    let difference = found.needs.difference;
    match (found.needs.rounds, found.wall_seconds) {
        (Some(rounds), Some(seconds)) => say(format_args!(
            "A difference of {difference} needs {rounds} rounds to be shown in nine of ten runs: \
             the experiment then takes about {}.",
            lasting(seconds)
        )),
        _ => say(format_args!(
            "A difference of {difference} is not shown here by {} rounds either: measure longer windows, \
             or on a quieter machine.",
            found.needs.tried
        )),
    }
    text
}
