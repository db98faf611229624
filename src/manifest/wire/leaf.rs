//! Texts with a form of their own: names, quantities, metrics, roles.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::model::name::NAME_PATTERN;
use crate::model::{self, CpuSet, LoadPoint, Metric, Nanoseconds, Role};

/// A name of the one grammar that all names have.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub(in crate::manifest) struct Name<T>(pub(in crate::manifest) T);

impl<T> JsonSchema for Name<T> {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A name: 1 to 64 of a-z, 0-9, `-`, `_` or `.`, beginning and ending with a letter or digit.",
            "pattern": NAME_PATTERN,
            "x-form": "name",
            "examples": ["level-6"],
        })
    }
}

/// Declares a text whose form the model's type knows. `x-form` names that form, so that the loader
/// asks the same parser for what a pattern cannot say.
macro_rules! leaf {
    ($($name:ident($inner:ty), $form:literal, $example:literal, $pattern:literal, $description:literal;)*) => {$(
        #[doc = $description]
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
        #[serde(transparent)]
        pub(in crate::manifest) struct $name(pub(in crate::manifest) $inner);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": $description,
                    "pattern": $pattern,
                    "x-form": $form,
                    "examples": [$example],
                })
            }
        }
    )*};
}

leaf! {
    Duration(Nanoseconds), "duration", "30s",
        r"^(0|[1-9][0-9]*)(\.[0-9]{1,12})?(ns|us|ms|s|min|h)$",
        "A length of time with its unit: `ns`, `us`, `ms`, `s`, `min` or `h`.";
    Size(model::Bytes), "size", "256MiB",
        r"^(0|[1-9][0-9]*)(\.[0-9]{1,12})?(B|KiB|MiB|GiB|kB|MB|GB)$",
        "An amount of memory or data with its unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`.";
    Rate(model::Rate), "rate", "1000/s",
        r"^[1-9][0-9]*/s$",
        "A whole number of requests per second.";
    Share(model::Share), "share", "95%",
        r"^(0|[1-9][0-9]*)(\.[0-9]{1,4})?%$",
        "A part of a whole, in per cent.";
    CoreSet(CpuSet), "cores", "0-3",
        r"^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$",
        "A list of CPU numbers as the kernel writes it, in quotes: `\"0-3,8\"`.";
    RoleName(Role), "role", "candidate",
        r"^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$",
        "A role: `candidate`, `load`, `probe` or a service's name.";
    MetricName(Metric), "metric", "cpu_per_request",
        r"^(achieved|cpu_per_request|cores_used|bytes_per_answer|memory_peak|memory_mean|p[0-9]{1,2}(\.[0-9]{1,3})?)$",
        "A metric: `achieved`, `cpu_per_request`, `cores_used`, `bytes_per_answer`, `memory_peak`, `memory_mean`, or a quantile of the response time such as `p99`.";
    LoadPointText(LoadPoint), "load-point", "1000/s",
        r"^[1-9][0-9]*(/s)?$",
        "A load point: a rate such as `1000/s`, or a number of connections in quotes.";
}

/// The unit that a formula must have.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::manifest) enum FormulaUnit {
    /// Requests per second.
    PerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Cores.
    Cores,
    /// Bytes.
    Bytes,
    /// Nanoseconds for each byte.
    NanosecondsPerByte,
    /// A pure number.
    One,
}
