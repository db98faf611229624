//! Locks as a whole: pinning, checking, their text, merges by git, and the programs of a machine.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

mod checking;
mod local;
mod pinning;
mod text;
#[path = "../web_study/mod.rs"]
mod web_study;
