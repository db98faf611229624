//! Sets of CPUs and who may use them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::plural::noun;
use super::role::Role;

/// The highest CPU number accepted.
pub const HIGHEST_CPU: u32 = 8191;

/// A set of CPU numbers, not empty. Text form as the kernel's: `0-3,8`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct CpuSet(BTreeSet<u32>);

/// Why a text is no set of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a list of CPU numbers such as `0-3,8`, found `{0}`")]
pub struct NotACpuSet(String);

impl CpuSet {
    /// A set of these CPUs; absent when there are none.
    #[must_use]
    pub fn of(cpus: impl IntoIterator<Item = u32>) -> Option<Self> {
        let cpus: BTreeSet<u32> = cpus.into_iter().collect();
        (!cpus.is_empty()).then_some(Self(cpus))
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// How many CPUs.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether the CPU belongs to the set.
    #[must_use]
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// Says which CPUs of a role are not online: `load is to have CPU 7, which is not online: online are
    /// 0-1`. Absent: they all are.
    #[must_use]
    pub fn offline(&self, role: &Role, online: &Self) -> Option<String> {
        let offline = Self::of(self.iter().filter(|cpu| !online.contains(*cpu)))?;
        let cpus = noun(self.0.len() as u64, "CPU", "CPUs");
        let which = match (offline == *self, self.0.len()) {
            (true, 1) => "which is not online".to_owned(),
            (true, _) => "none of which is online".to_owned(),
            (false, _) => format!(
                "of which {offline} {} not online",
                noun(offline.0.len() as u64, "is", "are")
            ),
        };
        let are = noun(online.0.len() as u64, "is", "are");
        Some(format!(
            "{role} is to have {cpus} {self}, {which}: online {are} {online}"
        ))
    }

    /// The CPUs in both sets, ascending.
    #[must_use]
    pub fn common(&self, other: &Self) -> Vec<u32> {
        self.0.intersection(&other.0).copied().collect()
    }
}

impl FromStr for CpuSet {
    type Err = NotACpuSet;
    fn from_str(text: &str) -> Result<Self, NotACpuSet> {
        let fault = || NotACpuSet(text.escape_debug().to_string());
        let number = |text: &str| -> Option<u32> {
            let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            plain
                .then(|| text.parse().ok())
                .flatten()
                .filter(|cpu: &u32| *cpu <= HIGHEST_CPU)
        };
        let mut cpus = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (
                number(first).ok_or_else(fault)?,
                number(last).ok_or_else(fault)?,
            );
            if first > last {
                return Err(fault());
            }
            cpus.extend(first..=last);
        }
        Ok(Self(cpus))
    }
}

super::written::written! {
    CpuSet, or NotACpuSet;
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.0.iter().copied().peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if(|next| *next == last + 1) {
                last = next;
            }
            write!(f, "{separator}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

/// How the machine's CPUs are divided among roles.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Every role has CPUs of its own.
    #[default]
    Disjoint,
    /// The profile declares that roles share CPUs; a caveat stands at the top of the report.
    Declared,
}

/// What the author demands of the core split.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Sharing and hyper-thread siblings in two roles are caveats.
    #[default]
    Declared,
    /// Sharing and hyper-thread siblings in two roles are errors.
    Strict,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_in_the_kernels_shortest_form() {
        for (given, printed) in [
            ("0-3,8", "0-3,8"),
            ("1", "1"),
            ("3,1,2", "1-3"),
            ("0,2", "0,2"),
        ] {
            assert_eq!(given.parse::<CpuSet>().unwrap().to_string(), printed);
        }
        for bad in ["", "a", "3-1", "0-", "-1", "0,,1", "0 1", "99999"] {
            assert!(bad.parse::<CpuSet>().is_err(), "{bad}");
        }
    }

    #[test]
    fn says_which_cpus_are_not_online() {
        for (cpus, online, expected) in [
            ("0,2", "0-2", None),
            (
                "7",
                "0-1",
                Some("load is to have CPU 7, which is not online: online are 0-1"),
            ),
            (
                "6-7",
                "0",
                Some("load is to have CPUs 6-7, none of which is online: online is 0"),
            ),
            (
                "1,6-7",
                "0-1",
                Some("load is to have CPUs 1,6-7, of which 6-7 are not online: online are 0-1"),
            ),
        ] {
            let [cpus, online]: [CpuSet; 2] = [cpus, online].map(|text| text.parse().unwrap());
            assert_eq!(cpus.offline(&Role::Load, &online).as_deref(), expected);
        }
    }
}
