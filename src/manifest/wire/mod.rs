//! The manifest as it is written: serde types that nothing outside `manifest` sees.
//!
//! The published schema is generated from these types, and a manifest is checked against it before
//! they read it. Absent keys stay absent here; `expand` fills in the defaults.

mod analysis;
mod leaf;
mod load;
mod page;
mod run;
mod scenario;
mod shorthand;
mod standards;
mod stub;

use schemars::JsonSchema;
use serde::Deserialize;

pub(super) use analysis::{Comparison, Derived, Guards, Interval, Order, OrderWords, ShareOf};
pub(super) use leaf::{
    CoreSet, Duration, FormulaUnit, MetricName, Name, Rate, RoleName, Share, Size,
};
pub(super) use load::{Estimate, Load, MetricRule, Phase, Probe, ProbeLoad, ProbeTimes};
pub(super) use page::{Author, Confidence, Finding, NamedResult, ResultState};
pub(super) use run::{
    Candidate, Departure, Endpoint, EnvName, Lifetime, MemberRun, PathText, PrewarmStep, Process,
    Ready, Run, Service, ValueKey, VersionRule, Witness,
};
pub(super) use scenario::{Body, Check, Expect, ExpectBody, Request, Scenario};
pub(super) use shorthand::{Named, NonEmpty, OneOrMany, PlainValue};
pub(super) use standards::{Difference, DifferenceKind, Standards};
pub(super) use stub::{Children, Faults, Stalls, Stub, WrongAnswers};

use crate::model::{
    CandidateName, DerivedName, ExperimentName, PhaseName, ScenarioName, ServiceName,
};

/// An experiment: a question and everything that answers it. Keys that begin with `x-` are free.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["data", "tokens", "matrix", "checks", "prices"]))]
pub(super) struct Manifest {
    /// The version of this language.
    #[expect(dead_code, reason = "checked, there is one")]
    pub(super) version: Version,
    /// The experiment's name; also its folder in `experiments/` and `results/`.
    #[schemars(example = &"nginx-gzip")]
    pub(super) name: Name<ExperimentName>,
    /// The headline.
    #[schemars(example = &"What gzip costs nginx", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(super) title: String,
    /// The question that is answered.
    #[schemars(example = &"How much CPU does one page need with gzip off and on?", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(super) question: String,
    /// Who wrote it.
    #[schemars(extend("x-change-class" = "cosmetic"))]
    pub(super) authors: NonEmpty<Author>,
    /// SPDX identifier of the licence that an entry is published under. Default: none, and nothing can be published.
    #[schemars(example = &"CC-BY-4.0", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(super) licence: Option<String>,
    /// The series that the experiment belongs to. Default: none.
    #[schemars(example = &"Service and load", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(super) programme: Option<String>,
    /// The technologies, for the page's list. Default: none.
    #[schemars(example = ["nginx"], extend("x-change-class" = "cosmetic"))]
    pub(super) technologies: Option<Vec<String>>,
    /// The sentence that an entry publishes as its answer. Default: none, and nothing can be published.
    #[schemars(extend("x-change-class" = "cosmetic"))]
    pub(super) finding: Option<Finding>,
    /// What the experiment cannot show, in the author's words. Default: none, and nothing can be published.
    #[schemars(example = ["One virtual machine, two cores."], extend("x-change-class" = "cosmetic"))]
    pub(super) limits: Option<Vec<String>>,
    /// What stays open. Default: nothing.
    #[schemars(example = ["Does it hold for pages of 200 KB?"], extend("x-change-class" = "cosmetic"))]
    pub(super) open_questions: Option<Vec<String>>,
    /// Results that get a heading of their own. Default: none.
    #[schemars(extend("x-change-class" = "cosmetic"))]
    pub(super) results: Option<Vec<NamedResult>>,
    /// What the author demands of the core split. Default: declared.
    #[schemars(extend("x-change-class" = "environment"))]
    pub(super) isolation: Option<Isolation>,
    /// Which CPUs each role has. It is the machine's: a profile may replace any of them. The probe
    /// takes the candidate's unless it has its own.
    #[schemars(example = serde_json::json!({"candidate": "0", "load": "1"}), extend("x-change-class" = "environment"))]
    pub(super) cores: Option<Named<RoleName, CoreSet>>,
    /// What each role may use. Default: no limits.
    #[schemars(example = serde_json::json!({"candidate": {"cores": 1, "memory": "256MiB"}}))]
    pub(super) budgets: Option<Named<RoleName, Budget>>,
    /// The reference nginx that watches the machine. Default: 2000/s on 16 connections for 1s,
    /// before and after each block, of which 99 % must be reached.
    pub(super) probe: Option<Probe>,
    /// What candidates talk to and nobody compares, in starting order. Default: none.
    pub(super) services: Option<Named<Name<ServiceName>, Service>>,
    /// Steps after the services are ready and before the candidate starts, in order. Default: none.
    #[schemars(example = serde_json::json!([{"kind": "command", "command": ["sync"]}]))]
    pub(super) prewarm: Option<Vec<PrewarmStep>>,
    /// What several parts have in common. Default: nothing.
    #[expect(dead_code, reason = "merged in the tree")]
    pub(super) defaults: Option<Defaults>,
    /// The systems under comparison.
    pub(super) candidates: Named<Name<CandidateName>, Candidate>,
    /// The requests, in the order in which they are measured; one that changes data is last.
    pub(super) scenarios: Named<Name<ScenarioName>, Scenario>,
    /// Requests whose answers every fresh candidate must give before any load. Default: none.
    pub(super) contract: Option<Vec<Check>>,
    /// The load shapes, in the order in which they are measured.
    pub(super) phases: Named<Name<PhaseName>, Phase>,
    /// The order of candidates within rounds. Default: balanced.
    pub(super) order: Option<Order>,
    /// Tries at a block whose instrument failed. Default: 3.
    #[schemars(range(min = 1, max = 20), example = 3, extend("x-change-class" = "analysis"))]
    pub(super) attempts: Option<u32>,
    /// Thresholds of guards and caveats. Default: those of METHODOLOGY.md.
    #[schemars(extend("x-change-class" = "analysis"))]
    pub(super) guards: Option<Guards>,
    /// The coverage that intervals and verdicts must reach. Default: 95%.
    #[schemars(example = &"95%", extend("x-change-class" = "analysis"))]
    pub(super) coverage: Option<Share>,
    /// How intervals of ratios are made. Default: two-sample.
    #[schemars(extend("x-change-class" = "analysis"))]
    pub(super) interval: Option<Interval>,
    /// A metric whose largest value over its smallest exceeds this is context: no ratio, no verdict. Default: no bound.
    #[schemars(example = &"150%", extend("x-change-class" = "analysis"))]
    pub(super) spread_bound: Option<Share>,
    /// The one comparison that is not corrected for the others. Default: none, and all are corrected.
    #[schemars(extend("x-change-class" = "analysis"))]
    pub(super) primary: Option<Comparison>,
    /// Numbers that are computed from estimates alone. Default: none.
    #[schemars(extend("x-change-class" = "analysis"))]
    pub(super) derived: Option<Named<Name<DerivedName>, Derived>>,
    /// Planted pairs with a known difference, measured among the candidates. Default: none.
    pub(super) standards: Option<Standards>,
    /// Overlays for machines; also as files `profiles/NAME.yaml` beside the manifest. Default: none.
    #[schemars(extend("x-change-class" = "environment"))]
    #[expect(dead_code, reason = "merged in the tree")]
    pub(super) profiles: Option<Named<Name<ProfileName>, Profile>>,
}

/// A profile's name follows the grammar of experiments' names.
pub(super) type ProfileName = ExperimentName;

/// The version of this language.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum Version {
    /// The first.
    #[serde(rename = "v1")]
    V1,
}

/// What the author demands of the core split.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Isolation {
    /// Sharing and hyper-thread siblings in two roles are caveats.
    Declared,
    /// Sharing and hyper-thread siblings in two roles are errors.
    Strict,
}

/// What a role may use, for the sum of its members. An absent limit is not enforced.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(super) struct Budget {
    /// How many cores the role runs on; which ones stands in `cores`. Default: those that `cores` gives.
    #[schemars(range(min = 1, max = 8192), example = 1)]
    pub(super) cores: Option<u32>,
    /// Most memory. Default: not limited.
    #[schemars(example = &"256MiB")]
    pub(super) memory: Option<Size>,
    /// Most processes and threads together. Default: not limited.
    #[schemars(range(min = 1), example = 64)]
    pub(super) processes: Option<u32>,
    /// Most connections to the database; observed there. Default: not limited.
    #[schemars(range(min = 1), example = 32)]
    pub(super) connections: Option<u32>,
}

/// What several parts have in common.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(super) struct Defaults {
    /// Merged into every candidate, mapping by mapping; what the candidate says wins. A list, or a
    /// mapping of another `kind`, is replaced whole. Default: nothing.
    #[expect(dead_code, reason = "merged in the tree")]
    pub(super) candidate: Option<Candidate>,
}

/// A machine's overlay: what belongs to the machine and never the method.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "environment"))]
pub(super) struct Profile {
    /// Which CPUs each role has; replaces the manifest's, role by role. Default: the manifest's.
    #[schemars(example = serde_json::json!({"candidate": "0-3", "load": "4-7"}))]
    #[expect(dead_code, reason = "merged in the tree")]
    pub(super) cores: Option<Named<RoleName, CoreSet>>,
    /// Whether roles may share CPUs; a caveat then stands at the top of every report. Default: false.
    #[schemars(example = true)]
    pub(super) share: Option<bool>,
    /// For a rehearsal: durations and rates times this. Its results can never be published. Default: none.
    #[schemars(example = &"10%")]
    pub(super) scale: Option<Share>,
}
