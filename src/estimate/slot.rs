//! One kept repetition of one measurement, judged by the present rules.

use crate::guard::{self, OutcomeFacts};
use crate::model::{Experiment, MeasurementId, Outcome};
use crate::record::event::{Attempt, Measured};

use super::kept::Judged;
use super::shown::Shown;
use super::value::Value;

/// One repetition of one measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot<'a> {
    pub(super) attempt: &'a Attempt,
    /// What was recorded; absent: the block ended before this window.
    pub(super) shown: Option<&'a Shown>,
    pub(super) outcome: Outcome,
    /// More about an outcome that ended the block.
    pub(super) detail: Option<&'a str>,
    /// Whether it enters estimates.
    pub(super) accepted: bool,
}

impl<'a> Slot<'a> {
    /// The repetition in an attempt; absent where a person excluded it alone, or where neither a
    /// window nor an outcome of the block was recorded.
    pub(super) fn of(
        judged: &Judged<'a>,
        id: &MeasurementId,
        experiment: &Experiment,
    ) -> Option<Self> {
        if judged.is_without(id) {
            return None;
        }
        let shown = judged.shown(id);
        let (outcome, detail) = match (shown, &judged.tried.ended) {
            (Some(shown), _) => (shown.outcome, shown.detail.as_deref()),
            (None, Some((outcome, detail))) => (*outcome, Some(detail.as_str())),
            (None, None) => return None,
        };
        let phase = experiment.phases.get(&judged.tried.attempt.block.phase);
        let only_held = phase
            .and_then(|phase| phase.accept.as_ref())
            .is_some_and(|it| it.held);
        Some(Self {
            attempt: &judged.tried.attempt,
            shown,
            outcome,
            detail,
            accepted: !only_held || outcome == Outcome::Held,
        })
    }

    pub(super) const fn round(&self) -> u32 {
        self.attempt.block.round
    }

    /// The number at this place of what is wanted of its phase, or why there is none.
    pub(super) fn value(&self, wanted: usize) -> Value {
        match self.shown {
            Some(shown) => shown.values[wanted].clone(),
            None => {
                let detail = self.detail.map(|detail| format!(": {detail}"));
                Err(format!("{}{}", self.outcome, detail.unwrap_or_default()))
            }
        }
    }
}

/// What a measurement showed. Whether a target was held is judged again; everything else was seen
/// while measuring.
pub(super) fn outcome(measured: &Measured, experiment: &Experiment) -> Outcome {
    let is_reached = matches!(
        measured.outcome,
        Outcome::Held | Outcome::NotHeld | Outcome::Completed
    );
    if !is_reached {
        return measured.outcome;
    }
    let facts = OutcomeFacts::of(measured, experiment);
    facts.map_or(measured.outcome, |facts| guard::outcome(&facts).0)
}
