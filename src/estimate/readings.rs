//! What estimates keep of records: read line by line, judged try by try, reduced to numbers.
//!
//! A line is let go as soon as its try at a block is over, so that memory grows with what is printed
//! and not with what was recorded.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;

use crate::guard::{self, Context, Verdict};
use crate::model::code::CaveatNote;
use crate::model::{
    BlockId, Experiment, ExperimentName, GuardCode, Metric, Outcome, PhaseName, Role,
};
use crate::plan::Plan;
use crate::record::event::{Attempt, Breach, Calibrated, Event, Opened};
use crate::record::{AttemptRecords, Records};

use super::counters::Counters;
use super::probe::Probes;
use super::shown::{Shown, wanted};
use super::time::Spent;

/// Everything that estimates need of the records of one experiment, judged by its rules.
#[derive(Debug, Clone, Default)]
pub struct Readings {
    pub(super) opened: Option<Box<Opened>>,
    /// Every try, in the order of their names.
    pub(super) tries: Vec<Try>,
    pub(super) probes: Probes,
    pub(super) spent: Spent,
    pub(super) counters: Counters,
}

/// One try at a block.
#[derive(Debug, Clone)]
pub(super) struct Try {
    pub(super) attempt: Attempt,
    pub(super) verdict: Verdict,
    /// Its load windows, in the order of what they measured.
    pub(super) shown: Vec<Shown>,
    /// The outcome that ended it early.
    pub(super) ended: Option<(Outcome, String)>,
    /// Whether it has an end and every planned window, or ended early by an outcome.
    pub(super) complete: bool,
    /// Whether it was complete and no guard was breached when it was measured.
    pub(super) was_valid: bool,
}

/// Takes lines in and keeps what estimates need. Lines are owned where they are read one by one,
/// and borrowed where all are in memory anyway.
#[derive(Debug)]
pub struct Reading<'a, E> {
    planned: BTreeMap<&'a BlockId, usize>,
    rules: Rules<'a>,
    /// The rules that planted servers are judged by; absent: there are none.
    blind: Option<Rules<'a>>,
    calibrations: BTreeMap<u32, Calibrated>,
    under_way: Option<(Attempt, Vec<E>)>,
    readings: Readings,
}

/// The rules of an experiment, with what is wanted of each of its phases.
#[derive(Debug)]
struct Rules<'a> {
    experiment: Cow<'a, Experiment>,
    wanted: BTreeMap<PhaseName, Vec<(Metric, Role)>>,
    /// What is wanted of a phase that the experiment does not have.
    unknown: Vec<(Metric, Role)>,
}

impl<'a> Rules<'a> {
    fn of(experiment: Cow<'a, Experiment>) -> Self {
        let phases = experiment.phases.iter();
        let of_phase =
            |(name, phase): (&PhaseName, _)| (name.clone(), wanted(Some(phase), &experiment));
        Self {
            wanted: phases.map(of_phase).collect(),
            unknown: wanted(None, &experiment),
            experiment,
        }
    }
}

impl<'a, E: Borrow<Event>> Reading<'a, E> {
    /// Begins with nothing read.
    #[must_use]
    pub fn new(experiment: &'a Experiment, plan: &'a Plan) -> Self {
        let planned = plan.blocks.iter();
        Self {
            planned: planned
                .map(|block| (&block.id, block.measurements.len()))
                .collect(),
            rules: Rules::of(Cow::Borrowed(experiment)),
            blind: experiment.of_standards().map(Cow::Owned).map(Rules::of),
            calibrations: BTreeMap::new(),
            under_way: None,
            readings: Readings::default(),
        }
    }

    /// Takes in the next line: when it was written, nanoseconds since 1970, and what happened. The
    /// lines of one try stand together.
    pub fn take(&mut self, realtime_ns: u64, event: E) {
        let it: &Event = event.borrow();
        let readings = &mut self.readings;
        readings.spent.take(realtime_ns, it, &self.rules.experiment);
        readings.probes.take(it);
        match it {
            Event::Opened(opened) => drop(readings.opened.get_or_insert_with(|| opened.clone())),
            Event::Calibrated(calibrated) => {
                let session = calibrated.session;
                self.calibrations.insert(session, (**calibrated).clone());
            }
            Event::Measured(measured) => readings.counters.take(measured),
            _ => {}
        }
        let Some(attempt) = it.attempt() else { return };
        match &mut self.under_way {
            Some((current, events)) if current == attempt => events.push(event),
            _ => {
                let next = (attempt.clone(), vec![event]);
                self.judge();
                self.under_way = Some(next);
            }
        }
    }

    /// What was kept, once every line was taken in.
    #[must_use]
    pub fn finish(mut self) -> Readings {
        self.judge();
        let tries = &mut self.readings.tries;
        tries.sort_by(|left, right| left.attempt.cmp(&right.attempt));
        tries.shrink_to_fit();
        self.readings
    }

    /// Judges the try that is under way and lets its lines go.
    fn judge(&mut self) {
        let Some((attempt, events)) = self.under_way.take() else {
            return;
        };
        let mut records = AttemptRecords::default();
        for event in &events {
            records.add(event.borrow());
        }
        let session = records.started.map(|started| started.session);
        let is_standard = (self.rules.experiment).is_standard(&attempt.block.candidate);
        let blind = self.blind.as_ref().filter(|_| is_standard);
        let rules = blind.unwrap_or(&self.rules);
        let context = Context {
            experiment: &rules.experiment,
            calibrated: session.and_then(|session| self.calibrations.get(&session)),
        };
        let phase = &attempt.block.phase;
        let wanted = rules.wanted.get(phase).unwrap_or(&rules.unknown);
        let planned = self.planned.get(&attempt.block).copied();
        let judged = judged(attempt, &records, &context, planned, wanted);
        self.readings.tries.push(judged);
    }
}

impl Readings {
    /// What estimates need of records that are in memory.
    #[must_use]
    pub fn of(records: &Records, experiment: &Experiment, plan: &Plan) -> Self {
        let mut reading = Reading::new(experiment, plan);
        for line in records.lines() {
            reading.take(line.realtime_ns, &line.event);
        }
        reading.finish()
    }

    /// Every try at a block that was recorded, in the order of their names.
    pub fn attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.tries.iter().map(|it| &it.attempt)
    }

    /// The experiment that was measured, by the first line; absent: nothing was recorded yet.
    #[must_use]
    pub fn experiment(&self) -> Option<&ExperimentName> {
        self.opened.as_ref().map(|opened| &opened.experiment)
    }
}

fn judged(
    attempt: Attempt,
    records: &AttemptRecords<'_>,
    context: &Context<'_>,
    planned: Option<usize>,
    wanted: &[(Metric, Role)],
) -> Try {
    let mut verdict = guard::judge_recorded(records, context);
    let ended_early = records.finished.is_some_and(|end| end.outcome.is_some());
    let has_all = planned.is_none_or(|planned| records.measured.len() >= planned);
    let complete = records.finished.is_some() && (ended_early || has_all);
    if records.finished.is_some() && !complete && verdict.breaches.is_empty() {
        verdict.breaches.push(Breach {
            code: GuardCode::HarnessError,
            evidence: format!(
                "{} of {} planned measurements were recorded",
                records.measured.len(),
                planned.unwrap_or(0)
            ),
            measurement: None,
        });
    }
    verdict.caveats.iter_mut().for_each(shrink);
    let measured = records.measured.iter();
    let mut shown: Vec<Shown> = measured
        .map(|measured| Shown::of(measured, context.experiment, wanted))
        .collect();
    shown.sort_by(|left, right| left.id.cmp(&right.id));
    let clean_then = |end: &crate::record::event::BlockFinished| end.breaches.is_empty();
    Try {
        attempt,
        verdict,
        shown,
        ended: records.finished.and_then(|end| end.outcome.clone()),
        complete,
        was_valid: complete && records.finished.is_some_and(clean_then),
    }
}

fn shrink(note: &mut CaveatNote) {
    note.detail.shrink_to_fit();
}
