//! Standards: planted pairs with a known difference, measured among the candidates' blocks.
//!
//! What was planted is sealed: run, guards and the estimators see servers with neutral names, as an
//! experiment of their own ([`Experiment::of_standards`]), and never ask for the truth. It is opened
//! only by the module of `estimate` that compares what was recovered with what was planted.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::Program;
use super::candidate::{Candidate, Definition, Endpoint, Lifetime, Member, Ready, Witness};
use super::digest::Digest;
use super::estimator::{Centre, EstimateRule};
use super::experiment::Experiment;
use super::metric::{Metric, Quantile};
use super::name::{CandidateName, ExperimentName, MemberName, PhaseName, PortName, ScenarioName};
use super::phase::{LoadShape, Phase};
use super::role::EngineKind;
use super::scenario::{Expect, ExpectBody, Request, Scenario};
use super::stub::{Stub, StubFaults};
use super::unit::{Bytes, Nanoseconds, Rate, Share};

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

/// A planted server: one of loadlab's own, with something exactly known on top.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// What answers.
    pub server: Server,
    /// CPU used on top, as a share of what the server uses; the companion beside it uses it.
    pub extra: Share,
    /// Memory held on top all the time; the companion beside it holds it.
    pub hold: Bytes,
}

/// What answers in a planted server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Server {
    /// loadlab's own test server.
    Stub(Box<Stub>),
    /// The reference nginx, as the probe has it.
    Nginx,
}

impl Weight {
    /// The test server with this much work for each request, answering at once.
    #[must_use]
    pub fn stub(work: Nanoseconds) -> Self {
        Self::waiting(work, Nanoseconds(0))
    }

    /// The reference nginx.
    #[must_use]
    pub const fn nginx() -> Self {
        Self {
            server: Server::Nginx,
            extra: Share(0),
            hold: Bytes(0),
        }
    }

    fn waiting(work: Nanoseconds, wait: Nanoseconds) -> Self {
        Self {
            server: Server::Stub(Box::new(Stub {
                work,
                wait,
                hold: Bytes(0),
                status: 200,
                body: BODY,
                faults: StubFaults::default(),
            })),
            extra: Share(0),
            hold: Bytes(0),
        }
    }

    /// The one without anything on top that a difference is planted against; `work` is the test
    /// server's.
    #[must_use]
    pub fn base(difference: Difference, work: Nanoseconds) -> Self {
        match difference {
            Difference::Nginx { .. } => Self::nginx(),
            Difference::Cpu { .. } | Difference::Delay { .. } | Difference::Memory { .. } => {
                Self::stub(work)
            }
        }
    }

    /// The same with a difference planted.
    #[must_use]
    pub fn with(difference: Difference, work: Nanoseconds) -> Self {
        let base = Self::base(difference, work);
        match difference {
            Difference::Cpu { by } | Difference::Nginx { by } => Self { extra: by, ..base },
            Difference::Delay { by } => Self::waiting(work, by),
            Difference::Memory { by } => Self { hold: by, ..base },
        }
    }

    /// Whether a companion runs beside the server.
    #[must_use]
    pub const fn has_companion(&self) -> bool {
        self.extra.0 > 0 || self.hold.0 > 0
    }

    /// Where its own count of answers is read.
    #[must_use]
    pub fn witness(&self) -> Witness {
        match self.server {
            Server::Stub(_) => Witness::Counter {
                path: "/__stub/count".to_owned(),
                pattern: r#""answered":(\d+)"#.to_owned(),
            },
            Server::Nginx => Witness::StubStatus {
                path: "/loadlab/status".to_owned(),
            },
        }
    }

    /// What runs in a block of it.
    fn definition(self) -> Definition {
        let witness = Some(self.witness());
        let (member, port) = (main_member(), http_port());
        let only = Member {
            program: Program::Weight(self),
            env: BTreeMap::new(),
            files: BTreeMap::new(),
            user: None,
            ports: vec![port.clone()],
            grace: Nanoseconds::seconds(2),
        };
        Definition {
            engine: EngineKind::Process,
            members: IndexMap::from([(member.clone(), only)]),
            endpoint: Endpoint { member, port },
            values: BTreeMap::new(),
            ready: Ready::Http {
                path: "/".to_owned(),
                status: 200,
                within: Nanoseconds::seconds(10),
            },
            prewarm: Vec::new(),
            departures: Vec::new(),
            witness,
        }
    }
}

fn main_member() -> MemberName {
    "main".parse().expect("a plain name")
}

fn http_port() -> PortName {
    "http".parse().expect("a plain name")
}

/// The scenario that planted servers are measured with.
#[must_use]
pub fn scenario_name() -> ScenarioName {
    "standard".parse().expect("a plain name")
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

impl Experiment {
    /// The standards as an experiment of their own: the same machine, budgets, probe, guards and
    /// estimators, the planted servers as its candidates under their neutral names, one request.
    /// What was planted is not in it. Absent: no standards.
    ///
    /// Of the services only those are left that live as long as the run: they run beside every block.
    #[must_use]
    pub fn of_standards(&self) -> Option<Self> {
        let standards = self.standards.as_ref()?;
        let phase = self.phases.get(&standards.phase)?;
        let scenario = scenario();
        let lasting = |service: &&super::Service| service.lifetime == Lifetime::Run;
        let services = self.services.values().filter(lasting);
        Some(Self {
            services: services
                .map(|service| (service.name.clone(), service.clone()))
                .collect(),
            prewarm: Vec::new(),
            candidates: standards.weights.clone(),
            scenarios: IndexMap::from([(scenario.name.clone(), scenario)]),
            contract: Vec::new(),
            phases: IndexMap::from([(phase.name.clone(), narrowed(phase, standards))]),
            primary: None,
            derived: IndexMap::new(),
            standards: None,
            files: Vec::new(),
            ..self.clone()
        })
    }

    /// Whether a name is one of a planted server.
    #[must_use]
    pub fn is_standard(&self, candidate: &CandidateName) -> bool {
        let standards = self.standards.as_ref();
        standards.is_some_and(|standards| standards.weights.contains_key(candidate))
    }
}

fn scenario() -> Scenario {
    Scenario {
        name: scenario_name(),
        title: "The same small answer from every planted server".to_owned(),
        request: Request {
            method: "GET".to_owned(),
            path: "/".parse().expect("a text without placeholders"),
            headers: BTreeMap::new(),
            body: None,
        },
        expect: Expect {
            status: 200,
            headers: BTreeMap::new(),
            body: Some(ExpectBody::Length { bytes: BODY.0 }),
        },
        changes_data: false,
    }
}

/// A phase with the planted servers instead of its candidates.
fn narrowed(phase: &Phase, standards: &Standards) -> Phase {
    let connections = match &phase.load {
        LoadShape::FixedRate { connections, .. } => *connections,
        LoadShape::Ceiling { connections, .. } => connections.first().copied().unwrap_or(1),
    };
    let held_at = match &phase.load {
        LoadShape::FixedRate { held_at, .. } => *held_at,
        LoadShape::Ceiling { .. } => Share::percent(99),
    };
    let median = EstimateRule {
        repetitions: Centre::Median,
        points: None,
    };
    let rule = |metric: Metric| {
        let declared = phase.estimate.get(&metric).copied();
        (metric, declared.unwrap_or(median))
    };
    let metrics = [
        Metric::Achieved,
        Metric::CpuPerRequest,
        Metric::Latency(Quantile::P50),
        Metric::MemoryPeak,
    ];
    Phase {
        load: LoadShape::FixedRate {
            rates: IndexMap::from([(scenario_name(), vec![standards.rate])]),
            connections,
            held_at,
            common: phase.load.common().clone(),
        },
        candidates: standards.weights.keys().cloned().collect(),
        estimate: metrics.into_iter().map(rule).collect(),
        ..phase.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
