//! The corpus of manifests: one fact a file, the whole answer of the loader in a snapshot.
