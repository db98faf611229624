//! Why a draft cannot be published: everything at once.

use std::collections::BTreeSet;
use std::fmt;

use super::material::Material;
use super::{Folder, Renderer, exclude, verify};
use crate::lock;
use crate::model::plural::counted;
use crate::model::reading::Known;
use crate::model::{BlockId, CandidateName, Caveat, Experiment};
use crate::plan;
use crate::record::Draft;
use crate::record::event::Opened;
use crate::record::layout;

/// One reason why a draft cannot be published, and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is missing or wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

impl Refusal {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.remedy)
    }
}

/// Everything that keeps a draft from being published; empty: nothing does.
#[must_use]
pub fn check(draft: &Draft) -> Vec<Refusal> {
    check_with(draft, &super::render)
}

/// As [`check`], with this renderer.
#[must_use]
pub fn check_with(draft: &Draft, renderer: &Renderer<'_>) -> Vec<Refusal> {
    let material = Folder::open(draft.folder())
        .map_err(super::MaterialError::from)
        .and_then(|folder| Material::read(&folder));
    let material = match material {
        Ok(material) => material,
        Err(super::MaterialError::Empty(_)) => {
            return vec![Refusal::new("nothing was recorded yet", MEASURE)];
        }
        Err(error) => {
            return vec![Refusal::new(
                error.to_string(),
                "restore it from a copy, or measure again",
            )];
        }
    };
    let mut refusals = folder(draft, &material);
    refusals.extend(measured(draft, &material));
    refusals.extend(locked(&material, &material.opened));
    refusals.extend(source(&material.opened));
    refusals.extend(page(&material.experiment));
    refusals.extend(ledger(&material));
    // A draft that lacks its words cannot render: one reason is enough.
    if refusals.is_empty()
        && let Err(fault) = renderer(&material)
    {
        refusals.push(Refusal::new(
            format!("the report does not render: {fault}"),
            "mend the template or the text",
        ));
    }
    refusals
}

const MEASURE: &str = "run it to its end with `loadlab run --resume`";

/// The folder's own state: not published, nothing in it that no entry may hold, inputs unchanged.
fn folder(draft: &Draft, material: &Material) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    match draft.published() {
        Ok(Some(published)) => refusals.push(Refusal::new(
            format!("it was published already as `{}`", published.entry),
            "an entry is never changed",
        )),
        Ok(None) => {}
        Err(error) => refusals.push(Refusal::new(error.to_string(), "remove the damaged marker")),
    }
    if material.published {
        refusals.push(Refusal::new(
            "its records are sealed",
            "publish the draft, not an entry",
        ));
    }
    let (mut damaged, mut unsafe_files) = (Vec::new(), Vec::new());
    if let Ok(folder) = Folder::open(draft.folder()) {
        damaged = verify::of_draft(&folder, &material.digests());
        let listing = folder.list();
        unsafe_files = listing.map(|listing| listing.faults).unwrap_or_default();
    }
    for fault in damaged {
        refusals.push(Refusal::new(
            fault.to_string(),
            "restore the file from a copy, or measure again",
        ));
    }
    for fault in unsafe_files {
        refusals.push(Refusal::new(
            format!("{fault}: no entry may hold it"),
            "remove it from the draft",
        ));
    }
    let odd = material
        .files
        .iter()
        .filter(|file| !layout::is_expected(file.path.split('/').next().unwrap_or(&file.path)));
    let odd = odd.map(|file| {
        Refusal::new(
            format!("`{}` belongs to no entry", file.path),
            "remove it from the draft",
        )
    });
    refusals.extend(odd);
    refusals
}

/// Complete, whole, and of the whole experiment at its own loads.
fn measured(draft: &Draft, material: &Material) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let experiment = &material.experiment;
    if let Ok(read) = draft.records()
        && let Some(torn) = read.torn
    {
        let what = format!("line {} of the records is torn", torn.line);
        refusals.push(Refusal::new(what, "resume the run: it sets the line aside"));
    }
    if !material.progress.complete(experiment.attempts) {
        let left = material.progress.without_valid_attempt().len();
        let what = format!(
            "{left} of {} not measured yet",
            counted(material.plan.blocks.len() as u64, "block is", "blocks are")
        );
        refusals.push(Refusal::new(what, MEASURE));
    }
    if whole(experiment) != of_plan(material) || !has_standards(material) {
        let what = "only a part of the experiment was planned";
        refusals.push(Refusal::new(what, "run it without `--only`"));
    }
    if experiment.scale.is_some() {
        let what = "a profile scaled it for a rehearsal";
        refusals.push(Refusal::new(what, "run it without the scale"));
    }
    refusals
}

/// Every block of the whole experiment but the standards', which stand where their share allowed.
fn whole(experiment: &Experiment) -> BTreeSet<BlockId> {
    let phases = experiment.phases.values();
    phases
        .flat_map(|phase| {
            (1..=phase.repetitions).flat_map(move |round| {
                phase.candidates.iter().map(move |candidate| BlockId {
                    phase: phase.name.clone(),
                    round,
                    candidate: candidate.clone(),
                })
            })
        })
        .collect()
}

fn of_plan(material: &Material) -> BTreeSet<BlockId> {
    material
        .plan
        .blocks
        .iter()
        .filter(|block| !block.standard)
        .map(|block| block.id.clone())
        .collect()
}

/// Whether a plan has blocks of every planted server, or the experiment has none of which there would be.
fn has_standards(material: &Material) -> bool {
    let planned = |name: &CandidateName| {
        let mut blocks = material.plan.blocks.iter();
        blocks.any(|block| block.standard && block.id.candidate == *name)
    };
    let fits = plan::build(&material.experiment, None).totals.standards;
    let names = material.experiment.standards.iter();
    let mut names = names.flat_map(|standards| standards.weights.keys());
    fits.is_none_or(|added| added.blocks == 0) || names.all(planned)
}

/// The lock is there and fits.
fn locked(material: &Material, opened: &Opened) -> Vec<Refusal> {
    const LOCK: &str = "run `loadlab lock`, then measure again";
    let unlocked = opened
        .caveats
        .iter()
        .any(|(caveat, _)| *caveat == Caveat::Unlocked);
    let (Some(lock), false) = (&material.lock, unlocked || opened.lock.is_none()) else {
        return vec![Refusal::new("it was measured without a lock", LOCK)];
    };
    let mismatches = lock::check(&material.experiment, lock)
        .err()
        .unwrap_or_default();
    mismatches
        .iter()
        .map(|mismatch| Refusal::new(mismatch.to_string(), LOCK))
        .collect()
}

/// The manifest came from a clean commit.
fn source(opened: &Opened) -> Option<Refusal> {
    let commit = "commit the experiment's folder, then measure again";
    match &opened.source {
        Known::Absent(because) => Some(Refusal::new(
            format!(
                "the commit that the manifest came from is not known: {}",
                because.escape_debug()
            ),
            commit,
        )),
        Known::Value(source) if !source.clean => Some(Refusal::new(
            format!(
                "the experiment's folder had changes against commit {}",
                source.commit.escape_debug()
            ),
            commit,
        )),
        Known::Value(_) => None,
    }
}

/// The author's words are there.
fn page(experiment: &Experiment) -> Vec<Refusal> {
    let page = &experiment.page;
    let blank = |text: &String| text.trim().is_empty();
    let checks = [
        (page.licence.as_ref().is_none_or(blank), "licence"),
        (
            page.authors.is_empty() || page.authors.iter().any(|it| blank(&it.name)),
            "authors",
        ),
        (
            page.finding
                .as_ref()
                .is_none_or(|it| blank(&it.text) || blank(&it.because)),
            "finding",
        ),
        (
            page.limits.is_empty() || page.limits.iter().any(blank),
            "limits",
        ),
    ];
    let missing = checks.into_iter().filter(|(missing, _)| *missing);
    missing
        .map(|(_, key)| {
            Refusal::new(
                format!("the manifest has no `{key}`"),
                format!("write `{key}:` into the manifest and take the words over"),
            )
        })
        .collect()
}

/// Every exclusion says why, by whom and when, and is of something that there is.
fn ledger(material: &Material) -> Vec<Refusal> {
    let attempts: BTreeSet<_> = material.readings.attempts().collect();
    let fault = |line: &crate::record::LedgerLine| {
        if !attempts.contains(&line.attempt) {
            return Some("there is no such attempt".to_owned());
        }
        exclude::decision(&line.because, &line.by, &line.on)
            .err()
            .map(|fault| fault.to_string())
    };
    let refusal = |line: &crate::record::LedgerLine| {
        let fault = fault(line)?;
        Some(Refusal::new(
            format!(
                "the exclusion of `{}` is not explained: {fault}",
                line.attempt
            ),
            "mend the ledger's line",
        ))
    };
    material.ledger.iter().filter_map(refusal).collect()
}
