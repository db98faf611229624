//! Data templates: the state that every block starts from. Only `none` so far.
