//! Readings of cgroups, `/proc` and clocks.
