//! What is made of the measurements: order, guards, comparisons, derived numbers.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, IntoDeserializer as _, MapAccess, Visitor};

use super::leaf::{Duration, FormulaUnit, LoadPointText, MetricName, Name, Rate, RoleName, Share};
use crate::model::{CandidateName, PhaseName, ScenarioName};

/// The order of candidates within rounds: a word, or a word and a seed.
#[derive(Debug)]
pub(in crate::manifest) enum Order {
    Word(OrderWords),
    Rule(OrderRule),
}

/// An order with its seed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct OrderRule {
    /// The rule. Default: balanced.
    pub(in crate::manifest) rule: Option<OrderWords>,
    /// The seed. Default: derived from the method's meaning and written into the lock.
    #[schemars(example = 7)]
    pub(in crate::manifest) seed: Option<u64>,
}

/// How candidates are ordered within rounds.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::manifest) enum OrderWords {
    /// A Williams design: balanced against first-order carry-over.
    Balanced,
    /// A seeded random order in each round.
    Random,
    /// Plain rotation: each candidate stays behind the same neighbour.
    Rotated,
}

impl JsonSchema for Order {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Order".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<OrderWords>();
        let rule = generator.subschema_for::<OrderRule>();
        json_schema!({
            "description": "The order of candidates within rounds: a word, or a word and a seed.",
            "anyOf": [word, rule],
            "examples": ["balanced", {"rule": "random", "seed": 7}],
        })
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Order;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an order's word or a mapping")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Order, E> {
                OrderWords::deserialize(word.into_deserializer())
                    .map(Order::Word)
                    .map_err(|error: serde::de::value::Error| E::custom(error))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Order, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map))
                    .map(Order::Rule)
                    .map_err(A::Error::custom)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

/// How intervals of ratios are made.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::manifest) enum Interval {
    /// Exact ranks of two samples.
    TwoSample,
    /// Exact signed ranks of the ratios within each round.
    Paired,
}

/// Thresholds of guards and caveats.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "analysis"))]
pub(in crate::manifest) struct Guards {
    /// Smallest change of a probe reading that can be drift, of the calibration median. Default: 15%.
    #[schemars(example = &"15%")]
    pub(in crate::manifest) probe_drift_at_least: Option<Share>,
    /// Robust standard deviations that a probe reading may be off its calibration. Default: 3.
    #[schemars(range(min = 1, max = 100), example = 3)]
    pub(in crate::manifest) probe_drift_deviations: Option<u32>,
    /// Change of the fixed-work loop that is a caveat. Default: 10%.
    #[schemars(example = &"10%")]
    pub(in crate::manifest) fixed_work_caveat: Option<Share>,
    /// Change of the fixed-work loop that is invalid. Default: 20%.
    #[schemars(example = &"20%")]
    pub(in crate::manifest) fixed_work_invalid: Option<Share>,
    /// Generator busy time that spoils latency, of the load role's cores. Default: 70%.
    #[schemars(example = &"70%")]
    pub(in crate::manifest) generator_busy_caveat: Option<Share>,
    /// Generator busy time at a rate not held that is invalid. Default: 90%.
    #[schemars(example = &"90%")]
    pub(in crate::manifest) generator_busy_invalid: Option<Share>,
    /// Generator's run delay that makes high quantiles absent, of the window. Default: 1%.
    #[schemars(example = &"1%")]
    pub(in crate::manifest) generator_late: Option<Share>,
    /// Foreign CPU on a candidate core that is invalid, of one core. Default: 5%.
    #[schemars(example = &"5%")]
    pub(in crate::manifest) foreign_load: Option<Share>,
    /// Steal that is a caveat, of the window on all of a role's cores. Default: 1%.
    #[schemars(example = &"1%")]
    pub(in crate::manifest) steal_caveat: Option<Share>,
    /// Steal that is invalid. Default: 5%.
    #[schemars(example = &"5%")]
    pub(in crate::manifest) steal_invalid: Option<Share>,
    /// Step of the wall clock that is invalid. Default: 1ms.
    #[schemars(example = &"1ms")]
    pub(in crate::manifest) clock_step: Option<Duration>,
    /// Time asleep that is invalid. Default: 1ms.
    #[schemars(example = &"1ms")]
    pub(in crate::manifest) suspended: Option<Duration>,
    /// Swapped pages allowed in a window. Default: 0.
    #[schemars(example = 0)]
    pub(in crate::manifest) swap_pages: Option<u64>,
    /// Difference between witness and answers that is still explained, of the answers. Default: 0%.
    #[schemars(example = &"0%")]
    pub(in crate::manifest) accounting: Option<Share>,
    /// Width of the achieved rate's interval that is a caveat, of the planned rate. Default: 0.2%.
    #[schemars(example = &"0.2%")]
    pub(in crate::manifest) late_unknown: Option<Share>,
    /// Change of the last third of a window against the first that is printed. Default: 5%.
    #[schemars(example = &"5%")]
    pub(in crate::manifest) not_steady: Option<Share>,
}

/// A declared comparison of two candidates.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "analysis"))]
pub(in crate::manifest) struct Comparison {
    /// The metric.
    pub(in crate::manifest) metric: MetricName,
    /// The phase.
    #[schemars(example = &"fixed-rate")]
    pub(in crate::manifest) phase: Name<PhaseName>,
    /// The scenario. Default: the only one of the phase.
    #[schemars(example = &"page")]
    pub(in crate::manifest) scenario: Option<Name<ScenarioName>>,
    /// The load point. Default: the only one of the scenario, or the estimate over all.
    pub(in crate::manifest) at: Option<LoadPointText>,
    /// The role. Default: candidate.
    pub(in crate::manifest) role: Option<RoleName>,
    /// The numerator.
    #[schemars(example = &"level-6")]
    pub(in crate::manifest) compare: Name<CandidateName>,
    /// The denominator.
    #[schemars(example = &"level-1")]
    pub(in crate::manifest) against: Name<CandidateName>,
    /// The largest difference that counts as the same. Default: equivalence is not asked.
    #[schemars(example = &"5%")]
    pub(in crate::manifest) equivalent_within: Option<Share>,
}

/// A number that is computed from estimates alone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "analysis", "x-later" = ["cost"]))]
pub(in crate::manifest) enum Derived {
    /// The target times CPU per request, per candidate.
    CoresByCpuTime(Cores),
    /// The target over the ceiling times the budget's cores, per candidate.
    CoresByInstance(Cores),
    /// A metric of one scenario over the same metric of another, per candidate.
    Share(ShareOf),
    /// Whether two phases agree: achieved at a target not held against the ceiling.
    Corroboration {
        /// How the report calls it. Default: its name.
        #[schemars(example = &"Do the phases agree?", extend("x-change-class" = "cosmetic"), length(min = 1))]
        title: Option<String>,
        /// The fixed-rate phase.
        #[schemars(example = &"fixed-rate")]
        target: Name<PhaseName>,
        /// The ceiling phase.
        #[schemars(example = &"ceiling")]
        ceiling: Name<PhaseName>,
        /// The largest difference that still agrees.
        #[schemars(example = &"10%")]
        within: Share,
    },
    /// An expression over `value(…)`, units checked.
    Formula {
        /// How the report calls it. Default: its name.
        #[schemars(example = &"CPU for each byte saved", extend("x-change-class" = "cosmetic"), length(min = 1))]
        title: Option<String>,
        /// The expression.
        #[schemars(example = &"value(metric=\"cpu_per_request\") * 2", length(min = 1, max = 4096))]
        formula: String,
        /// The unit that it must have. Default: the one that follows from it.
        unit: Option<FormulaUnit>,
    },
}

/// How many cores a rate needs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "analysis"))]
pub(in crate::manifest) struct Cores {
    /// How the report calls it. Default: its name.
    #[schemars(example = &"Cores at 50,000 a second", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(in crate::manifest) title: Option<String>,
    /// The rate to serve.
    #[schemars(example = &"50000/s")]
    pub(in crate::manifest) target: Rate,
    /// Which request.
    #[schemars(example = &"page")]
    pub(in crate::manifest) scenario: Name<ScenarioName>,
    /// The phase whose numbers are taken: by instance a ceiling.
    #[schemars(example = &"fixed-rate")]
    pub(in crate::manifest) phase: Name<PhaseName>,
    /// The candidate that the others are divided by. Default: no ratios.
    #[schemars(example = &"plain")]
    pub(in crate::manifest) against: Option<Name<CandidateName>>,
}

/// A metric of one scenario over the same metric of another.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "analysis"))]
pub(in crate::manifest) struct ShareOf {
    /// How the report calls it. Default: its name.
    #[schemars(example = &"Share of the token check", extend("x-change-class" = "cosmetic"), length(min = 1))]
    pub(in crate::manifest) title: Option<String>,
    /// The numerator.
    #[schemars(example = &"token-check")]
    pub(in crate::manifest) of: Name<ScenarioName>,
    /// The denominator.
    #[schemars(example = &"read")]
    pub(in crate::manifest) r#in: Name<ScenarioName>,
    /// The metric.
    pub(in crate::manifest) metric: MetricName,
    /// The phase.
    #[schemars(example = &"fixed-rate")]
    pub(in crate::manifest) phase: Name<PhaseName>,
}
