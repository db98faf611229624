//! Metrics: what a measurement has a number for, and the unit of that number.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A quantile in hundred-thousandths, between 0 and 1 exclusive. Text form: `p50`, `p99`, `p99.9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantile(u32);

impl Quantile {
    /// The median.
    pub const P50: Self = Self(50_000);
    /// The quantiles that are always recorded: those that the generator prints.
    pub const PRINTED: [Self; 9] = [
        Self(10_000),
        Self(25_000),
        Self(50_000),
        Self(75_000),
        Self(90_000),
        Self(95_000),
        Self(99_000),
        Self(99_900),
        Self(99_990),
    ];

    /// Hundred-thousandths, 1 to 99,999.
    #[must_use]
    pub const fn hundred_thousandths(self) -> u32 {
        self.0
    }

    /// The floor-index rank among `n` values sorted ascending, counted from 0: `floor(q n)`.
    ///
    /// This is the one percentile rule of the code base, and the load generator's own.
    #[must_use]
    pub fn rank(self, n: u64) -> u64 {
        let product = u128::from(n) * u128::from(self.0) / 100_000;
        u64::try_from(product).unwrap_or(u64::MAX)
    }

    /// How many values are needed so that the rank is not simply the largest one:
    /// the smallest n with `floor(q n) < n - 1`.
    #[must_use]
    pub fn needs(self) -> u64 {
        u64::from(100_000_u32.div_ceil(100_000 - self.0)) + 1
    }
}

impl FromStr for Quantile {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || {
            format!(
                "expected a quantile such as `p50`, `p99` or `p99.9`, found `{}`",
                text.escape_debug()
            )
        };
        let number = text.strip_prefix('p').ok_or_else(fault)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let shape = (1..=2).contains(&whole.len()) && fraction.len() <= 3;
        if !shape || !digits(whole) || !digits(fraction) || number.ends_with('.') {
            return Err(fault());
        }
        let value: u32 = format!("{whole}{fraction:0<3}")
            .parse()
            .map_err(|_| fault())?;
        if (1..100_000).contains(&value) {
            Ok(Self(value))
        } else {
            Err(fault())
        }
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1000, self.0 % 1000);
        if rest == 0 {
            write!(f, "p{whole}")
        } else {
            write!(f, "p{whole}.{}", format!("{rest:03}").trim_end_matches('0'))
        }
    }
}

/// What a measurement has a number for. Text form: `achieved`, `cpu_per_request`, `p99`, …
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub enum Metric {
    /// Expected answers inside the load window per second.
    Achieved,
    /// CPU time of a role's group over requests answered, counter window.
    CpuPerRequest,
    /// CPU time of a role's group over the length of the counter window: busy cores.
    CoresUsed,
    /// Body bytes over answers.
    BytesPerAnswer,
    /// Highest sampled anonymous plus shared memory of a role's group.
    MemoryPeak,
    /// Mean of the samples of anonymous plus shared memory of a role's group.
    MemoryMean,
    /// Response time at a rank among planned requests.
    Latency(Quantile),
}

/// The unit of a metric's number.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Requests per second.
    PerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Cores.
    Cores,
    /// Bytes.
    Bytes,
    /// Nanoseconds of CPU time for each byte; only declared numbers have it.
    NanosecondsPerByte,
    /// A pure number.
    One,
}

impl Metric {
    /// The metrics that are no quantile.
    pub const PLAIN: [Self; 6] = [
        Self::Achieved,
        Self::CpuPerRequest,
        Self::CoresUsed,
        Self::BytesPerAnswer,
        Self::MemoryPeak,
        Self::MemoryMean,
    ];

    /// The unit of its number.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::Achieved => Unit::PerSecond,
            Self::CpuPerRequest | Self::Latency(_) => Unit::Nanoseconds,
            Self::CoresUsed => Unit::Cores,
            Self::BytesPerAnswer | Self::MemoryPeak | Self::MemoryMean => Unit::Bytes,
        }
    }

    /// Whether it is read from a role's group, so that every role has one.
    #[must_use]
    pub const fn is_per_role(self) -> bool {
        matches!(
            self,
            Self::CpuPerRequest | Self::CoresUsed | Self::MemoryPeak | Self::MemoryMean
        )
    }
}

impl FromStr for Metric {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let plain = Self::PLAIN
            .into_iter()
            .find(|metric| metric.to_string() == text);
        plain
            .map_or_else(|| text.parse().map(Self::Latency), Ok)
            .map_err(|_| {
                let known = Self::PLAIN.map(|metric| metric.to_string()).join(", ");
                format!(
                    "expected {known} or a quantile such as p99, found `{}`",
                    text.escape_debug()
                )
            })
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Achieved => f.write_str("achieved"),
            Self::CpuPerRequest => f.write_str("cpu_per_request"),
            Self::CoresUsed => f.write_str("cores_used"),
            Self::BytesPerAnswer => f.write_str("bytes_per_answer"),
            Self::MemoryPeak => f.write_str("memory_peak"),
            Self::MemoryMean => f.write_str("memory_mean"),
            Self::Latency(quantile) => quantile.fmt(f),
        }
    }
}

super::written::written! {
    Metric, or String;
    Quantile, or String;
}

impl schemars::JsonSchema for Quantile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Quantile".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A quantile: `p50`, `p99`, `p99.9`.",
            "type": "string",
            "pattern": "^p[0-9]{1,2}(\\.[0-9]{1,3})?$",
        })
    }
}

impl Serialize for Quantile {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_print_as_they_are_read() {
        for text in [
            "achieved",
            "cpu_per_request",
            "p50",
            "p99",
            "p99.9",
            "p99.99",
            "p5",
        ] {
            assert_eq!(text.parse::<Metric>().unwrap().to_string(), text);
        }
        for bad in ["p0", "p100", "p", "p99.", "99", "cpu"] {
            assert!(bad.parse::<Metric>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ranks_follow_the_floor_index() {
        let p99: Quantile = "p99".parse().unwrap();
        assert_eq!((p99.rank(100), p99.rank(1000)), (99, 990));
        assert_eq!(p99.needs(), 101);
        assert_eq!(Quantile::P50.needs(), 3);
    }
}
