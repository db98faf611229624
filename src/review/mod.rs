//! Verify and reproduce published entries.
