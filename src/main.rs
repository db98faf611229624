//! The thin binary: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments
        .next()
        .is_some_and(|verb| verb == loadlab::engine::process::gate::VERB)
    {
        return loadlab::engine::process::gate::main(arguments);
    }
    ExitCode::SUCCESS
}
