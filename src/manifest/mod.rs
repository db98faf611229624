//! From YAML with spans to the model: schema, diagnostics, semantic checks.
//!
//! The way: text → tree with spans → checked against the generated schema, faulty nodes replaced by
//! examples and marked → wire types → model with semantic checks. All faults come out at once. It
//! reads files below the manifest's folder and nothing else: no process, no network, no clock, no
//! environment, nothing written.

mod code;
mod diagnostic;
mod expand;
mod files;
mod findings;
mod init;
mod nearest;
mod parse;
mod render;
mod scalar;
mod schema;
mod shape;
mod source;
mod tree;
mod wire;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::model::Experiment;

use findings::Findings;

pub use code::{DiagnosticCode, codes, explain};
pub use diagnostic::{Diagnostic, Faults, Label, Place, Severity};
pub use init::new_experiment;
pub use schema::{profile_schema, schema};

/// A manifest that was loaded, with what it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The model, with every default filled in.
    pub experiment: Experiment,
    /// The folder that paths are relative to.
    pub folder: PathBuf,
    /// The manifest's file name without `.yaml`: its lock is `<stem>.lock.json` beside it.
    pub stem: String,
    /// The manifest, byte for byte.
    pub manifest: Vec<u8>,
    /// The profile that was merged; absent: none was asked for.
    pub profile: Option<ProfileSource>,
    /// What the author should know though the manifest can be used.
    pub notes: Vec<Diagnostic>,
}

/// A profile as it was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileSource {
    /// Its name.
    pub name: String,
    /// Its file byte for byte; of one that stands in the manifest, the same as JSON.
    pub bytes: Vec<u8>,
}

/// Loads a manifest and merges a profile into it.
///
/// `path` is a manifest or a folder with an `experiment.yaml`. `profile` is a name in the
/// manifest's `profiles`, or of `profiles/<name>.yaml` beside it.
///
/// # Errors
/// With every fault at once, each with its place.
pub fn load(path: &Path, profile: Option<&str>) -> Result<Loaded, Faults> {
    let mut findings = Findings::default();
    match read(path, profile, &mut findings) {
        Some(loaded) if !findings.has_errors() => {
            let notes = findings.into_faults().diagnostics;
            Ok(Loaded { notes, ..loaded })
        }
        _ => Err(findings.into_faults()),
    }
}

/// The whole way from the file to the model; absent where it cannot be gone to its end.
fn read(path: &Path, profile: Option<&str>, findings: &mut Findings) -> Option<Loaded> {
    let path = source::manifest_path(path);
    let folder = path
        .parent()
        .filter(|parent| *parent != Path::new(""))
        .unwrap_or(Path::new("."));
    let (number, manifest) = source::read(&path, findings)?;
    let mut tree = parse::parse(number, findings)?;
    shape::check(&mut tree, schema::of_manifest(), findings);
    source::merge_defaults(&mut tree);
    let (machine, profile) = source::merge_profile(&mut tree, folder, profile, findings);
    let wire = source::wire(&tree, findings)?;
    let experiment = expand::expand(wire, &tree, &machine, folder.to_owned(), findings);
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let folder = folder.to_owned();
    Some(Loaded {
        experiment,
        folder,
        stem,
        manifest,
        profile,
        notes: Vec::new(),
    })
}
