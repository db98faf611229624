//! A machine on which every program is what a test says, and what is pinned there.

use std::collections::{BTreeMap, BTreeSet};

use loadlab::lock::programs::STUB;
use loadlab::lock::{self, Lock, ResolvedProgram, Resolver, Upgrade};
use loadlab::model::candidate::VersionRule;
use loadlab::model::{Digest, Experiment};

/// A machine: every program has version 1 and the same bytes, but for what is told apart.
#[derive(Default)]
pub struct Machine {
    pub versions: BTreeMap<&'static str, &'static str>,
    pub bytes: BTreeMap<&'static str, &'static str>,
    pub missing: BTreeSet<&'static str>,
    pub platform: Option<&'static str>,
    pub generator: Option<&'static str>,
}

impl Resolver for Machine {
    fn program(
        &mut self,
        name: &str,
        rule: Option<&VersionRule>,
    ) -> Result<ResolvedProgram, String> {
        if self.missing.contains(name) {
            return Err("it is not installed".to_owned());
        }
        let version = self.versions.get(name).unwrap_or(&"1");
        let bytes = self.bytes.get(name).copied().unwrap_or_default();
        let platform = self.platform.unwrap_or("linux/x86_64");
        Ok(ResolvedProgram {
            path: format!("/opt/{name}").into(),
            version: (rule.is_some() || name == STUB).then(|| (*version).to_owned()),
            sha256: Digest::of(format!("{name} {version} {bytes} {platform}").as_bytes()),
            platform: platform.to_owned(),
        })
    }

    fn generator(&self) -> String {
        self.generator
            .unwrap_or(loadlab::load::GENERATOR)
            .to_owned()
    }
}

/// The lock that is made on a machine.
pub fn pin(experiment: &Experiment, mut machine: Machine) -> Lock {
    lock::pin(experiment, &mut machine, None, &Upgrade::None).unwrap()
}
