//! The answers that must be the same for all candidates, as the rehearsals recorded them.

use std::collections::BTreeMap;

use crate::model::{CandidateName, Digest, Experiment};
use crate::record::event::{Check, Rehearsed};

/// For each check of the contract that must be the same for all, the first good answer's body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reference {
    bodies: BTreeMap<usize, (CandidateName, Digest)>,
}

impl Reference {
    /// Takes the answers of a rehearsal, whose checks begin with the contract's.
    pub(super) fn learn(&mut self, experiment: &Experiment, rehearsed: &Rehearsed) {
        let checks = experiment
            .contract
            .iter()
            .zip(&rehearsed.checks)
            .enumerate();
        for (index, (contract, check)) in checks {
            let Some(body) = check.body else { continue };
            if contract.same_for_all_candidates && check.difference.is_none() {
                let first = (rehearsed.candidate.clone(), body);
                self.bodies.entry(index).or_insert(first);
            }
        }
    }

    /// The same check, with the difference from the recorded answer where there is one.
    pub(super) fn compare(&self, index: usize, check: Check) -> Check {
        let Some((candidate, expected)) = self.bodies.get(&index) else {
            return check;
        };
        if check.difference.is_some() || check.body == Some(*expected) {
            return check;
        }
        let found = check
            .body
            .map_or_else(|| "none".to_owned(), |body| body.to_string());
        Check {
            difference: Some(format!(
                "a body with digest {found}, expected {expected} as candidate `{candidate}` answered in its rehearsal"
            )),
            ..check
        }
    }
}
