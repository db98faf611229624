//! Records: immutable lines written while measuring, each with the hash of the line before it.

pub mod event;

pub use event::{Event, Line};
