//! Load: phases, estimators, the probe.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::de::{Error as _, IntoDeserializer as _};

use super::leaf::{Duration, MetricName, Name, Rate, Share};
use super::shorthand::{Named, OneOrMany};
use crate::model::estimator::Centre;
use crate::model::{CandidateName, ScenarioName};

/// A load shape with its load points, repetitions and estimators.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["variants", "provision"]))]
pub(in crate::manifest) struct Phase {
    /// How the report calls it. Default: its name.
    #[schemars(example = &"At a fixed rate", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(in crate::manifest) title: Option<String>,
    /// The load and its load points.
    pub(in crate::manifest) load: Load,
    /// Rounds: how often each load point is measured.
    #[schemars(range(min = 1, max = 10_000), example = 6, extend("x-change-class" = "extension"))]
    pub(in crate::manifest) repetitions: u32,
    /// The candidates that take part. Default: all, in the order of the manifest.
    #[schemars(example = ["level-1", "level-6"], extend("uniqueItems" = true), length(min = 1))]
    pub(in crate::manifest) candidates: Option<Vec<Name<CandidateName>>>,
    /// The estimator of each metric that is reported. Default: median.
    #[schemars(extend("x-change-class" = "analysis"))]
    pub(in crate::manifest) estimate: Option<Estimate>,
    /// Which repetitions enter an estimate. Default: every one that is kept.
    #[schemars(extend("x-change-class" = "analysis"))]
    pub(in crate::manifest) accept: Option<Accept>,
}

/// Which repetitions enter an estimate. Those not accepted are printed all the same.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "analysis", "x-later" = ["attempts"]))]
pub(in crate::manifest) struct Accept {
    /// Only measurements whose rate was held.
    #[schemars(example = true)]
    pub(in crate::manifest) held: bool,
}

/// A load shape.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["waiting"]))]
pub(in crate::manifest) enum Load {
    /// Open loop, with correction for coordinated omission.
    FixedRate {
        /// The rate, or the list of rates, of each scenario, in the order in which they are measured.
        #[schemars(example = serde_json::json!({"page": "1000/s"}))]
        rates: Named<Name<ScenarioName>, OneOrMany<Rate>>,
        /// Connections; a request waits for a free one.
        #[schemars(range(min = 1, max = 65_535), example = 16)]
        connections: u32,
        /// The share of the planned requests that counts as held. Default: 99%.
        #[schemars(example = &"99%", extend("x-change-class" = "analysis"))]
        held_at: Option<Share>,
        /// Load before the first load point of each scenario and block. Default: 5s.
        #[schemars(example = &"5s")]
        warmup: Option<Duration>,
        /// The load window.
        #[schemars(example = &"30s")]
        duration: Duration,
        /// Longest wait for one answer; then it counts as an error. Default: 10s.
        #[schemars(example = &"10s")]
        timeout: Option<Duration>,
        /// Longest quiet time after the warm-up. Default: 5s.
        #[schemars(example = &"5s")]
        quiet: Option<Duration>,
        /// Largest number of planned requests for which every request is kept. Default: 0, never.
        #[schemars(example = 100_000)]
        keep_requests: Option<u64>,
    },
    /// Closed loop over a sweep of connections.
    Ceiling {
        /// The scenarios, in the order in which they are measured. Default: all.
        #[schemars(example = ["page"], extend("uniqueItems" = true), length(min = 1))]
        scenarios: Option<Vec<Name<ScenarioName>>>,
        /// The number of connections, or the list of numbers, in the order in which they are measured.
        #[schemars(example = [16, 64])]
        connections: OneOrMany<Connections>,
        /// Load before the first load point of each scenario and block. Default: 5s.
        #[schemars(example = &"5s")]
        warmup: Option<Duration>,
        /// The load window.
        #[schemars(example = &"15s")]
        duration: Duration,
        /// Longest wait for one answer; then it counts as an error. Default: 10s.
        #[schemars(example = &"10s")]
        timeout: Option<Duration>,
        /// Longest quiet time after the warm-up. Default: 5s.
        #[schemars(example = &"5s")]
        quiet: Option<Duration>,
    },
}

/// A number of connections.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub(in crate::manifest) struct Connections(pub(in crate::manifest) u32);

impl JsonSchema for Connections {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Connections".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "integer",
            "description": "A number of connections.",
            "minimum": 1,
            "maximum": 65_535,
            "examples": [64],
        })
    }
}

/// One word for the usual metrics, or a rule for each metric that is reported.
#[derive(Debug)]
pub(in crate::manifest) enum Estimate {
    Word(Centre),
    Metrics(Named<MetricName, MetricRule>),
}

/// One word, or both steps: over repetitions and over load points.
#[derive(Debug)]
pub(in crate::manifest) enum MetricRule {
    Word(Centre),
    Steps(EstimateSteps),
}

/// Both steps of an estimator.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "analysis"))]
pub(in crate::manifest) struct EstimateSteps {
    /// Over the kept repetitions at one load point.
    pub(in crate::manifest) repetitions: CentreWord,
    /// Over load points. Default: every load point keeps its own estimate; for `achieved` of a ceiling, best.
    pub(in crate::manifest) points: Option<CentreWord>,
}

/// How several values become one.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub(in crate::manifest) struct CentreWord(pub(in crate::manifest) Centre);

impl JsonSchema for CentreWord {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Centre".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "How several values become one. `best` is the largest where more is better, else the smallest; `trimmed_mean` leaves out the smallest and the largest fifth; `range` gives both ends.",
            "enum": ["median", "best", "mean", "trimmed_mean", "min", "max", "range"],
            "x-later": ["slope"],
            "examples": ["median"],
        })
    }
}

impl JsonSchema for Estimate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Estimate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<CentreWord>();
        let metrics = generator.subschema_for::<Named<MetricName, MetricRule>>();
        json_schema!({
            "description": "One word for the usual metrics, or a rule for each metric that is reported. The usual metrics of a fixed rate are achieved, cpu_per_request, cores_used, bytes_per_answer, memory_peak, p50 and p99; of a ceiling achieved, cpu_per_request, cores_used and memory_peak. The word is the step over repetitions; over load points, `achieved` of a ceiling takes `best`, all else keeps every load point.",
            "anyOf": [word, metrics],
            "examples": ["median", {"achieved": {"repetitions": "best", "points": "best"}, "cpu_per_request": "median"}],
        })
    }
}

impl JsonSchema for MetricRule {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MetricRule".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<CentreWord>();
        let steps = generator.subschema_for::<EstimateSteps>();
        json_schema!({
            "description": "One word for the step over repetitions, or both steps.",
            "anyOf": [word, steps],
            "examples": ["median", {"repetitions": "best", "points": "best"}],
        })
    }
}

/// Reads a word or a mapping.
macro_rules! word_or_mapping {
    ($name:ident, $mapping:ident) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;

                impl<'de> Visitor<'de> for Either {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an estimator's word or a mapping")
                    }

                    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<$name, E> {
                        Centre::deserialize(word.into_deserializer())
                            .map($name::Word)
                            .map_err(|error: serde::de::value::Error| E::custom(error))
                    }

                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                        Deserialize::deserialize(MapAccessDeserializer::new(map))
                            .map($name::$mapping)
                            .map_err(A::Error::custom)
                    }
                }

                deserializer.deserialize_any(Either)
            }
        }
    };
}

word_or_mapping!(Estimate, Metrics);
word_or_mapping!(MetricRule, Steps);

/// The reference nginx that watches the machine.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method", "x-later" = ["run"]))]
pub(in crate::manifest) struct Probe {
    /// When it is driven. Default: before-and-after.
    pub(in crate::manifest) when: Option<ProbeTimes>,
    /// The load on it. Default: `{kind: fixed-rate, rate: 2000/s, connections: 16, duration: 1s}`.
    pub(in crate::manifest) load: Option<ProbeLoad>,
    /// Achieved rate below which a block is invalid. Default: 99 % of the rate, rounded down.
    #[schemars(example = &"1980/s")]
    pub(in crate::manifest) at_least: Option<Rate>,
    /// Readings at the start of the run that later ones are compared with. Default: 5.
    #[schemars(range(min = 3, max = 100), example = 5)]
    pub(in crate::manifest) calibration: Option<u32>,
    /// Connections at which the probe's own ceiling is measured once a run: no candidate above it is
    /// believed. Default: not measured.
    #[schemars(range(min = 1, max = 65_535), example = 64)]
    pub(in crate::manifest) ceiling: Option<u32>,
}

/// When the probe is driven.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::manifest) enum ProbeTimes {
    /// Before and after each block.
    BeforeAndAfter,
    /// Before each block.
    Before,
}

/// The load on the probe.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) enum ProbeLoad {
    /// Open loop.
    FixedRate {
        /// The rate. Default: 2000/s.
        #[schemars(example = &"2000/s")]
        rate: Option<Rate>,
        /// Connections. Default: 16.
        #[schemars(range(min = 1, max = 65_535), example = 16)]
        connections: Option<u32>,
        /// The load window. Default: 1s.
        #[schemars(example = &"1s")]
        duration: Option<Duration>,
    },
}
