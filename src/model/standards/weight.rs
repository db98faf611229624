//! Planted servers: loadlab's own, with something exactly known on top.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{BODY, Difference};
use crate::model::Program;
use crate::model::candidate::{Definition, Endpoint, Member, Ready, Witness};
use crate::model::name::{MemberName, PortName};
use crate::model::role::EngineKind;
use crate::model::stub::{Stub, StubFaults};
use crate::model::unit::{Bytes, Nanoseconds, Share};

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
    pub(super) fn definition(self) -> Definition {
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
