//! Faults for real: each is done to a run of real processes, real nginx and real load, and must be recorded
//! under its code and no other.
//!
//! `LOADLAB_FAULTS` repeats each row so often (default 1). Skipped, with the reason, where a program is missing, and
//! without the right to make control groups, since another's hand cannot reach into what is not there.

#![allow(clippy::print_stderr, reason = "a skipped test says why")]
#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]
#![allow(clippy::panic, reason = "a test ends where it fails")]

#[path = "../run_loop/experiment.rs"]
mod experiment;
#[path = "../programs/mod.rs"]
mod programs;
#[path = "../programs/rig.rs"]
mod rig;

mod bench;
mod cases;
mod doctored;
mod guards;
mod hand;
mod outcomes;
mod rows;
mod table;
