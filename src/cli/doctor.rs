//! `loadlab doctor`: what is wrong with this machine for an experiment. Starts nothing, writes nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::args::{Doctor, Format};
use super::failure::{Code, Failure};
use super::ui::{Ui, safe};
use super::{paths, validate};
use crate::doctor::{self, Case, Effect, Missing, Sign, Wanted};
use crate::load::oha::Oha;
use crate::load::stub;
use crate::lock::{self, Resolver as _};
use crate::measure::{clock, host};
use crate::model::plural::counted;
use crate::model::{Experiment, Known};
use crate::plan;
use crate::probe::nginx;

/// How long the machine is looked at.
const LOOK: Duration = Duration::from_secs(3);

/// What a program gets.
#[derive(Serialize)]
struct Printed<'a> {
    fit: bool,
    signs: &'a [Sign],
}

/// Looks, and prints what was found.
///
/// # Errors
/// When the manifest has faults, nothing can be read, or the machine is unfit.
pub fn doctor(arguments: &Doctor, ui: Ui) -> Result<(), Failure> {
    let loaded = arguments
        .file
        .as_deref()
        .map(|file| validate::load(file, arguments.profile.as_deref(), ui))
        .transpose()?;
    let experiment = loaded.as_ref().map(|loaded| &loaded.experiment);
    let wanted = experiment.map_or_else(Wanted::default, |experiment| {
        Wanted::of(experiment, &plan::build(experiment, None))
    });
    let folder = loaded.as_ref().map(|loaded| paths::root(&loaded.folder));
    let clocks = || (clock::monotonic_ns(), clock::realtime_ns());
    let read = host::signs(Path::new("/"), clocks, || std::thread::sleep(LOOK));
    let signs = read.map_err(|error| Failure::caused(Code::Unfit, &error))?;
    let found = doctor::examine(&Case {
        signs: &signs,
        wanted: &wanted,
        missing: &missing(experiment),
        disk_bytes: &free(&folder.unwrap_or_else(|| PathBuf::from("."))),
    });
    let fit = found.iter().all(|sign| sign.effect != Effect::Unfit);
    match arguments.format {
        Format::Json => ui.json(&Printed { fit, signs: &found }),
        Format::Text => ui.result(&text(&found, arguments.file.as_deref())),
    }
    if fit {
        Ok(())
    } else {
        Err(Failure::printed(Code::Unfit))
    }
}

/// Programs that a run would start and that are not there.
fn missing(experiment: Option<&Experiment>) -> Vec<Missing> {
    let mut missing: Vec<Missing> = Vec::new();
    missing.extend(Oha::find(None).err().map(|error| error.to_string()));
    missing.extend(stub::find(None).err().map(|error| error.to_string()));
    missing.extend(nginx::find().err().map(|error| error.to_string()));
    let programs = experiment.map(lock::programs::of_experiment);
    let programs = programs.and_then(Result::ok).unwrap_or_default();
    let own = [lock::programs::STUB, lock::programs::PROBE];
    let mut resolver = lock::resolve::Local::of_environment();
    for name in programs.keys().filter(|name| !own.contains(&name.as_str())) {
        // Without a rule for its version nothing is started.
        missing.extend(resolver.program(name, None).err());
    }
    missing
}

/// Space for this user on the disk of a folder, bytes.
fn free(folder: &Path) -> Known<u64> {
    let free = rustix::fs::statvfs(folder).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    Known::from(
        free.map_err(|error| format!("cannot read the space at {}: {error}", folder.display())),
    )
}

fn text(found: &[Sign], file: Option<&Path>) -> String {
    let mut lines = Vec::new();
    for sign in found {
        let effect = match sign.effect {
            Effect::Unfit => "unfit",
            Effect::Disturbs => "disturbs",
            Effect::Caveat => "caveat",
        };
        lines.push(format!("{effect:<9} {}: {}", sign.code, safe(&sign.seen)));
        lines.push(format!("{:<9} -> {}", "", sign.remedy));
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.push(verdict(found, file));
    lines.join("\n")
}

fn verdict(found: &[Sign], file: Option<&Path>) -> String {
    let count = |effect: Effect| found.iter().filter(|sign| sign.effect == effect).count();
    let (unfit, disturbs, caveats) = (
        count(Effect::Unfit),
        count(Effect::Disturbs),
        count(Effect::Caveat),
    );
    let what = file.map_or_else(|| "an experiment".to_owned(), paths::shown);
    let can = if unfit == 0 { "can" } else { "cannot" };
    let parts = [
        (unfit, "thing makes it unfit", "things make it unfit"),
        (disturbs, "thing disturbs", "things disturb"),
        (caveats, "caveat", "caveats"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| counted(count as u64, one, many))
        .collect();
    let parts = if parts.is_empty() {
        "nothing is wrong with it".to_owned()
    } else {
        parts.join(", ")
    };
    format!("this machine {can} measure {what}: {parts}")
}
