//! The command line: one file a verb; `ui` prints; exit codes in `failure`.

pub mod args;
mod completions;
mod doctor;
mod drive;
mod entries;
mod equipment;
mod explain;
pub mod failure;
mod gc;
mod init;
mod leftovers;
mod lock;
mod locked;
mod man;
mod paths;
mod pilot;
mod pins;
mod plan;
mod progress;
mod report;
mod run;
mod schema;
mod selftest;
mod source;
pub mod ui;
mod validate;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Verb};
use failure::{Code, Failure};
use ui::Ui;

/// Reads the words, does what the verb says, prints, and gives the exit code.
pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(fault) => return usage(&fault),
    };
    let ui = Ui::new(arguments.color);
    match dispatch(arguments.verb, ui) {
        Ok(()) if ui::lost_a_result() => ExitCode::from(Code::Internal as u8),
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            ui.failure(&failure);
            ExitCode::from(failure.code as u8)
        }
    }
}

/// Help and version are results; anything else is wrong usage.
fn usage(fault: &clap::Error) -> ExitCode {
    let printed = fault.print();
    if fault.use_stderr() {
        return ExitCode::from(Code::Usage as u8);
    }
    match printed {
        // A reader that went away is no fault of ours.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            ExitCode::from(Code::Internal as u8)
        }
        _ => ExitCode::SUCCESS,
    }
}

fn dispatch(verb: Verb, ui: Ui) -> Result<(), Failure> {
    match verb {
        Verb::Init(words) => init::init(&words, ui),
        Verb::Validate(words) => validate::validate(&words, ui),
        Verb::Schema(words) => schema::schema(&words, ui),
        Verb::Explain(words) => explain::explain(&words, ui),
        Verb::Lock(words) => lock::lock(&words, ui),
        Verb::Plan(words) => plan::plan(&words, ui),
        Verb::Run(words) => run::run(&words, ui),
        Verb::Doctor(words) => doctor::doctor(&words, ui),
        Verb::Selftest(words) => selftest::selftest(&words, ui),
        Verb::Pilot(words) => pilot::pilot(&words, ui),
        Verb::Report(words) => report::report(&words, ui),
        Verb::Exclude(words) => entries::exclude(&words, ui),
        Verb::Publish(words) => entries::publish(&words, ui),
        Verb::Status(words) => entries::status(&words, ui),
        Verb::Index(words) => entries::index(&words, ui),
        Verb::Verify(words) => entries::verify(&words, ui),
        Verb::Reproduce(words) => entries::reproduce(&words, ui),
        Verb::Gc(words) => gc::gc(&words, ui),
        Verb::Completions(words) => completions::completions(&words, ui),
        Verb::Man(words) => man::man(&words, ui),
    }
}
