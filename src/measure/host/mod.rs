//! The machine: what it is ([`facts`]) and what it is doing ([`reading`]).

mod facts;
pub mod parse;
mod reading;
mod signs;

pub use facts::{facts, facts_below, online};
pub use reading::reading;
pub use signs::{Busy, Clocks, Signs, signs};
