//! From YAML with spans to the model: schema, diagnostics, semantic checks.
