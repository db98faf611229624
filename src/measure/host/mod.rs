//! The machine: what it is ([`facts`]) and what it is doing ([`reading`]).

mod facts;
pub mod parse;
mod reading;

pub use facts::{facts, online};
pub use reading::reading;
