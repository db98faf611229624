//! The load generator: the crate oha in a process of its own, so that its allocator stays here.

fn main() {}
