//! The process engine with real processes: limits, trees, events, leftovers. As root in cgroups, as
//! anybody without them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

mod cost;
mod leftovers;
mod limits;
mod member;
mod rig;
mod tree;
mod user;
