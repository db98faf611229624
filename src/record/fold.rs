//! What the lines of a run add up to.

use std::collections::BTreeMap;

use super::event::{
    Attempt, BlockFinished, BlockStarted, Calibrated, ContractChecked, Event, Line, Measured,
    Opened, Probed, Rehearsed, Session, Step, WarmedUp,
};

/// Every line of a run, in order. The chain has been checked by whoever made this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records {
    lines: Vec<Line>,
}

/// Everything recorded of one try at a block, in order of time.
#[derive(Debug, Clone, Default)]
pub struct AttemptRecords<'a> {
    /// Its beginning.
    pub started: Option<&'a BlockStarted>,
    /// Probe readings, before and after.
    pub probes: Vec<&'a Probed>,
    /// Steps.
    pub steps: Vec<&'a Step>,
    /// Contract checks.
    pub contract: Option<&'a ContractChecked>,
    /// Warm-ups.
    pub warmups: Vec<&'a WarmedUp>,
    /// Load windows.
    pub measured: Vec<&'a Measured>,
    /// Its end; absent: it was cut off.
    pub finished: Option<&'a BlockFinished>,
}

impl<'a> AttemptRecords<'a> {
    /// Adds an event of this try; those that belong to no try are left out.
    pub fn add(&mut self, event: &'a Event) {
        match event {
            Event::BlockStarted(it) => self.started = Some(it),
            Event::Probed(it) => self.probes.push(it),
            Event::Step(it) => self.steps.push(it),
            Event::ContractChecked(it) => self.contract = Some(it),
            Event::WarmedUp(it) => self.warmups.push(it),
            Event::Measured(it) => self.measured.push(it),
            Event::BlockFinished(it) => self.finished = Some(it),
            Event::Opened(_)
            | Event::Session(_)
            | Event::Calibrated(_)
            | Event::Rehearsed(_)
            | Event::Closed { .. }
            | Event::Sealed { .. } => {}
        }
    }
}

impl Records {
    /// Takes lines whose order and chain were checked.
    #[must_use]
    pub const fn new(lines: Vec<Line>) -> Self {
        Self { lines }
    }

    /// Every line.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Every event.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.lines.iter().map(|line| &line.event)
    }

    /// The first line's content; absent: the file is empty or begins with something else.
    #[must_use]
    pub fn opened(&self) -> Option<&Opened> {
        self.events().find_map(|event| match event {
            Event::Opened(opened) => Some(opened.as_ref()),
            _ => None,
        })
    }

    /// Every session in order.
    #[must_use]
    pub fn sessions(&self) -> Vec<&Session> {
        let events = self.events();
        events
            .filter_map(|event| match event {
                Event::Session(session) => Some(session.as_ref()),
                _ => None,
            })
            .collect()
    }

    /// The calibration of each session.
    #[must_use]
    pub fn calibrations(&self) -> Vec<&Calibrated> {
        let events = self.events();
        events
            .filter_map(|event| match event {
                Event::Calibrated(calibrated) => Some(calibrated.as_ref()),
                _ => None,
            })
            .collect()
    }

    /// The rehearsals of candidates, the latest of each last.
    #[must_use]
    pub fn rehearsals(&self) -> Vec<&Rehearsed> {
        let events = self.events();
        events
            .filter_map(|event| match event {
                Event::Rehearsed(rehearsed) => Some(rehearsed),
                _ => None,
            })
            .collect()
    }

    /// Every try at every block, with everything recorded of it.
    #[must_use]
    pub fn attempts(&self) -> BTreeMap<&Attempt, AttemptRecords<'_>> {
        let mut attempts: BTreeMap<&Attempt, AttemptRecords<'_>> = BTreeMap::new();
        for event in self.events() {
            if let Some(attempt) = event.attempt() {
                attempts.entry(attempt).or_default().add(event);
            }
        }
        attempts
    }
}
