//! The run loop against fakes: order, tries, ends, interruptions, resuming.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

mod answers;
mod codes;
mod experiment;
mod faults;
mod order;
mod parts;
mod standards;
mod stopping;
mod story;
mod survivors;
mod tries;
