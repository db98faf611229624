//! One made-up try at a block.

use std::collections::BTreeMap;

use super::{Fault, Sample, SampleCandidate, check, readings};
use crate::model::code::GuardCode;
use crate::model::{Known, MeasurementId};
use crate::plan::Block;
use crate::record::event::{
    Attempt, BlockFinished, BlockStarted, Breach, ContractChecked, Event, ProbeTime, Probed, Step,
    StepKind,
};
use crate::record::journal::{Journal, JournalError};
use crate::record::progress::{self, Ending};

/// One try at a block.
pub(super) struct Turn<'a> {
    pub(super) sample: &'a Sample,
    pub(super) everyone: &'a [SampleCandidate],
    pub(super) block: &'a Block,
    pub(super) position: u64,
    pub(super) attempt: Attempt,
    pub(super) session: u32,
    pub(super) fault: Option<Fault>,
    pub(super) begins_ns: u64,
}

impl Turn<'_> {
    pub(super) fn candidate(&self) -> &SampleCandidate {
        let ours = |it: &&SampleCandidate| it.name == self.attempt.block.candidate.as_str();
        self.everyone
            .iter()
            .find(ours)
            .expect("the plan names the sample's candidates")
    }

    pub(super) fn take(&self, journal: &mut dyn Journal) -> Result<Ending, JournalError> {
        journal.append(Event::BlockStarted(BlockStarted {
            attempt: self.attempt.clone(),
            position: self.position,
            session: self.session,
            method_key: self.block.method_key,
            environment_key: self.block.environment_key,
            host: readings::host(self.begins_ns, 0, 0, 0),
        }))?;
        self.probed(journal, ProbeTime::Before)?;
        self.step(journal, StepKind::Ready, 12_000_000)?;
        journal.append(Event::ContractChecked(ContractChecked {
            attempt: self.attempt.clone(),
            checks: vec![check(self.candidate())],
        }))?;
        let outcome = match self.fault {
            Some(Fault::BlockOutcome(outcome)) => Some((outcome, "made up".to_owned())),
            _ => None,
        };
        if outcome.is_none() && !self.measure(journal)? {
            return Ok(Ending::CutOff);
        }
        self.step(journal, StepKind::Stopped, 3_000_000)?;
        self.probed(journal, ProbeTime::After)?;
        let finished = BlockFinished {
            attempt: self.attempt.clone(),
            outcome,
            breaches: self.breaches(),
            host: Known::Value(readings::host(self.begins_ns + 50_000_000_000, 0, 0, 0)),
        };
        let ending = progress::ending(&finished);
        journal.append(Event::BlockFinished(finished))?;
        Ok(ending)
    }

    /// The load windows; false where loadlab is killed after the first.
    fn measure(&self, journal: &mut dyn Journal) -> Result<bool, JournalError> {
        let first = self.block.measurements.first();
        if let Some(first) = first {
            journal.append(Event::WarmedUp(Box::new(self.warmed_up(&first.id))))?;
            self.step(journal, StepKind::Quiet, 500_000_000)?;
        }
        for (number, planned) in (0_u64..).zip(&self.block.measurements) {
            let measured = self.measured(journal, planned, number)?;
            journal.append(Event::Measured(Box::new(measured)))?;
            if self.fault == Some(Fault::Killed) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn breaches(&self) -> Vec<Breach> {
        let Some(Fault::Breach(code)) = self.fault else {
            return Vec::new();
        };
        let measurement: Option<MeasurementId> =
            matches!(code, GuardCode::Steal | GuardCode::ForeignLoad)
                .then(|| {
                    self.block
                        .measurements
                        .first()
                        .map(|planned| planned.id.clone())
                })
                .flatten();
        vec![Breach {
            code,
            evidence: "made up: 20 % where 5 % is allowed".to_owned(),
            measurement,
        }]
    }

    fn probed(&self, journal: &mut dyn Journal, when: ProbeTime) -> Result<(), JournalError> {
        let of = format!("probe.{}.{when:?}", self.attempt);
        journal.append(Event::Probed(Box::new(Probed {
            attempt: self.attempt.clone(),
            when,
            reading: readings::probe(self.sample, &of, self.fault),
        })))
    }

    fn step(
        &self,
        journal: &mut dyn Journal,
        kind: StepKind,
        took_ns: u64,
    ) -> Result<(), JournalError> {
        journal.append(Event::Step(Step {
            attempt: self.attempt.clone(),
            kind,
            what: self.attempt.block.candidate.to_string(),
            took_ns,
            failed: None,
            facts: BTreeMap::new(),
        }))
    }
}
