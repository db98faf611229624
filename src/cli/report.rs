//! `loadlab report`: render a draft, or compare a published entry with what it renders to.

use std::path::Path;

use super::args::Report;
use super::failure::{Code, Failure};
use super::paths;
use super::ui::{Ui, safe};
use crate::model::plural::counted;
use crate::record::{durable, layout};
use crate::review::{self, RenderEntryError, Rendered};

/// Renders, or compares.
///
/// # Errors
/// When it cannot be read or rendered, is a published entry, or differs.
pub fn report(arguments: &Report, ui: Ui) -> Result<(), Failure> {
    let published = arguments.entry.join(layout::SUMS).exists();
    if arguments.check {
        return check(&arguments.entry, ui);
    }
    if published && arguments.output.is_none() {
        let shown = paths::shown(&arguments.entry);
        let failure = Failure::new(
            Code::Usage,
            format!("{shown} is a published entry and is never rewritten"),
        );
        return Err(
            failure.hint("compare it with `--check`, or render elsewhere with `--output DIR`")
        );
    }
    if !published {
        super::words::take(&arguments.entry, ui)?;
    }
    let rendered = review::render_entry(&arguments.entry).map_err(|error| failed(&error))?;
    let target = match &arguments.output {
        Some(output) => {
            std::fs::create_dir(output).map_err(|error| {
                let message = format!("cannot make {}: {error}", paths::shown(output));
                Failure::new(Code::Usage, message)
            })?;
            output
        }
        None => &arguments.entry,
    };
    write(target, &rendered)?;
    ui.result(&paths::shown(&target.join("report/entry.html")));
    Ok(())
}

fn check(entry: &Path, ui: Ui) -> Result<(), Failure> {
    let shown = paths::shown(entry);
    let different = review::compare::check(entry).map_err(|error| failed(&error))?;
    if different.is_empty() {
        ui.result(&format!(
            "{shown}: the report is what its records render to"
        ));
        return Ok(());
    }
    for difference in &different {
        ui.failure(&Failure::new(Code::Damaged, safe(&difference.to_string())));
    }
    ui.note(&format!(
        "{shown}: {}",
        counted(different.len() as u64, "file differs", "files differ")
    ));
    Err(Failure::printed(Code::Damaged))
}

/// Writes rendered files, each whole or not at all.
fn write(folder: &Path, rendered: &Rendered) -> Result<(), Failure> {
    let written = rendered.each(|name, file| {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        let made = std::fs::create_dir_all(parent);
        let written = made.and_then(|()| {
            let replaced = durable::replace_with(&path, |to| file.write_to(to));
            replaced.map_err(|error| error.source)
        });
        written.map_err(|error| {
            Failure::new(
                Code::Unfit,
                format!("cannot write {}: {error}", paths::shown(&path)),
            )
        })
    });
    written.map(|_| ())
}

/// A failure to render: the author's text or the records are at fault.
#[must_use]
pub fn failed(error: &RenderEntryError) -> Failure {
    let code = match error {
        RenderEntryError::Material(_) => Code::Damaged,
        RenderEntryError::Render(_) => Code::Manifest,
    };
    Failure::new(code, safe(&error.to_string()))
}
