//! `loadlab-stub` as it is built.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod faults;
mod running;
mod serving;
