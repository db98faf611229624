//! Standards: planted pairs with a known difference, measured among the candidates' blocks.
//!
//! What was planted is sealed: run, guards and the estimators see servers with neutral names, as an
//! experiment of their own ([`Experiment::of_standards`]), and never ask for the truth. It is opened
//! only by the module of `estimate` that compares what was recovered with what was planted.

mod blinded;
mod weight;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::digest::Digest;
use super::metric::{Metric, Quantile};
use super::name::{CandidateName, ExperimentName, PhaseName};
use super::unit::{Bytes, Nanoseconds, Rate, Share};

pub use blinded::scenario_name;
pub use weight::{Server, Weight};

/// What the names of planted servers begin with; a number follows. No candidate may be called so.
pub const NAMES: &str = "standard-";

/// The length of every planted server's answer, bytes: that of the reference nginx.
pub const BODY: Bytes = Bytes(25);

/// Planted pairs with a known difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standards {
    /// The fixed-rate phase in whose rounds they stand, and whose load they get.
    pub phase: PhaseName,
    /// The rate of every planted server.
    pub rate: Rate,
    /// The most of a run's time that they may take.
    pub share: Share,
    /// The planted servers, by neutral names that were dealt without regard to what they cost.
    pub weights: IndexMap<CandidateName, Candidate>,
    /// What was planted.
    pub planted: Sealed,
}

/// What was planted, closed to whoever judges a measurement. Written out in `expanded.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(Vec<Pair>);

impl Sealed {
    /// Closes it.
    #[must_use]
    pub const fn of(pairs: Vec<Pair>) -> Self {
        Self(pairs)
    }

    /// Opens it, in the order of the manifest. Neither a guard nor the loop of a run does, nor an
    /// estimator before it has an estimate; a test holds that.
    #[must_use]
    pub fn open_the_seal(&self) -> &[Pair] {
        &self.0
    }
}

/// Two planted servers and their known difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The one with the extra.
    pub compare: CandidateName,
    /// The one without.
    pub against: CandidateName,
    /// What the first does more than the second.
    pub difference: Difference,
}

/// A known difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Difference {
    /// CPU for each request, of the test server's own.
    Cpu {
        /// How much more; 0 %: an identical twin.
        by: Share,
    },
    /// CPU for each request, of the reference nginx's own.
    Nginx {
        /// How much more; 0 %: an identical twin.
        by: Share,
    },
    /// Time that each answer takes.
    Delay {
        /// How much longer.
        by: Nanoseconds,
    },
    /// Memory.
    Memory {
        /// How much more.
        by: Bytes,
    },
}

impl Difference {
    /// The metric that shows it.
    #[must_use]
    pub const fn metric(self) -> Metric {
        match self {
            Self::Cpu { .. } | Self::Nginx { .. } => Metric::CpuPerRequest,
            Self::Delay { .. } => Metric::Latency(Quantile::P50),
            Self::Memory { .. } => Metric::MemoryPeak,
        }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cpu { by } => write!(f, "{by} of CPU"),
            Self::Nginx { by } => write!(f, "{by} of CPU (nginx)"),
            Self::Delay { by } => write!(f, "{by} of delay"),
            Self::Memory { by } => write!(f, "{by} of memory"),
        }
    }
}

impl Standards {
    /// Plants each difference against a server that differs in nothing else. Pairs of one kind of
    /// server share the one without anything on top.
    ///
    /// Neutral names are dealt by digests salted with the experiment's name, so that nothing can be
    /// read from them, and the same manifest gives the same names everywhere.
    #[must_use]
    pub fn plant(
        experiment: &ExperimentName,
        (phase, rate, share): (PhaseName, Rate, Share),
        work: Nanoseconds,
        differences: &[Difference],
    ) -> Self {
        let mut servers: Vec<Weight> = Vec::new();
        let mut bases: Vec<(Weight, usize)> = Vec::new();
        let mut pairs = Vec::new();
        for difference in differences {
            let base = Weight::base(*difference, work);
            let known = bases.iter().find(|(known, _)| *known == base);
            let known = known.map(|(_, position)| *position);
            let against = known.unwrap_or(servers.len());
            if known.is_none() {
                servers.push(base.clone());
                bases.push((base, against));
            }
            servers.push(Weight::with(*difference, work));
            pairs.push((servers.len() - 1, against, *difference));
        }
        let names = dealt(experiment, servers.len());
        let pair = |(compare, against, difference): (usize, usize, Difference)| Pair {
            compare: names[compare].clone(),
            against: names[against].clone(),
            difference,
        };
        let planted = Sealed::of(pairs.into_iter().map(pair).collect());
        let named = names.iter().cloned().zip(servers);
        let mut weights: IndexMap<CandidateName, Candidate> = named
            .map(|(name, weight)| (name.clone(), candidate(name, weight)))
            .collect();
        weights.sort_unstable_keys();
        Self {
            phase,
            rate,
            share,
            weights,
            planted,
        }
    }
}

/// So many neutral names in a dealt order.
fn dealt(experiment: &ExperimentName, count: usize) -> Vec<CandidateName> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_cached_key(|position| Digest::of_value(&(experiment, "standards", position)));
    let mut names = vec![String::new(); count];
    for (number, position) in (1..).zip(order) {
        names[position] = format!("{NAMES}{number:02}");
    }
    let name = |text: String| text.parse().expect("a plain name");
    names.into_iter().map(name).collect()
}

fn candidate(name: CandidateName, weight: Weight) -> Candidate {
    Candidate {
        title: name.to_string(),
        name,
        definition: weight.definition(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Program;

    fn planted() -> Standards {
        let cpu = |by| Difference::Cpu {
            by: Share::percent(by),
        };
        let nginx = Difference::Nginx {
            by: Share::percent(5),
        };
        let load = (
            "steady".parse().unwrap(),
            "1000/s".parse().unwrap(),
            Share::percent(25),
        );
        Standards::plant(
            &"one".parse().unwrap(),
            load,
            Nanoseconds(150_000),
            &[cpu(0), cpu(5), nginx],
        )
    }

    fn weight(standards: &Standards, name: &CandidateName) -> Weight {
        match &standards.weights[name].definition.members[0].program {
            Program::Weight(weight) => weight.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pairs_share_what_has_nothing_on_top() {
        let standards = planted();
        assert_eq!(standards.weights.len(), 5, "three stubs, two nginx");
        let [none, five, nginx] = standards.planted.open_the_seal() else {
            panic!("three pairs");
        };
        assert_eq!(none.against, five.against);
        assert_ne!(none.compare, none.against);
        assert_ne!(nginx.against, five.against);
        let base = weight(&standards, &none.against);
        assert_eq!(weight(&standards, &none.compare), base);
        let five = weight(&standards, &five.compare);
        assert_eq!(five.extra, Share::percent(5));
        assert_eq!(five.server, base.server);
        assert_eq!(weight(&standards, &nginx.against), Weight::nginx());
    }

    #[test]
    fn names_say_nothing() {
        let standards = planted();
        let names: Vec<&str> = standards
            .weights
            .keys()
            .map(CandidateName::as_str)
            .collect();
        let expected = [
            "standard-01",
            "standard-02",
            "standard-03",
            "standard-04",
            "standard-05",
        ];
        assert_eq!(names, expected);
        let in_order = (standards.planted.open_the_seal().iter())
            .flat_map(|pair| [pair.against.as_str(), pair.compare.as_str()])
            .is_sorted();
        assert!(!in_order, "names follow the order of planting");
    }
}
