//! Made-up load windows.

use std::collections::BTreeMap;

use super::turn::Turn;
use super::{Fault, check, noisy, readings};
use crate::model::account::{Account, Count, Late};
use crate::model::code::{GuardCode, Outcome};
use crate::model::reading::{HostReading, IdleReading, Sample as Second};
use crate::model::unit::Rate;
use crate::model::{Known, LoadPoint, MeasurementId, Role};
use crate::plan::Measurement;
use crate::record::event::{Incident, Measured, RawFile, WarmedUp, WitnessCount};
use crate::record::journal::{Journal, JournalError};

const SECOND: u64 = 1_000_000_000;
/// From the opening edge to the load's start, and from its end to the closing edge.
const MARGIN_NS: u64 = 50_000_000;
/// CPU time of the generator for each request.
const GENERATOR_NS: u64 = 60_000;

/// CPU time from the block's beginning to a moment.
#[derive(Clone, Copy)]
struct Used {
    candidate_ns: u64,
    load_ns: u64,
    foreign_ns: u64,
    steal_ns: u64,
}

impl Turn<'_> {
    /// What each request costs in this block.
    fn cost_ns(&self) -> u64 {
        let of = format!("cost.{}", self.attempt.block);
        noisy(self.sample, &of, self.candidate().cpu_per_request_ns)
    }

    fn outcome(&self, at: LoadPoint) -> Outcome {
        match (self.fault, at) {
            (Some(Fault::Outcome(outcome)), _) => outcome,
            (_, LoadPoint::Rate(_)) => Outcome::Held,
            (_, LoadPoint::Connections(_)) => Outcome::Completed,
        }
    }

    /// Answers in a window: the planned ones, less a tenth where the rate is not held; at a ceiling
    /// what one core can do, approached as connections grow.
    fn answers(&self, at: LoadPoint, window_ns: u64) -> u64 {
        match at {
            LoadPoint::Rate(rate) => {
                let planned = rate.planned(crate::model::Nanoseconds(window_ns));
                if self.outcome(at) == Outcome::NotHeld {
                    planned - planned / 10
                } else {
                    planned
                }
            }
            LoadPoint::Connections(count) => {
                let most = window_ns / self.cost_ns();
                most * u64::from(count) / (u64::from(count) + 2)
            }
        }
    }

    fn account(&self, at: LoadPoint, window_ns: u64) -> Account {
        let answered = self.answers(at, window_ns);
        let rate = match at {
            LoadPoint::Rate(rate) => Some(rate),
            LoadPoint::Connections(_) => None,
        };
        let planned = rate.map(|rate: Rate| rate.planned(crate::model::Nanoseconds(window_ns)));
        let p50 = noisy(
            self.sample,
            &format!("p50.{}", self.attempt.block),
            self.candidate().p50_ns,
        );
        Account {
            planned,
            sent: Count::Observed(answered),
            answered: Count::Observed(answered),
            by_status: BTreeMap::from([(200, answered)]),
            aborted: Count::Observed(0),
            errors: BTreeMap::new(),
            late: Late::Exactly(0),
            body_bytes: answered * self.candidate().body_bytes,
            elapsed_ns: window_ns,
            latency: readings::latency(p50),
            release_lag_p99_ns: Known::Value(1_000_000),
            burst: Known::Value(2),
            longest_pause_ns: Known::Value(1_000_000),
            run_delay_ns: Known::Value(100_000),
        }
    }

    pub(super) fn warmed_up(&self, id: &MeasurementId) -> WarmedUp {
        WarmedUp {
            attempt: self.attempt.clone(),
            scenario: id.scenario.clone(),
            account: Known::Value(self.account(id.at, SECOND)),
            samples: vec![check(self.candidate())],
        }
    }

    pub(super) fn measured(
        &self,
        journal: &mut dyn Journal,
        planned: &Measurement,
        number: u64,
    ) -> Result<Measured, JournalError> {
        let (at, window_ns) = (planned.id.at, planned.duration.0);
        let opens_ns = self.begins_ns + 2 * SECOND + number * (window_ns + 2 * SECOND);
        let account = self.account(at, window_ns);
        let answered = account.answered.get();
        let before = self.used_before(number, window_ns);
        let after = self.used_after(before, answered, window_ns);
        let outcome = self.outcome(at);
        let closes_ns = opens_ns + window_ns + 2 * MARGIN_NS;
        Ok(Measured {
            attempt: self.attempt.clone(),
            id: planned.id.clone(),
            start_monotonic_ns: Known::Value(opens_ns + MARGIN_NS),
            window_ns,
            before: self.edge(opens_ns, before),
            after: self.edge(closes_ns, after),
            idle: BTreeMap::from([(
                Role::Candidate,
                IdleReading {
                    cpu_ns: 100_000,
                    over_ns: SECOND / 2,
                },
            )]),
            samples: self.samples(opens_ns + MARGIN_NS, window_ns, before, after),
            witness: Some(Known::Value(WitnessCount {
                before: 10,
                after: 12 + answered,
                own: 2,
                cpu: None,
            })),
            connections_peak: None,
            answers: vec![check(self.candidate()), check(self.candidate())],
            incidents: self.incidents(outcome),
            outcome,
            detail: None,
            raw: vec![self.raw(journal, &planned.id, &account)?],
            account: Known::Value(account),
            command: vec!["loadlab-oha".to_owned(), "--no-tui".to_owned()],
        })
    }

    fn incidents(&self, outcome: Outcome) -> Vec<Incident> {
        let incident = matches!(outcome, Outcome::Exited | Outcome::Oom | Outcome::Hung);
        incident
            .then(|| Incident {
                outcome,
                detail: "made up".to_owned(),
            })
            .into_iter()
            .collect()
    }

    fn raw(
        &self,
        journal: &mut dyn Journal,
        id: &MeasurementId,
        account: &Account,
    ) -> Result<RawFile, JournalError> {
        let name = format!("{}.{id}.json", self.attempt);
        let text = format!("{{\"answered\": {}}}\n", account.answered.get());
        journal.store_raw(&name, text.as_bytes())
    }

    fn used_before(&self, number: u64, window_ns: u64) -> Used {
        let start = Used {
            candidate_ns: 30_000_000,
            load_ns: 0,
            foreign_ns: 0,
            steal_ns: 0,
        };
        let earlier = self.block.measurements.iter().zip(0..number);
        earlier.fold(start, |used, (planned, _)| {
            self.used_after(used, self.answers(planned.id.at, window_ns), window_ns)
        })
    }

    /// CPU time after a window with so many answers: the candidate's is its cost times the answers.
    fn used_after(&self, before: Used, answered: u64, window_ns: u64) -> Used {
        let when = |code| {
            if self.fault == Some(Fault::Breach(code)) {
                window_ns / 5
            } else {
                0
            }
        };
        Used {
            candidate_ns: before.candidate_ns + answered * self.cost_ns(),
            load_ns: before.load_ns
                + answered * GENERATOR_NS.min(window_ns * 8 / 10 / answered.max(1)),
            foreign_ns: before.foreign_ns + when(GuardCode::ForeignLoad),
            steal_ns: before.steal_ns + when(GuardCode::Steal),
        }
    }

    fn edge(&self, at_ns: u64, used: Used) -> crate::model::reading::Edge {
        let host: HostReading = readings::host(
            at_ns,
            used.candidate_ns + used.foreign_ns,
            used.load_ns,
            used.steal_ns,
        );
        readings::edge(
            host,
            used.candidate_ns,
            used.load_ns,
            self.candidate().memory_bytes,
        )
    }

    /// One reading a second, CPU time growing evenly.
    fn samples(&self, start_ns: u64, window_ns: u64, before: Used, after: Used) -> Vec<Second> {
        let seconds = window_ns / SECOND;
        let part = |from: u64, to: u64, second: u64| from + (to - from) * second / seconds.max(1);
        let memory = self.candidate().memory_bytes;
        (1..=seconds)
            .map(|second| Second {
                monotonic_ns: start_ns + second * SECOND,
                cpu_ns: BTreeMap::from([
                    (
                        Role::Candidate,
                        part(before.candidate_ns, after.candidate_ns, second),
                    ),
                    (Role::Load, part(before.load_ns, after.load_ns, second)),
                ]),
                memory_bytes: BTreeMap::from([
                    (Role::Candidate, memory + second * 4_096),
                    (Role::Load, 20 << 20),
                ]),
            })
            .collect()
    }
}
