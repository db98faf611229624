//! What the page says about itself.

use schemars::JsonSchema;
use serde::Deserialize;

use super::leaf::Name;
use crate::model::DerivedName;

/// An author.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "cosmetic"))]
pub(in crate::manifest) struct Author {
    /// The full name.
    #[schemars(example = &"Ada Lovelace", length(min = 1))]
    pub(in crate::manifest) name: String,
    /// An ORCID iD or another address. Default: none.
    #[schemars(example = &"https://orcid.org/0000-0002-1825-0097", length(min = 1))]
    pub(in crate::manifest) id: Option<String>,
}

/// The sentence that an entry publishes as its answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "cosmetic"))]
pub(in crate::manifest) struct Finding {
    /// The sentence. Its numbers are written as `{{ value(…) }}`.
    #[schemars(example = &"Level 6 costs more CPU than level 1.", length(min = 1))]
    pub(in crate::manifest) text: String,
    /// How sure the author is.
    pub(in crate::manifest) confidence: Confidence,
    /// The reason for that word.
    #[schemars(example = &"Six rounds, a difference far beyond the noise.", length(min = 1))]
    pub(in crate::manifest) because: String,
}

/// How sure the author is.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::manifest) enum Confidence {
    /// It may well be wrong.
    Low,
    /// It is likely to hold.
    Medium,
    /// It would surprise if it did not hold.
    High,
}

/// A result that gets a heading of its own. All texts may have `{{ value(…) }}`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "cosmetic"))]
pub(in crate::manifest) struct NamedResult {
    /// The anchor that links name.
    #[schemars(example = &"price-of-a-byte")]
    pub(in crate::manifest) id: Name<DerivedName>,
    /// The heading.
    #[schemars(example = &"The last byte is the dearest", length(min = 1))]
    pub(in crate::manifest) title: String,
    /// On what it was measured.
    #[schemars(example = &"nginx, one worker, one page of 20 KB.", length(min = 1))]
    pub(in crate::manifest) setup: String,
    /// What was measured.
    #[schemars(example = &"CPU per request at three levels.", length(min = 1))]
    pub(in crate::manifest) measured: String,
    /// What would mend it. Default: none.
    #[schemars(example = &"Compress once and keep the result.", length(min = 1))]
    pub(in crate::manifest) fix: Option<String>,
    /// How far it is.
    pub(in crate::manifest) state: ResultState,
}

/// How far a named result is.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::manifest) enum ResultState {
    /// Cause and effect are shown.
    Shown,
    /// The cause is shown, the fix was not run.
    FixNotMeasured,
    /// No confirmed cause yet.
    Open,
}
