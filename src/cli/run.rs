//! `loadlab run`: measure into a new draft, or go on with one.

use std::path::Path;

use super::args::Run;
use super::equipment::{self, Equipment};
use super::failure::{Code, Failure};
use super::ui::{Ui, safe};
use super::{drive, locked, paths, source, validate};
use crate::lock::Locked;
use crate::manifest::Loaded;
use crate::model::{Caveat, Digest, Experiment};
use crate::plan::{self, Asked, Plan};
use crate::record::resume::Circumstances;
use crate::record::{Draft, Inputs, Origin};
use crate::record::{Event, Records};

/// Measures; ends with what the run showed of the instrument.
///
/// # Errors
/// When something is missing or unfit, blocks stayed invalid, or a person interrupted it.
pub fn run(arguments: &Run, ui: Ui) -> Result<(), Failure> {
    let ready = match &arguments.resume {
        Some(folder) => resume(folder, arguments, ui)?,
        None => {
            let loaded = load(arguments, ui)?;
            let ready = begin_with(&loaded, arguments, ui)?;
            if !arguments.unlocked {
                warn_of_source(&loaded, ui);
            }
            ready
        }
    };
    let ended = drive::measure(&ready, ui)?;
    ended.complete()?;
    let draft = paths::shown(ready.draft.folder());
    ui.result(&draft);
    ended.valid()?;
    ui.note(&format!("next: loadlab report {draft}"));
    Ok(())
}

/// Everything that measuring needs.
pub struct Ready {
    /// What is measured into.
    pub draft: Draft,
    /// Engines, generator, programs.
    pub equipment: Equipment,
    /// What is measured.
    pub asked: Asked,
    /// What was recorded before.
    pub records: Records,
}

/// Checks everything before the draft is made, so that a fault leaves nothing behind.
///
/// # Errors
/// When something is missing or unfit.
pub fn begin(arguments: &Run, ui: Ui) -> Result<Ready, Failure> {
    begin_with(&load(arguments, ui)?, arguments, ui)
}

fn load(arguments: &Run, ui: Ui) -> Result<Loaded, Failure> {
    let file = arguments
        .file
        .as_deref()
        .expect("the command line asks for a file or a draft");
    validate::load(file, arguments.profile.as_deref(), ui)
}

fn begin_with(loaded: &Loaded, arguments: &Run, ui: Ui) -> Result<Ready, Failure> {
    let lock = lock_of(loaded, arguments.unlocked, ui)?;
    let locked = lock.as_ref().map(|(locked, _)| locked);
    let plan = plan::build(&loaded.experiment, locked.map(|locked| &locked.lock));
    let asked = asked(plan, &arguments.only)?;
    let mut equipment = Equipment::find(&loaded.folder, arguments.generator.as_deref())?;
    let programs = equipment.check_programs(&loaded.experiment, locked, ui)?;
    equipment.take_cores(&loaded.experiment)?;
    let inputs = inputs(
        loaded,
        lock.as_ref().map(|(_, bytes)| bytes.clone()),
        asked.plan.clone(),
        &equipment,
    )?;
    let mut caveats = caveats(&loaded.experiment, &inputs.plan, locked, &equipment);
    caveats.extend(programs);
    let runs = arguments
        .runs
        .clone()
        .unwrap_or_else(|| paths::root(&loaded.folder).join("runs"));
    let draft = create(&runs.join(loaded.experiment.name.as_str()), &inputs)?;
    equipment.name(draft.entry());
    let records = open(&draft, loaded, caveats)?;
    Ok(Ready {
        draft,
        equipment,
        asked,
        records,
    })
}

/// Writes the first record.
///
/// # Errors
/// When the disk refuses.
pub fn open(
    draft: &Draft,
    loaded: &Loaded,
    caveats: Vec<(Caveat, String)>,
) -> Result<Records, Failure> {
    let origin = Origin {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: equipment::own_digest(),
        source: source::commit(&loaded.folder, &manifest_name(loaded)),
        caveats,
    };
    let disk = |error: &dyn std::error::Error| Failure::caused(Code::Unfit, error);
    let opened = draft.opening(origin).map_err(|error| disk(&error))?;
    let mut writer = draft.writer().map_err(|error| disk(&error))?;
    writer
        .append(Event::Opened(Box::new(opened)))
        .and_then(|()| writer.sync())
        .map_err(|error| disk(&error))?;
    drop(writer);
    Ok(draft.records().map_err(|error| disk(&error))?.records)
}

fn lock_of(loaded: &Loaded, unlocked: bool, ui: Ui) -> Result<Option<(Locked, Vec<u8>)>, Failure> {
    if unlocked {
        ui.warn("measuring without a lock: the draft cannot be published");
        return Ok(None);
    }
    locked::require(loaded, ui).map(Some)
}

fn manifest_name(loaded: &Loaded) -> String {
    format!("{}.yaml", loaded.stem)
}

/// Publishing asks for a manifest from a commit; after the run it would be too late to hear of it.
fn warn_of_source(loaded: &Loaded, ui: Ui) {
    if let Some(because) = source::unpublishable(&loaded.folder, &manifest_name(loaded)) {
        ui.warn(&format!(
            "this draft cannot be published: {}; commit before measuring",
            safe(&because)
        ));
    }
}

fn asked(plan: Plan, patterns: &[String]) -> Result<Asked, Failure> {
    let asked = Asked::of(plan, patterns);
    asked.map_err(|fault| Failure::new(Code::Usage, safe(&fault.to_string())))
}

fn inputs(
    loaded: &Loaded,
    lock: Option<Vec<u8>>,
    plan: Plan,
    equipment: &Equipment,
) -> Result<Inputs, Failure> {
    let read = |path: &Path| paths::read(path, Code::Manifest);
    let mut templates = std::collections::BTreeMap::new();
    for file in &loaded.experiment.files {
        if let Some(name) = file.path.strip_prefix("templates/")
            && let Some(bytes) = read(&loaded.folder.join(&file.path))?
        {
            templates.insert(name.to_owned(), bytes);
        }
    }
    Ok(Inputs {
        manifest: loaded.manifest.clone(),
        lock,
        profile: loaded.profile.as_ref().map(|profile| profile.bytes.clone()),
        prose: read(&loaded.folder.join("entry.md.j2"))?,
        templates,
        experiment: loaded.experiment.clone(),
        plan,
        host: equipment.rig.machine.clone(),
        engine: equipment.file(),
    })
}

/// Makes the draft under a name that is free: the day, a digest, and a number where it is taken.
///
/// # Errors
/// When the disk refuses.
pub fn create(root: &Path, inputs: &Inputs) -> Result<Draft, Failure> {
    let now = crate::measure::clock::realtime_ns();
    let name = crate::record::inputs::entry_name(now, &inputs.manifest, inputs.lock.as_deref());
    Draft::create(root, name, inputs).map_err(|error| Failure::caused(Code::Unfit, &error))
}

fn caveats(
    experiment: &Experiment,
    plan: &Plan,
    locked: Option<&Locked>,
    equipment: &Equipment,
) -> Vec<(Caveat, String)> {
    let mut caveats = plan::caveats(experiment, plan);
    caveats.extend(equipment.caveats(experiment));
    if locked.is_none() {
        caveats.push((Caveat::Unlocked, "measured with `--unlocked`".to_owned()));
    }
    caveats
}

/// Opens a draft and refuses when manifest, lock or machine are not what they were.
fn resume(folder: &Path, arguments: &Run, ui: Ui) -> Result<Ready, Failure> {
    let damaged = |error: &dyn std::error::Error| Failure::caused(Code::Damaged, error);
    let draft = Draft::open(folder).map_err(|error| damaged(&error))?;
    draft.unchanged().map_err(|error| damaged(&error))?;
    let experiment = draft.expanded().map_err(|error| damaged(&error))?;
    let plan = draft.plan().map_err(|error| damaged(&error))?;
    let asked = asked(plan, &arguments.only)?;
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => equipment::experiment_folder(folder, &experiment)?,
    };
    let loaded = validate::load(&file, arguments.profile.as_deref(), ui)?;
    let unlocked = draft.lock().map_err(|error| damaged(&error))?.is_none();
    let lock = lock_of(&loaded, unlocked, ui)?;
    let mut equipment = Equipment::find(&loaded.folder, arguments.generator.as_deref())?;
    same_circumstances(
        &draft,
        &loaded,
        lock.as_ref().map(|(_, bytes)| bytes.as_slice()),
        &equipment,
        ui,
    )?;
    let locked = lock.as_ref().map(|(locked, _)| locked);
    let programs = equipment.check_programs(&experiment, locked, ui)?;
    equipment.take_cores(&experiment)?;
    equipment.name(draft.entry());
    let mut records = draft.records().map_err(|error| damaged(&error))?.records;
    note_reboot(&records, &equipment, ui);
    if records.opened().is_none() {
        // The run was killed between making the draft and its first record, or the records are lost.
        draft.unbegun().map_err(|error| damaged(&error))?;
        let mut caveats = caveats(&experiment, &asked.plan, locked, &equipment);
        caveats.extend(programs);
        records = open(&draft, &loaded, caveats)?;
    }
    Ok(Ready {
        draft,
        equipment,
        asked,
        records,
    })
}

/// A machine that was started again is the same machine; it is said, because it may explain a drift.
fn note_reboot(records: &Records, equipment: &Equipment, ui: Ui) {
    let before = records
        .sessions()
        .last()
        .and_then(|last| last.boot_id.value());
    let now = equipment.rig.machine.boot_id.value();
    if before.zip(now).is_some_and(|(before, now)| before != now) {
        ui.note("this machine was started again since the last session; going on");
    }
}

fn same_circumstances(
    draft: &Draft,
    loaded: &Loaded,
    lock: Option<&[u8]>,
    equipment: &Equipment,
    ui: Ui,
) -> Result<(), Failure> {
    let before = draft
        .circumstances()
        .map_err(|error| Failure::caused(Code::Damaged, &error))?;
    let now = Circumstances {
        manifest: Digest::of(&loaded.manifest),
        lock: lock.map(Digest::of),
        expanded: crate::record::inputs::expanded_digest(&loaded.experiment),
        host: equipment.rig.machine.clone(),
    };
    let Err(differences) = crate::record::resume::check(&before, &now) else {
        return Ok(());
    };
    for difference in &differences {
        ui.failure(&Failure::new(Code::Lock, safe(&difference.to_string())));
    }
    let message = format!(
        "cannot go on with {}: it was begun under other circumstances",
        paths::shown(draft.folder())
    );
    Err(Failure::new(Code::Lock, message)
        .hint("measure anew with `loadlab run FILE`, or name the profile it was begun with"))
}
