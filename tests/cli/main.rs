//! Stories of the command line: whole standard output, standard error and exit code.

mod support;

mod init;
mod reads;
mod strangers;
mod streams;
mod validate;
mod words;
