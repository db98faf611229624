//! `loadlab selftest`: known weights through the whole pipeline on this machine.

mod halt;
mod table;
mod workplace;

use std::path::Path;
use std::process::Command;

use super::args::{Run, Selftest};
use super::drive::{self, Hearing};
use super::failure::{Code, Failure};
use super::progress::Progress;
use super::run::{self, Ready};
use super::ui::{Ui, safe};
use super::{paths, validate};
use crate::load::stub;
use crate::lock::{self, Upgrade};
use crate::measure::host;
use crate::model::{CpuSet, Experiment, Role};
use crate::review::{Folder, Material};
use crate::run::{Cancel, Closing};
use crate::weights::{self, Burnt, Judgement, Split, Table, Weighed};
use workplace::Workplace;

/// Measures, compares, prints.
///
/// # Errors
/// When the machine is unfit, a weight is not read rightly, or a person interrupted it.
pub fn selftest(arguments: &Selftest, ui: Ui) -> Result<(), Failure> {
    let split = cores()?;
    let hearing = Hearing::begin()?;
    let workplace = Workplace::make(arguments.keep.as_deref())?;
    let file = workplace.folder().join("experiment.yaml");
    workplace.write(&file, &weights::manifest(&split))?;
    let experiment = pin(&workplace, &file, ui)?;
    let ready = run::begin(&words(&workplace, &file, arguments), ui)?;
    let burnt = calibrate(&ready.equipment.rig.programs.stub)?;
    measure(&ready, hearing, ui)?;
    let table = compare(&ready, &experiment, &burnt)?;
    table::print(&table, &split, arguments.format, ui);
    if let Some(kept) = &arguments.keep {
        ui.note(&format!("kept in {}", paths::shown(kept)));
    }
    match table.count(Judgement::NotOk) {
        0 => Ok(()),
        1 => Err(wrong("one known weight was not read rightly")),
        several => Err(wrong(&format!(
            "{several} known weights were not read rightly"
        ))),
    }
}

fn wrong(message: &str) -> Failure {
    let hint = "`loadlab doctor` says what disturbs this machine; numbers measured here are not to be trusted";
    Failure::new(Code::Judgement, message).hint(hint)
}

/// Two CPUs of those that this process may use.
fn cores() -> Result<Split, Failure> {
    let allowed = rustix::thread::sched_getaffinity(None).ok();
    let machine = host::facts();
    let allowed = allowed.and_then(|set| {
        let in_set = |cpu: &u32| usize::try_from(*cpu).is_ok_and(|cpu| set.is_set(cpu));
        CpuSet::of(machine.online.iter().filter(in_set))
    });
    let allowed = allowed.unwrap_or_else(|| machine.online.clone());
    weights::split(&machine.online, &machine.siblings, &allowed).ok_or_else(|| {
        let message = format!(
            "the known weights need two CPUs, one for the server and one for the load; this process may use {allowed}"
        );
        Failure::new(Code::Unfit, message)
    })
}

/// Loads the manifest and pins it, as `loadlab lock` does.
fn pin(workplace: &Workplace, file: &Path, ui: Ui) -> Result<Experiment, Failure> {
    let loaded = validate::load(file, None, ui)?;
    let mut resolver = lock::resolve::Local::of_environment();
    let pinned = lock::pin(&loaded.experiment, &mut resolver, None, &Upgrade::None);
    let lock = pinned.map_err(|faults| {
        for fault in &faults.0 {
            ui.failure(&Failure::new(Code::Unfit, safe(&fault.to_string())));
        }
        Failure::printed(Code::Unfit)
    })?;
    let place = workplace.folder().join("experiment.lock.json");
    workplace.write(&place, &lock.to_text())?;
    Ok(loaded.experiment)
}

fn words(workplace: &Workplace, file: &Path, arguments: &Selftest) -> Run {
    Run {
        file: Some(file.to_owned()),
        profile: None,
        resume: None,
        only: Vec::new(),
        unlocked: false,
        runs: Some(workplace.folder().join("runs")),
        generator: arguments.generator.clone(),
    }
}

/// What independent clocks show of known amounts of work, before anything is measured.
fn calibrate(program: &Path) -> Result<Vec<Burnt>, Failure> {
    let unfit = |because: String| {
        let message = format!("cannot calibrate {}: {because}", paths::shown(program));
        Failure::new(Code::Unfit, message)
    };
    let output = Command::new(program).arg("--calibrate").output();
    let output = output.map_err(|error| unfit(error.to_string()))?;
    let read = stub::read_calibration(&output.stdout);
    let tried = read.map_err(|error| unfit(error.to_string()))?;
    let burnt = tried.iter().map(|it| Burnt {
        work_ns: it.work_ns,
        times: it.times,
        cpu_ns: it.cpu_ns,
        fastest_ns: it.fastest_ns,
    });
    Ok(burnt.collect())
}

fn measure(ready: &Ready, hearing: Hearing, ui: Ui) -> Result<(), Failure> {
    let cancel = Cancel::default();
    let mut observer = halt::Halting::new(Progress::new(ui));
    let ended = drive::drive(ready, hearing, &mut observer, &cancel, ui)?;
    if cancel.is_requested() {
        return Err(Failure::new(
            Code::Interrupted,
            "interrupted: nothing is kept of it",
        ));
    }
    match ended {
        Ok(Closing { complete: true, .. }) => Ok(()),
        Ok(closing) => {
            let because = closing
                .because
                .unwrap_or_else(|| "it ended early".to_owned());
            Err(Failure::new(Code::Unfit, safe(&because)))
        }
        Err(error) => Err(Failure::new(
            drive::code_of(&error),
            safe(&error.to_string()),
        )),
    }
}

/// Reads the draft back from the disk, estimates, and compares.
fn compare(ready: &Ready, experiment: &Experiment, burnt: &[Burnt]) -> Result<Table, Failure> {
    let internal = |error: &dyn std::error::Error| Failure::caused(Code::Internal, error);
    let folder = Folder::open(ready.draft.folder()).map_err(|error| internal(&error))?;
    let material = Material::read(&folder).map_err(|error| internal(&error))?;
    let records = ready
        .draft
        .records()
        .map_err(|error| internal(&error))?
        .records;
    let summary = material.summary();
    Ok(weights::judge(&Weighed {
        records: &records,
        summary: &summary,
        candidate: &experiment.cores[&Role::Candidate],
        burnt,
    }))
}
