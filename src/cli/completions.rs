//! `loadlab completions`: a completion script for a shell.

use clap::CommandFactory;

use super::args::{Arguments, Completions};
use super::failure::Failure;
use super::ui::Ui;

/// Prints the script.
///
/// # Errors
/// None; the signature is that of every verb.
pub fn completions(arguments: &Completions, ui: Ui) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "loadlab",
        &mut script,
    );
    ui.result(&String::from_utf8_lossy(&script));
    Ok(())
}
