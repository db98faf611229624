//! Standards: planted pairs with a known difference.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, IntoDeserializer as _, MapAccess, Visitor};

use super::leaf::{Duration, Name, Rate, Share, Size};
use super::shorthand::NonEmpty;
use crate::model::PhaseName;

/// Planted pairs of loadlab's own servers with a known difference, measured among the candidates: the
/// report opens with what the run recovered of it, and ranks nothing smaller than it could resolve.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) struct Standards {
    /// What each pair differs in; `0%` plants nothing, and nothing must be found.
    #[schemars(example = serde_json::json!(["0%", "5%", {"kind": "nginx", "by": "5%"}]))]
    pub(in crate::manifest) differences: NonEmpty<Difference>,
    /// The fixed-rate phase in whose rounds they stand, and whose load they get. Default: the first one.
    #[schemars(example = &"fixed-rate")]
    pub(in crate::manifest) phase: Option<Name<PhaseName>>,
    /// Their rate. Default: the first one of the phase, at most 5000/s.
    #[schemars(example = &"1000/s")]
    pub(in crate::manifest) rate: Option<Rate>,
    /// CPU time that the test server burns for each request. Default: 150us, or less where that would
    /// keep a core busy for more than 40 % at the rate.
    #[schemars(example = &"150us")]
    pub(in crate::manifest) work: Option<Duration>,
    /// The most of the run's time that they may take; they stand in as many rounds, spread evenly, as
    /// that allows. Default: 25%.
    #[schemars(example = &"25%")]
    pub(in crate::manifest) share: Option<Share>,
}

/// What a pair differs in: a share of CPU for each request, or a difference of a kind.
#[derive(Debug)]
pub(in crate::manifest) enum Difference {
    Cpu(Share),
    Kind(DifferenceKind),
}

/// What a pair differs in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-change-class" = "method"))]
pub(in crate::manifest) enum DifferenceKind {
    /// CPU for each request, between two test servers.
    Cpu {
        /// How much more one of them uses.
        #[schemars(example = &"5%")]
        by: Share,
    },
    /// CPU for each request, between two of the reference nginx, of which one has a companion that uses
    /// exactly this on top: the test server knows no kernel-heavy path.
    Nginx {
        /// How much more one of them uses.
        #[schemars(example = &"5%")]
        by: Share,
    },
    /// Time that each answer takes, between two test servers.
    Delay {
        /// How much longer one of them waits.
        #[schemars(example = &"2ms")]
        by: Duration,
    },
    /// Memory, between two test servers.
    Memory {
        /// How much more one of them holds.
        #[schemars(example = &"64MiB")]
        by: Size,
    },
}

impl JsonSchema for Difference {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Difference".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let share = generator.subschema_for::<Share>();
        let kind = generator.subschema_for::<DifferenceKind>();
        json_schema!({
            "description": "What a pair differs in: a share of CPU for each request, or a difference of a kind.",
            "anyOf": [share, kind],
            "examples": ["5%", {"kind": "nginx", "by": "5%"}],
        })
    }
}

impl<'de> Deserialize<'de> for Difference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Difference;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share of CPU or a mapping with a kind")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Difference, E> {
                Share::deserialize(text.into_deserializer())
                    .map(Difference::Cpu)
                    .map_err(|error: serde::de::value::Error| E::custom(error))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Difference, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map))
                    .map(Difference::Kind)
                    .map_err(A::Error::custom)
            }
        }

        deserializer.deserialize_any(Either)
    }
}
