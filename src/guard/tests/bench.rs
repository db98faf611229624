//! A clean attempt that is changed in one thing, with what judges it.

use crate::guard::{Context, Verdict, judge};
use crate::model::account::{Count, Late};
use crate::model::{Account, Caveat, Experiment, GuardCode, Known};
use crate::record::event::{Event, Measured};
use crate::record::sample::Sample;
use crate::record::{AttemptRecords, Records};

/// An account in which every sent request was answered with 200.
pub(crate) fn account(planned: u64, answered: u64) -> Account {
    Account {
        planned: Some(planned),
        sent: Count::Observed(answered),
        answered: Count::Observed(answered),
        by_status: [(200, answered)].into(),
        aborted: Count::Observed(0),
        errors: [].into(),
        late: Late::Exactly(0),
        body_bytes: answered * 100,
        elapsed_ns: 1_000_000_000,
        latency: [].into(),
        release_lag_p99_ns: Known::Absent("not known".to_owned()),
        burst: Known::Absent("not known".to_owned()),
        longest_pause_ns: Known::Absent("not known".to_owned()),
        run_delay_ns: Known::Absent("not known".to_owned()),
    }
}

const FIRST: &str = "fixed-rate.r01.plain.a1";

/// The lines of one attempt that can be changed, with what judges them.
pub(super) struct Bench {
    pub(super) experiment: Experiment,
    pub(super) events: Vec<Event>,
    calibrated: crate::record::event::Calibrated,
}

impl Bench {
    pub(super) fn new() -> Self {
        let sample = Sample::default();
        let records: Records = sample.records();
        let calibrated = records.calibrations()[0].clone();
        let of_first = |event: &&Event| match event {
            Event::BlockStarted(it) => it.attempt.to_string() == FIRST,
            Event::Probed(it) => it.attempt.to_string() == FIRST,
            Event::Measured(it) => it.attempt.to_string() == FIRST,
            Event::BlockFinished(it) => it.attempt.to_string() == FIRST,
            _ => false,
        };
        Self {
            experiment: sample.experiment(),
            events: records.events().filter(of_first).cloned().collect(),
            calibrated,
        }
    }

    pub(super) fn measured(mut self, change: impl Fn(&mut Measured)) -> Self {
        for event in &mut self.events {
            if let Event::Measured(measured) = event {
                change(measured);
            }
        }
        self
    }

    pub(super) fn probed(
        mut self,
        change: impl Fn(&mut crate::model::reading::ProbeReading),
    ) -> Self {
        for event in &mut self.events {
            if let Event::Probed(probed) = event {
                change(&mut probed.reading);
            }
        }
        self
    }

    pub(super) fn verdict(&self) -> Verdict {
        let mut attempt = AttemptRecords::default();
        for event in &self.events {
            attempt.add(event);
        }
        let context = Context {
            experiment: &self.experiment,
            calibrated: Some(&self.calibrated),
        };
        judge(&attempt, &context)
    }

    /// The codes of all breaches, each once, and of all caveats.
    pub(super) fn codes(&self) -> (Vec<GuardCode>, Vec<Caveat>) {
        let verdict = self.verdict();
        let mut breaches: Vec<_> = verdict.breaches.iter().map(|it| it.code).collect();
        let mut caveats: Vec<_> = verdict.caveats.iter().map(|it| it.code).collect();
        breaches.dedup();
        caveats.dedup();
        (breaches, caveats)
    }
}
