//! A fold over the lines of a run: what no run of the plan writes is an error. Resuming is this fold.

use std::collections::{BTreeMap, BTreeSet};

use super::{BlockProgress, Ending, Progress, ending};
use crate::model::{BlockId, CandidateName, MeasurementId, ScenarioName};
use crate::plan::{Block, Plan};
use crate::record::event::{Attempt, BlockFinished, BlockStarted, Event, Line, Measured};

/// Records that no run of this plan can have written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("records, line {line}: {what}")]
pub struct IllegalSequence {
    /// Number of the line, from 1.
    pub line: u64,
    /// What cannot be, and what was expected.
    pub what: String,
}

/// The attempt that is under way while folding.
struct Under {
    position: usize,
    attempt: Attempt,
    measured: BTreeSet<MeasurementId>,
}

/// Follows a run line by line; what [`Progress::of`] does for records that are in memory.
pub struct Following<'a> {
    plan: &'a Plan,
    positions: BTreeMap<&'a BlockId, usize>,
    candidates: BTreeSet<&'a CandidateName>,
    progress: Progress,
    under: Option<Under>,
    opened: bool,
    in_session: bool,
}

impl<'a> Following<'a> {
    /// Begins before the first line.
    #[must_use]
    pub fn over(plan: &'a Plan) -> Self {
        let blocks = plan.blocks.iter().map(|block| BlockProgress {
            id: block.id.clone(),
            attempts: Vec::new(),
            asked: true,
        });
        Self {
            plan,
            positions: (plan.blocks.iter().zip(0..))
                .map(|(block, at)| (&block.id, at))
                .collect(),
            candidates: plan
                .blocks
                .iter()
                .map(|block| &block.id.candidate)
                .collect(),
            progress: Progress {
                blocks: blocks.collect(),
                sessions: 0,
            },
            under: None,
            opened: false,
            in_session: false,
        }
    }

    fn cut_off(&mut self) {
        if let Some(under) = self.under.take() {
            self.progress.blocks[under.position]
                .attempts
                .push(Ending::CutOff);
        }
    }

    /// Takes in the next line.
    ///
    /// # Errors
    /// When no run of the plan writes it there.
    pub fn take(&mut self, line: &Line) -> Result<(), IllegalSequence> {
        self.event(&line.event).map_err(|what| IllegalSequence {
            line: line.sequence + 1,
            what,
        })
    }

    /// How far the run is; an attempt without an end was cut off.
    #[must_use]
    pub fn finish(mut self) -> Progress {
        self.cut_off();
        self.progress
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        if let Event::Opened(_) = event {
            return self
                .expect(!self.opened, || "`opened` a second time".into())
                .map(|()| self.opened = true);
        }
        self.expect(self.opened, || {
            format!("`{}` before `opened`", event.kind())
        })?;
        match event {
            Event::Opened(_) => Ok(()),
            Event::Session(session) => self.session(session.number),
            Event::Sealed { .. } => {
                self.expect(!self.in_session, || "`sealed` before `closed`".into())
            }
            _ => {
                let what = || format!("`{}` outside a session", event.kind());
                self.expect(self.in_session, what)?;
                self.in_session(event)
            }
        }
    }

    fn in_session(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Calibrated(it) => {
                let (found, expected) = (it.session, self.progress.sessions);
                self.expect(found == expected, || {
                    format!("calibration of session {found} in session {expected}")
                })
            }
            Event::Rehearsed(it) => self.expect(self.candidates.contains(&it.candidate), || {
                format!("candidate `{}` is not in the plan", it.candidate)
            }),
            Event::BlockStarted(it) => self.started(it),
            Event::Probed(it) => self.belongs(event, &it.attempt),
            Event::Step(it) => self.belongs(event, &it.attempt),
            Event::ContractChecked(it) => self.belongs(event, &it.attempt),
            Event::WarmedUp(it) => {
                self.belongs(event, &it.attempt)?;
                self.planned_scenario(&it.scenario)
            }
            Event::Measured(it) => self.measured(event, it),
            Event::BlockFinished(it) => self.finished(event, it),
            Event::Closed { .. } => {
                self.cut_off();
                self.in_session = false;
                Ok(())
            }
            Event::Opened(_) | Event::Session(_) | Event::Sealed { .. } => Ok(()),
        }
    }

    fn expect(&self, holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
        if holds { Ok(()) } else { Err(what()) }
    }

    fn session(&mut self, number: u32) -> Result<(), String> {
        let expected = self.progress.sessions + 1;
        self.expect(number == expected, || {
            format!("session {number}, expected session {expected}")
        })?;
        self.cut_off();
        self.progress.sessions = number;
        self.in_session = true;
        Ok(())
    }

    fn started(&mut self, it: &BlockStarted) -> Result<(), String> {
        if let Some(under) = &self.under {
            return Err(format!(
                "block `{}` begins while `{}` is under way",
                it.attempt, under.attempt
            ));
        }
        let block = &it.attempt.block;
        let position = self.positions.get(block).copied();
        let position = position.ok_or_else(|| format!("block `{block}` is not in the plan"))?;
        let so_far = &self.progress.blocks[position];
        self.expect(it.position == position as u64, || {
            format!(
                "block `{block}` at position {}, in the plan at {position}",
                it.position
            )
        })?;
        self.expect(it.session == self.progress.sessions, || {
            format!(
                "block `{block}` of session {} in session {}",
                it.session, self.progress.sessions
            )
        })?;
        self.expect(!so_far.is_valid(), || {
            format!("block `{block}` is tried again after a valid attempt")
        })?;
        let expected = so_far.attempts.len() as u64 + 1;
        self.expect(u64::from(it.attempt.attempt) == expected, || {
            format!("`{}` begins, expected attempt {expected}", it.attempt)
        })?;
        self.under = Some(Under {
            position,
            attempt: it.attempt.clone(),
            measured: BTreeSet::new(),
        });
        Ok(())
    }

    fn belongs(&self, event: &Event, attempt: &Attempt) -> Result<(), String> {
        let kind = event.kind();
        match &self.under {
            Some(under) if under.attempt == *attempt => Ok(()),
            Some(under) => Err(format!(
                "`{kind}` of `{attempt}` while `{}` is under way",
                under.attempt
            )),
            None => Err(format!("`{kind}` of `{attempt}`, which has not begun")),
        }
    }

    fn block(&self) -> Option<&'a Block> {
        let under = self.under.as_ref()?;
        self.plan.blocks.get(under.position)
    }

    fn planned_scenario(&self, scenario: &ScenarioName) -> Result<(), String> {
        let planned = self.block().is_some_and(|block| {
            block
                .measurements
                .iter()
                .any(|planned| planned.id.scenario == *scenario)
        });
        self.expect(planned, || {
            format!("scenario `{scenario}` is not planned in this block")
        })
    }

    fn measured(&mut self, event: &Event, it: &Measured) -> Result<(), String> {
        self.belongs(event, &it.attempt)?;
        let planned = self
            .block()
            .is_some_and(|block| block.measurements.iter().any(|planned| planned.id == it.id));
        self.expect(planned, || {
            format!("measurement `{}` is not planned in this block", it.id)
        })?;
        let first = self
            .under
            .as_mut()
            .is_none_or(|under| under.measured.insert(it.id.clone()));
        self.expect(first, || {
            format!("measurement `{}` twice in `{}`", it.id, it.attempt)
        })
    }

    fn finished(&mut self, event: &Event, it: &BlockFinished) -> Result<(), String> {
        self.belongs(event, &it.attempt)?;
        let Some(under) = self.under.take() else {
            return Ok(());
        };
        let planned = self.plan.blocks[under.position].measurements.len();
        let whole =
            it.outcome.is_some() || !it.breaches.is_empty() || under.measured.len() == planned;
        self.expect(whole, || {
            let found = under.measured.len();
            format!("`{}` ends valid with {found} of {planned} measurements and no outcome that says why", it.attempt)
        })?;
        self.progress.blocks[under.position]
            .attempts
            .push(ending(it));
        Ok(())
    }
}
