//! The chain of records: what is written is read back, and whatever is changed is found and named.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

mod chain;
mod draft;
mod form;
mod sequence;
