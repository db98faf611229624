//! Guards: rules that the instrument itself must pass; pure functions over readings.
//!
//! A guard judges host, probe, generator, engine and loadlab, never the candidate: that is an
//! [`outcome()`]. No guard reads the metric that is compared. Thresholds come from
//! [`Experiment::guards`], fixed before any data; all comparisons are exact, in integers.
//!
//! Not here: what to do about a breach. The run loop tries the block again, estimation leaves it out.

mod accounting_mismatch;
mod clock_step;
mod counter_missing;
mod cpuset_mismatch;
mod fixed_work_drift;
mod foreign_load;
mod generator_late;
mod generator_saturated;
mod interrupted;
mod late_unknown;
mod limits_changed;
mod not_steady;
mod outcome;
mod probe_below_floor;
mod probe_drift;
mod probe_invalid;
mod reached;
mod recorded;
mod share;
mod short_window;
mod steal;
mod suspended;
mod swap;
mod throttled;
mod window;

use crate::model::code::CaveatNote;
use crate::model::{Caveat, Experiment, GuardCode, MeasurementId};
use crate::record::AttemptRecords;
use crate::record::event::{Attempt, Breach, Calibrated, Measured};

pub use foreign_load::{Foreign, foreign};
pub use generator_late::{run_delay as generator_wait, was_late};
pub use generator_saturated::{busy as generator_busy, ran_out as generator_ran_out};
pub use not_steady::is_unsteady;
pub use outcome::{OutcomeFacts, outcome};
pub use reached::{Reached, holds, inside};
pub use window::Window;

/// What guards need to know besides the readings.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The rules.
    pub experiment: &'a Experiment,
    /// The instrument at the start of the session that the attempt belongs to; absent: it was not
    /// read, and nothing can drift from it.
    pub calibrated: Option<&'a Calibrated>,
}

/// What guards say of one try at a block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// Why it is invalid; empty: it is valid.
    pub breaches: Vec<Breach>,
    /// What weakens it, once for each place.
    pub caveats: Vec<CaveatNote>,
}

impl Verdict {
    fn breach(code: GuardCode, evidence: String, measurement: Option<&MeasurementId>) -> Self {
        let breach = Breach {
            code,
            evidence,
            measurement: measurement.cloned(),
        };
        Self {
            breaches: vec![breach],
            caveats: Vec::new(),
        }
    }

    fn caveat(code: Caveat, detail: String) -> Self {
        Self {
            breaches: Vec::new(),
            caveats: vec![CaveatNote { code, detail }],
        }
    }

    fn add(&mut self, other: Self) {
        self.breaches.extend(other.breaches);
        self.caveats.extend(other.caveats);
    }
}

type OfAttempt = fn(&AttemptRecords<'_>, &Context<'_>) -> Verdict;
type OfMeasurement = fn(&Measured, &Context<'_>) -> Verdict;

/// The guards that judge a try as a whole, in the order their breaches are listed.
const OF_ATTEMPT: [(GuardCode, OfAttempt); 6] = [
    (GuardCode::ProbeBelowFloor, probe_below_floor::judge),
    (GuardCode::ProbeInvalid, probe_invalid::judge),
    (GuardCode::ProbeDrift, probe_drift::judge),
    (GuardCode::FixedWorkDrift, fixed_work_drift::judge),
    (GuardCode::AccountingMismatch, accounting_mismatch::judge),
    (GuardCode::Suspended, suspended::judge),
];

/// What judges each measurement; without a code it adds caveats only.
const OF_MEASUREMENT: [(Option<GuardCode>, OfMeasurement); 14] = [
    (
        Some(GuardCode::GeneratorSaturated),
        generator_saturated::judge,
    ),
    (None, generator_late::judge),
    (Some(GuardCode::ForeignLoad), foreign_load::judge),
    (Some(GuardCode::Steal), steal::judge),
    (Some(GuardCode::Swap), swap::judge),
    (Some(GuardCode::Throttled), throttled::judge),
    (Some(GuardCode::LimitsChanged), limits_changed::judge),
    (Some(GuardCode::CpusetMismatch), cpuset_mismatch::judge),
    (Some(GuardCode::CounterMissing), counter_missing::judge),
    (
        Some(GuardCode::AccountingMismatch),
        accounting_mismatch::judge_measurement,
    ),
    (Some(GuardCode::ClockStep), clock_step::judge),
    (None, short_window::judge),
    (None, not_steady::judge),
    (None, late_unknown::judge),
];

/// The guards that a try is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    without: Option<GuardCode>,
}

impl Rules {
    /// Every guard.
    #[must_use]
    pub const fn all() -> Self {
        Self { without: None }
    }

    /// Every guard but one: with it a test of that guard must fail. No manifest and no command line
    /// can ask for this.
    #[must_use]
    pub const fn without(code: GuardCode) -> Self {
        Self {
            without: Some(code),
        }
    }

    /// [`judge`] by these rules.
    #[must_use]
    pub fn judge(&self, attempt: &AttemptRecords<'_>, context: &Context<'_>) -> Verdict {
        let kept = |code: Option<GuardCode>| code.is_none() || self.without != code;
        let mut verdict = Verdict::default();
        for (_, guard) in OF_ATTEMPT.iter().filter(|(code, _)| kept(Some(*code))) {
            verdict.add(guard(attempt, context));
        }
        for measured in &attempt.measured {
            for (_, guard) in OF_MEASUREMENT.iter().filter(|(code, _)| kept(*code)) {
                verdict.add(guard(measured, context));
            }
        }
        verdict.add(recorded::judge(attempt));
        verdict
    }
}

/// Judges a try at a block by its readings, and passes on what the run loop recorded and no reading
/// can show (`engine_lost`, `service_lost`, …).
///
/// A missing end is no breach here, so that the run loop can call it before it writes the end.
#[must_use]
pub fn judge(attempt: &AttemptRecords<'_>, context: &Context<'_>) -> Verdict {
    Rules::all().judge(attempt, context)
}

/// [`judge`] for a try that was read back: one without an end was cut off, which is `interrupted`.
#[must_use]
pub fn judge_recorded(attempt: &AttemptRecords<'_>, context: &Context<'_>) -> Verdict {
    let mut verdict = judge(attempt, context);
    verdict.add(interrupted::judge(attempt));
    verdict
}

/// Where a measurement is, for evidence and details: `fixed-rate.r01.plain.a1 page.1000-per-s`.
fn place(measured: &Measured) -> String {
    format!("{} {}", measured.attempt, measured.id)
}

/// Which attempt this is; absent: nothing of it was recorded.
fn attempt_of<'a>(attempt: &AttemptRecords<'a>) -> Option<&'a Attempt> {
    attempt.started.map(|started| &started.attempt)
}

#[cfg(test)]
mod tests;
