//! The thin binary: everything is in the library.

use std::process::ExitCode;

use loadlab::engine::process::gate;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|verb| verb == gate::VERB) {
        return gate::main(words);
    }
    loadlab::cli::main(std::env::args_os())
}
