//! Reading manifests and profiles, and putting them together into one tree.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::code::DiagnosticCode;
use super::expand::Machine;
use super::files::reason;
use super::findings::{Finding, Findings, Span};
use super::parse::{LARGEST, parse};
use super::schema::profile_schema;
use super::tree::{Entry, Node, Value};
use super::{ProfileSource, shape, wire};

/// Reads a file that is no larger than a manifest may be, and takes it in as a source.
pub(super) fn read(path: &Path, findings: &mut Findings) -> Option<(usize, Vec<u8>)> {
    let shown = path.display();
    let bytes = match bounded(path) {
        Ok(bytes) => bytes,
        Err(because) => {
            let message = format!("cannot read `{shown}`: {because}");
            findings.push(Finding::anywhere(DiagnosticCode::Unreadable, message));
            return None;
        }
    };
    if bytes.len() as u64 > LARGEST {
        let message = format!("`{shown}` is larger than {} MiB", LARGEST >> 20);
        findings.push(Finding::anywhere(DiagnosticCode::TooLarge, message));
        return None;
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => {
            let source = findings.add_source(shown.to_string(), text.to_owned());
            Some((source, bytes))
        }
        Err(error) => {
            let line = bytes[..error.valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                + 1;
            let message = format!(
                "`{shown}` is not UTF-8 text: byte {} in line {line}",
                error.valid_up_to()
            );
            findings.push(Finding::anywhere(DiagnosticCode::NotUtf8, message));
            None
        }
    }
}

/// At most one byte more than the largest manifest, of a regular file only.
fn bounded(path: &Path) -> Result<Vec<u8>, String> {
    let facts = path.metadata().map_err(|error| reason(&error))?;
    if !facts.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| reason(&error))?;
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| reason(&error))?;
    Ok(bytes)
}

/// Finds a profile, checks it and puts its core sets into the tree.
pub(super) fn merge_profile(
    tree: &mut Node,
    folder: &Path,
    name: Option<&str>,
    findings: &mut Findings,
) -> (Machine, Option<ProfileSource>) {
    let known = known_profiles(tree, folder);
    let Some(name) = name else {
        return (
            Machine {
                known,
                ..Machine::default()
            },
            None,
        );
    };
    let Some((node, source)) = find_profile(tree, folder, name, &known, findings) else {
        return (Machine::default(), None);
    };
    let profile: wire::Profile = match serde_json::from_value(node.json()) {
        Ok(profile) => profile,
        Err(_) => return (Machine::default(), None),
    };
    if let Some(cores) = node.mapping().and_then(|entries| entries.get("cores")) {
        replace_cores(tree, cores);
    }
    let scale = profile.scale.map(|scale| scale.0);
    if let Some(share) = scale.filter(|share| share.millionths() == 0) {
        let span = node.get("scale").map_or(node.span, |scale| scale.span);
        let message = format!("`scale` is {share}; expected more than 0%");
        findings.push(Finding::new(DiagnosticCode::BeyondMeaning, span, message));
    }
    (
        Machine {
            share: profile.share.unwrap_or(false),
            scale,
            known,
        },
        Some(source),
    )
}

fn find_profile(
    tree: &Node,
    folder: &Path,
    name: &str,
    known: &[String],
    findings: &mut Findings,
) -> Option<(Node, ProfileSource)> {
    if let Some(inline) = tree.get("profiles").and_then(|profiles| profiles.get(name)) {
        let bytes = serde_json::to_vec_pretty(&inline.json()).expect("a tree has string keys");
        return Some((
            inline.clone(),
            ProfileSource {
                name: name.to_owned(),
                bytes,
            },
        ));
    }
    if !known.iter().any(|profile| profile == name) {
        let message = format!("there is no profile `{}`", name.escape_debug());
        let mut finding = Finding::anywhere(DiagnosticCode::UnknownProfile, message);
        if !known.is_empty() {
            finding = finding.help(format!("profiles are {}", known.join(", ")));
        }
        findings.push(finding);
        return None;
    }
    let path = folder.join("profiles").join(format!("{name}.yaml"));
    let (source, bytes) = read(&path, findings)?;
    let mut node = parse(source, findings)?;
    shape::check(&mut node, &profile_schema(), findings);
    Some((
        node,
        ProfileSource {
            name: name.to_owned(),
            bytes,
        },
    ))
}

/// The profiles of the manifest, then those of the folder beside it, sorted.
fn known_profiles(tree: &Node, folder: &Path) -> Vec<String> {
    let inline = tree
        .get("profiles")
        .and_then(Node::mapping)
        .into_iter()
        .flat_map(IndexMap::keys)
        .cloned();
    let entries = std::fs::read_dir(folder.join("profiles"))
        .into_iter()
        .flatten()
        .flatten();
    let files = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_suffix(".yaml")?.to_owned())
    });
    let mut known: Vec<String> = inline.chain(files).collect();
    known.sort();
    known.dedup();
    known
}

fn replace_cores(tree: &mut Node, cores: &Entry) {
    let (Value::Mapping(entries), Some(sets)) = (&mut tree.value, cores.node.mapping()) else {
        return;
    };
    let target = entries.entry("cores".to_owned()).or_insert_with(|| Entry {
        key: cores.key,
        node: Node::new(cores.node.span, Value::Mapping(IndexMap::new())),
    });
    if let Value::Mapping(known) = &mut target.node.value {
        known.extend(sets.iter().map(|(role, set)| (role.clone(), set.clone())));
    }
}

/// Merges `defaults.candidate` into every candidate; what a candidate says wins.
pub(super) fn merge_defaults(tree: &mut Node) {
    let Some(default) = tree
        .get("defaults")
        .and_then(|defaults| defaults.get("candidate"))
        .cloned()
    else {
        return;
    };
    let Value::Mapping(entries) = &mut tree.value else {
        return;
    };
    let Some(Value::Mapping(candidates)) = entries
        .get_mut("candidates")
        .map(|entry| &mut entry.node.value)
    else {
        return;
    };
    for candidate in candidates
        .values_mut()
        .filter(|candidate| !candidate.node.faulty)
    {
        underlay(&mut candidate.node, &default);
    }
}

/// Adds what a node does not say itself. Mappings of different kinds are not mixed.
fn underlay(node: &mut Node, default: &Node) {
    let kind = |node: &Node| node.get("kind").and_then(Node::text).map(str::to_owned);
    if kind(node) != kind(default) {
        return;
    }
    let (Value::Mapping(entries), Value::Mapping(defaults)) = (&mut node.value, &default.value)
    else {
        return;
    };
    for (key, default) in defaults {
        match entries.get_mut(key) {
            Some(entry) => underlay(&mut entry.node, &default.node),
            None => {
                entries.insert(key.clone(), default.clone());
            }
        }
    }
}

/// The wire types of a checked tree.
pub(super) fn wire(tree: &Node, findings: &mut Findings) -> Option<wire::Manifest> {
    let json: Json = tree.json();
    match serde_path_to_error::deserialize(&json) {
        Ok(manifest) => Some(manifest),
        Err(error) => {
            if !findings.has_errors() {
                let path = error.path().to_string();
                let span = Span {
                    end: tree.span.start,
                    ..tree.span
                };
                let message = format!("`{}` does not fit: {}", path.escape_debug(), error.inner());
                findings.push(Finding::new(DiagnosticCode::Unfit, span, message));
            }
            None
        }
    }
}

/// The manifest of a path: the file itself, or `experiment.yaml` in the folder.
pub(super) fn manifest_path(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join("experiment.yaml")
    } else {
        path.to_owned()
    }
}
