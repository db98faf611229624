//! What a number is measured in: powers of time and of data.

use std::fmt;

use crate::model::metric::Unit;

/// Powers of time (in nanoseconds) and data (in bytes). Cores are busy time over time, and counts
/// are pure numbers, so both have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// Power of time.
    pub time: i8,
    /// Power of data.
    pub data: i8,
}

impl Dimension {
    /// A pure number.
    pub const ONE: Self = Self { time: 0, data: 0 };

    /// The dimension of a unit.
    #[must_use]
    pub const fn of(unit: Unit) -> Self {
        match unit {
            Unit::PerSecond => Self { time: -1, data: 0 },
            Unit::Nanoseconds => Self { time: 1, data: 0 },
            Unit::Bytes => Self { time: 0, data: 1 },
            Unit::NanosecondsPerByte => Self { time: 1, data: -1 },
            Unit::Cores | Unit::One => Self::ONE,
        }
    }

    /// The dimension of a product.
    #[must_use]
    pub const fn times(self, other: Self) -> Self {
        Self {
            time: self.time.saturating_add(other.time),
            data: self.data.saturating_add(other.data),
        }
    }

    /// The dimension of a quotient.
    #[must_use]
    pub const fn over(self, other: Self) -> Self {
        Self {
            time: self.time.saturating_sub(other.time),
            data: self.data.saturating_sub(other.data),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.time, self.data) {
            (0, 0) => f.write_str("a pure number"),
            (1, 0) => f.write_str("a time"),
            (-1, 0) => f.write_str("a rate per second"),
            (0, 1) => f.write_str("bytes"),
            (1, -1) => f.write_str("time per byte"),
            (-1, 1) => f.write_str("bytes per time"),
            (time, data) => write!(f, "time^{time} bytes^{data}"),
        }
    }
}
