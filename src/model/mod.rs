//! The vocabulary of an experiment: names, units, digests, and what they add up to.
//!
//! `model` does no I/O and imports nothing of this crate. A value that exists here has been checked:
//! a [`Rate`] is positive, a [`CandidateName`] is plain, a [`CpuSet`] is not empty.

pub mod account;
pub mod budget;
pub mod candidate;
pub mod code;
pub mod cores;
pub mod derived;
pub mod digest;
pub mod estimator;
pub mod experiment;
pub mod facts;
pub mod formula;
pub mod key;
pub mod metric;
pub mod name;
pub mod phase;
pub mod plural;
pub mod probe;
pub mod reading;
pub mod role;
pub mod scenario;
pub mod standards;
pub mod stub;
pub mod template;
pub mod text;
pub mod thresholds;
pub mod unit;
mod written;

pub use account::{Account, Count, LatencyValue, Shot};
pub use budget::Budget;
pub use candidate::{Candidate, Definition, Member, Program, Ready, Service};
pub use code::{Caveat, GuardCode, Outcome};
pub use cores::CpuSet;
pub use derived::Derived;
pub use digest::Digest;
pub use estimator::{Centre, EstimateRule};
pub use experiment::Experiment;
pub use facts::{EngineFacts, HostFacts};
pub use key::{BlockId, MeasurementId};
pub use metric::{Metric, Quantile, Unit};
pub use name::{
    CandidateName, DerivedName, EntryName, ExperimentName, MemberName, PhaseName, PortName,
    ScenarioName, ServiceName,
};
pub use phase::{LoadPoint, LoadShape, Phase};
pub use reading::{Known, RoleReading, Source};
pub use role::{EngineKind, Role};
pub use scenario::Scenario;
pub use standards::Standards;
pub use template::Template;
pub use unit::{Bytes, Nanoseconds, Rate, Share};
