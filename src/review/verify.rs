//! `verify`: how much of an entry can be trusted, level by level. Runs nothing, changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use super::folder::{Fault, Folder, FolderError, Listing};
use super::material::{self, Material};
use super::{Renderer, compare, sums};
use crate::model::Digest;
use crate::record::event::Opened;
use crate::record::layout::{self, Set};
use crate::record::{Event, TornTail};
use crate::report::WitnessFile;

/// What came of one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    /// It holds.
    Ok,
    /// It does not, and why, file by file.
    Failed(Vec<Fault>),
    /// It was not tried, and why.
    NotAttempted(String),
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Failed(faults) => write!(f, "failed ({})", faults.len()),
            Self::NotAttempted(reason) => write!(f, "not attempted: {reason}"),
        }
    }
}

/// What each level proves, from V0 on.
pub const LEVELS: [&str; 5] = [
    "checksums, chain and seal",
    "the report's bytes",
    "pins can be obtained",
    "data and images rebuilt to the same content",
    "measured again with the declared agreement",
];

/// What came of every level, V0 to V4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// V0 to V4.
    pub levels: [Level; 5],
}

impl Verification {
    /// Whether no level failed.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        !self
            .levels
            .iter()
            .any(|level| matches!(level, Level::Failed(_)))
    }
}

/// Verifies an entry.
///
/// # Errors
/// When the folder itself cannot be read.
pub fn verify(entry: &Path) -> Result<Verification, FolderError> {
    verify_with(entry, &super::render)
}

/// As [`verify`], with this renderer.
///
/// # Errors
/// As [`verify`].
pub fn verify_with(entry: &Path, renderer: &Renderer<'_>) -> Result<Verification, FolderError> {
    let folder = Folder::open(entry)?;
    let integrity = Integrity::of(&folder)?;
    let bytes = report_bytes(&folder, &integrity, renderer);
    let later =
        |what: &str| Level::NotAttempted(format!("this version of loadlab does not {what}"));
    let first = if integrity.faults.is_empty() {
        Level::Ok
    } else {
        Level::Failed(integrity.faults)
    };
    Ok(Verification {
        levels: [
            first,
            bytes,
            later("fetch what a lock pins"),
            later("build data and images again"),
            later("measure an entry again"),
        ],
    })
}

/// What V0 found, and what V1 goes on with.
pub(crate) struct Integrity {
    /// Every fault, in the order of files.
    pub(crate) faults: Vec<Fault>,
    /// Whether a fault touches what the report is made from.
    pub(crate) witness_damaged: bool,
    listing: Listing,
    digests: BTreeMap<String, Digest>,
}

impl Integrity {
    /// Checks structure, checksums, chain, seal and raw files.
    pub(crate) fn of(folder: &Folder) -> Result<Self, FolderError> {
        let listing = folder.list()?;
        let mut faults: BTreeSet<Fault> = listing.faults.iter().cloned().collect();
        faults.extend(misplaced(&listing));
        let mut digests = BTreeMap::new();
        for path in listing.files.keys() {
            match folder.digest(path) {
                Ok((digest, _)) => drop(digests.insert(path.clone(), digest)),
                Err(error) => drop(faults.insert(Fault::new(path, error.because))),
            }
        }
        let (seal, of_records) = against_records(folder, &digests);
        faults.extend(of_records);
        let seal_faults = seal
            .as_ref()
            .map(|seal| against_seal(seal, &digests))
            .unwrap_or_default();
        faults.extend(seal_faults);
        faults.extend(against_sums(folder, &digests, seal.as_ref()));
        faults.extend(against_model(folder));
        let of_witness = |fault: &Fault| layout::set_of(&fault.file) != Set::Reproducible;
        Ok(Self {
            witness_damaged: faults.iter().any(of_witness),
            faults: faults.into_iter().collect(),
            listing,
            digests,
        })
    }
}

/// A message about the records without the path that the fault names already.
fn without_file(message: &str) -> String {
    let rest = message.split_once("`, ").map(|(_, rest)| rest.to_owned());
    rest.unwrap_or_else(|| message.to_owned())
}

/// Files that no entry has, and files that every entry has but this one.
fn misplaced(listing: &Listing) -> Vec<Fault> {
    let unexpected = listing.files.keys().filter(|path| {
        let first = path.split('/').next().unwrap_or(path);
        !layout::is_expected(first) || layout::set_of(path) == Set::DraftOnly
    });
    let missing = layout::REQUIRED
        .iter()
        .filter(|name| !listing.files.contains_key(**name));
    unexpected
        .map(|path| Fault::new(path, "no entry has such a file"))
        .chain(missing.map(|name| Fault::new(*name, "it is missing; every entry has it")))
        .collect()
}

type Seal = BTreeMap<String, Digest>;

/// The chain, the inputs and raw files that records name by digest, and that there is a seal at all.
fn against_records(
    folder: &Folder,
    digests: &BTreeMap<String, Digest>,
) -> (Option<Seal>, Vec<Fault>) {
    let (mut seal, mut faults) = (None, Vec::new());
    let torn = match named_by_records(folder, digests, &mut faults, &mut seal) {
        Ok(torn) => torn,
        Err(fault) => return (None, vec![fault]),
    };
    if let Some(torn) = torn {
        let line = torn.line;
        let what = format!("line {line} has no end: an entry's records are whole");
        faults.push(Fault::new(layout::RECORDS, what));
    }
    if seal.is_none() {
        let what = "the last record is no seal: this is a draft, or its end was cut off";
        faults.push(Fault::new(layout::RECORDS, what));
    }
    (seal, faults)
}

/// The files of a draft that are not what its records say: inputs and raw files, changed or missing.
pub(crate) fn of_draft(folder: &Folder, digests: &BTreeMap<String, Digest>) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Err(fault) = named_by_records(folder, digests, &mut faults, &mut None) {
        return vec![fault];
    }
    faults
}

/// Reads the records: the faults of what they name by digest, the seal, and what is torn off.
fn named_by_records(
    folder: &Folder,
    digests: &BTreeMap<String, Digest>,
    faults: &mut Vec<Fault>,
    seal: &mut Option<Seal>,
) -> Result<Option<TornTail>, Fault> {
    let read = material::each_record(folder, |line| {
        match line.event {
            Event::Opened(opened) => faults.extend(of_inputs(&opened, digests)),
            Event::Measured(measured) => {
                let raw = measured.raw.iter();
                let by = "its measurement's record";
                faults.extend(raw.filter_map(|raw| against(&raw.file, raw.digest, by, digests)));
            }
            Event::Sealed { files } => *seal = Some(files),
            _ => {}
        }
        Ok::<(), material::MaterialError>(())
    });
    read.map_err(|error| Fault::new(layout::RECORDS, without_file(&error.to_string())))
}

/// The inputs that are not what the first record says.
pub(crate) fn of_inputs(opened: &Opened, digests: &BTreeMap<String, Digest>) -> Vec<Fault> {
    let inputs = [
        (layout::MANIFEST, Some(opened.manifest)),
        (layout::EXPANDED, Some(opened.expanded)),
        (layout::PLAN, Some(opened.plan)),
        (layout::LOCK, opened.lock),
    ];
    let inputs = inputs.into_iter();
    inputs
        .filter_map(|(file, digest)| against(file, digest?, "the first record", digests))
        .collect()
}

fn against(
    file: &str,
    expected: Digest,
    by: &str,
    digests: &BTreeMap<String, Digest>,
) -> Option<Fault> {
    match digests.get(file) {
        Some(found) if *found != expected => Some(Fault::new(
            file,
            format!("it has {found}, {by} says {expected}"),
        )),
        None => Some(Fault::new(file, format!("it is missing; {by} names it"))),
        Some(_) => None,
    }
}

/// Every witness file against the seal.
fn against_seal(seal: &BTreeMap<String, Digest>, digests: &BTreeMap<String, Digest>) -> Vec<Fault> {
    let witness = |path: &&String| layout::set_of(path) == Set::Witness && *path != layout::RECORDS;
    let all: BTreeSet<&String> = seal.keys().chain(digests.keys().filter(witness)).collect();
    let fault = |path: &String| match (seal.get(path), digests.get(path)) {
        (Some(sealed), Some(found)) if sealed == found => None,
        (Some(sealed), Some(found)) => Some(Fault::new(
            path,
            format!("it has {found}, the seal says {sealed}"),
        )),
        (Some(_), None) => Some(Fault::new(path, "it is missing; the seal names it")),
        (None, _) => Some(Fault::new(path, "the seal does not name it")),
    };
    all.into_iter().filter_map(fault).collect()
}

/// Every file against the checksums. Where the seal agrees with a file, the checksums are at fault.
fn against_sums(
    folder: &Folder,
    digests: &BTreeMap<String, Digest>,
    seal: Option<&BTreeMap<String, Digest>>,
) -> Vec<Fault> {
    let Ok(bytes) = folder.read(layout::SUMS) else {
        return Vec::new();
    };
    let (sums, mut faults) = sums::parse(&bytes);
    let present = digests.keys().filter(|path| *path != layout::SUMS);
    let all: BTreeSet<&String> = sums.keys().chain(present).collect();
    for path in all {
        match (sums.get(path), digests.get(path)) {
            (Some(sum), Some(found)) if sum == found => {}
            (Some(sum), Some(found)) => {
                let sealed = seal.and_then(|seal| seal.get(path)) == Some(found);
                faults.push(if sealed {
                    let what =
                        format!("it says {sum} for `{path}`, which has {found} as the seal says");
                    Fault::new(layout::SUMS, what)
                } else {
                    Fault::new(path, format!("it has {found}, SHA256SUMS says {sum}"))
                });
            }
            (None, _) => faults.push(Fault::new(
                layout::SUMS,
                format!("it does not name `{path}`"),
            )),
            (_, None) => faults.push(Fault::new(
                layout::SUMS,
                format!("it names `{path}`, which is not there"),
            )),
        }
    }
    faults
}

/// Whether the files that a report is made from can be read at all, and the records fit the plan.
fn against_model(folder: &Folder) -> Option<Fault> {
    match Material::read_with(folder, Vec::new()) {
        Ok(_) => None,
        Err(material::MaterialError::File { file, because }) => Some(Fault::new(file, because)),
        Err(material::MaterialError::Order(error)) => {
            Some(Fault::new(layout::RECORDS, error.to_string()))
        }
        // Named already, with more.
        Err(_) => None,
    }
}

/// V1: renders again and compares.
fn report_bytes(folder: &Folder, integrity: &Integrity, renderer: &Renderer<'_>) -> Level {
    if integrity.witness_damaged {
        let reason = "what the report is made from is damaged, see V0";
        return Level::NotAttempted(reason.to_owned());
    }
    match render_again(folder, integrity, renderer) {
        Ok(different) if different.is_empty() => Level::Ok,
        Ok(different) => Level::Failed(
            (different.into_iter())
                .map(|different| Fault::new(different.file.clone(), without_name(&different)))
                .collect(),
        ),
        Err(error) => Level::Failed(vec![Fault::new(layout::REPORT, error.to_string())]),
    }
}

fn without_name(different: &compare::Different) -> String {
    let text = different.to_string();
    let name = format!("`{}` ", different.file);
    text.strip_prefix(&name).map_or(text.clone(), str::to_owned)
}

/// Renders an entry whose witness files are hashed already, and compares byte for byte.
pub(crate) fn render_again(
    folder: &Folder,
    integrity: &Integrity,
    renderer: &Renderer<'_>,
) -> Result<Vec<compare::Different>, super::RenderEntryError> {
    let witness = integrity.listing.files.iter();
    let files: Vec<WitnessFile> = witness
        .filter(|(path, _)| layout::set_of(path) == Set::Witness)
        .filter_map(|(path, bytes)| {
            let digest = *integrity.digests.get(path)?;
            Some(WitnessFile {
                path: path.clone(),
                bytes: *bytes,
                digest,
            })
        })
        .collect();
    let material = Material::read_with(folder, files)?;
    let rendered = super::render_material(&material, renderer)?;
    let present = integrity.listing.files.keys().cloned();
    let different = compare::compare(folder, present, &rendered);
    Ok(different.map_err(material::MaterialError::from)?)
}
