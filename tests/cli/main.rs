//! Stories of the command line: whole standard output, standard error and exit code.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod support;

mod init;
mod reads;
mod strangers;
mod streams;
mod validate;
mod words;
