//! The experiment: everything a manifest says, with every default filled in.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::candidate::{Candidate, PrewarmStep, Service};
use super::cores::{CpuSet, Isolation, Sharing};
use super::derived::{Comparison, Derived};
use super::digest::Digest;
use super::estimator::RatioInterval;
use super::name::{
    CandidateName, DerivedName, ExperimentName, PhaseName, ScenarioName, ServiceName,
};
use super::phase::Phase;
use super::probe::Probe;
use super::role::Role;
use super::scenario::{ContractCheck, Scenario};
use super::standards::Standards;
use super::thresholds::Thresholds;
use super::unit::Share;

/// The number of the defaults and formats that this build has. It changes when a default changes.
pub const PROTOCOL: u32 = 0;

/// The version of the formulas that this build estimates with.
pub const ANALYSIS: u32 = 1;

/// A question and everything that answers it, with every default filled in.
///
/// Serialised as `expanded.json`: the rules that an entry is estimated by, for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experiment {
    /// The defaults and formats it was expanded with.
    pub protocol: u32,
    /// The name; also its folder.
    pub name: ExperimentName,
    /// What the page says about itself; cosmetic.
    pub page: Page,
    /// What the author demands of the core split.
    pub isolation: Isolation,
    /// Which CPUs each role has: the machine's, merged from the profile.
    pub cores: BTreeMap<Role, CpuSet>,
    /// Whether roles share CPUs.
    pub sharing: Sharing,
    /// What each role may use.
    pub budgets: BTreeMap<Role, Budget>,
    /// The reference nginx.
    pub probe: Probe,
    /// What candidates talk to, in starting order.
    pub services: IndexMap<ServiceName, Service>,
    /// Steps after the services are ready and before the candidate starts, in order.
    pub prewarm: Vec<PrewarmStep>,
    /// The systems under comparison.
    pub candidates: IndexMap<CandidateName, Candidate>,
    /// The requests, in the order they are measured.
    pub scenarios: IndexMap<ScenarioName, Scenario>,
    /// Requests whose answers every fresh candidate must give.
    pub contract: Vec<ContractCheck>,
    /// The phases, in the order they are measured.
    pub phases: IndexMap<PhaseName, Phase>,
    /// The order of candidates within rounds.
    pub order: Order,
    /// Tries at a block whose instrument failed, at least 1.
    pub attempts: u32,
    /// The thresholds of guards and caveats.
    pub guards: Thresholds,
    /// The coverage that intervals and verdicts must reach.
    pub coverage: Share,
    /// How intervals of ratios are made.
    pub ratio_interval: RatioInterval,
    /// A metric whose best over min exceeds this is context: no ratio, no verdict. Absent: no bound.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spread_bound: Option<Share>,
    /// The one comparison that is not corrected for the others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub primary: Option<Comparison>,
    /// Declared numbers.
    pub derived: IndexMap<DerivedName, Derived>,
    /// Planted pairs with a known difference; absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standards: Option<Standards>,
    /// Set by a profile for a rehearsal: durations and rates times this; never publishable.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scale: Option<Share>,
    /// Files in the experiment's folder that the model names, sorted. Filled by `manifest::load`.
    pub files: Vec<NamedFile>,
}

/// A file that the model names, with what it held when the manifest was loaded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NamedFile {
    /// Path relative to the manifest, with `/`.
    pub path: String,
    /// The digest of its bytes.
    pub digest: Digest,
    /// Its length in bytes.
    pub bytes: u64,
    /// Whether it is executable.
    pub executable: bool,
}

/// What the page says about itself; cosmetic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The headline.
    pub title: String,
    /// The question that is answered.
    pub question: String,
    /// Who wrote it, at least one.
    pub authors: Vec<Author>,
    /// SPDX identifier of the entry's licence; absent: not publishable.
    pub licence: Option<String>,
    /// The series it belongs to.
    pub programme: Option<String>,
    /// The technologies, for the page's list.
    pub technologies: Vec<String>,
    /// The finding and how sure the author is; absent: not publishable.
    pub finding: Option<Finding>,
    /// What it cannot show, in the author's words; empty: not publishable.
    pub limits: Vec<String>,
    /// What stays open.
    pub questions: Vec<String>,
    /// Results with headings of their own.
    pub results: Vec<NamedResult>,
}

/// An author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// The full name.
    pub name: String,
    /// An ORCID iD or another address.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
}

/// The sentence an entry publishes as its answer. Its numbers are written as `{{ value(…) }}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The sentence, a template.
    pub text: String,
    /// The author's word.
    pub confidence: Confidence,
    /// The reason for that word.
    pub because: String,
}

/// How sure the author is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
}

/// A result that an author names; gets a heading that can be linked. All texts are templates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedResult {
    /// The anchor.
    pub id: String,
    /// The heading.
    pub title: String,
    /// On what it was measured.
    pub setup: String,
    /// What was measured.
    pub measured: String,
    /// What would mend it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fix: Option<String>,
    /// How far it is.
    pub state: ResultState,
}

/// How far a named result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultState {
    /// Cause and effect are shown.
    Shown,
    /// The cause is shown, the fix was not run.
    FixNotMeasured,
    /// No confirmed cause yet.
    Open,
}

/// The order of candidates within rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Order {
    /// The rule.
    pub rule: OrderRule,
    /// The seed; absent: derived from the method's meaning and written into the lock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
}

/// How candidates are ordered within rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderRule {
    /// A Williams design: balanced against first-order carry-over.
    #[default]
    Balanced,
    /// A seeded random order in each round.
    Random,
    /// Plain rotation: each candidate stays behind the same neighbour.
    Rotated,
}
