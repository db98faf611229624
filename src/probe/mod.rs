//! The reference nginx: its configuration, and the verdict on its readings.

pub mod verdict;
