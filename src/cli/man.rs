//! `loadlab man`: manual pages, generated from the words of the command line.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::args::{Arguments, Man as Words};
use super::failure::{Code, Failure};
use super::paths;
use super::ui::{Ui, safe};

/// Prints a page, or writes all of them into a folder.
///
/// # Errors
/// When there is no such verb, or the folder cannot be written.
pub fn man(arguments: &Words, ui: Ui) -> Result<(), Failure> {
    let mut command = Arguments::command();
    command.build();
    if let Some(folder) = &arguments.into {
        return write(&command, folder, ui);
    }
    let page = match &arguments.verb {
        None => page(command),
        Some(verb) => page(of_verb(&command, verb)?),
    };
    ui.result(&String::from_utf8_lossy(&page?));
    Ok(())
}

/// The command of a verb under the name of its page.
fn of_verb(command: &Command, verb: &str) -> Result<Command, Failure> {
    let found = command.find_subcommand(verb).cloned().map(named);
    found.ok_or_else(|| {
        let failure = Failure::new(Code::Usage, format!("there is no verb `{}`", safe(verb)));
        failure.hint("`loadlab --help` lists the verbs")
    })
}

/// `loadlab run` has the page `loadlab-run`.
fn named(verb: Command) -> Command {
    let page = format!("loadlab-{}", verb.get_name());
    let words = format!("loadlab {}", verb.get_name());
    verb.display_name(page).bin_name(words)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let rendered = Man::new(command).manual("loadlab").render(&mut page);
    rendered.map_err(|error| Failure::caused(Code::Internal, &error))?;
    Ok(page)
}

fn write(command: &Command, folder: &Path, ui: Ui) -> Result<(), Failure> {
    let verbs = command.get_subcommands().cloned().map(named);
    let commands: Vec<Command> = std::iter::once(command.clone()).chain(verbs).collect();
    for command in commands {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        let written = std::fs::write(&path, page(command)?);
        written.map_err(|error| {
            let message = format!("cannot write {}: {error}", paths::shown(&path));
            Failure::new(Code::Usage, message)
        })?;
        ui.result(&paths::shown(&path));
    }
    Ok(())
}
