//! From records to numbers. Pure: the same records and rules give the same bytes on every machine.

pub mod summary;

pub use summary::Summary;
