//! From a draft to an entry and back: publishing, verifying, reproducing, excluding, indexing.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

mod damage;
mod exclusions;
mod place;
mod publishing;
mod refusals;
mod standing;
