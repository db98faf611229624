//! Where the time of a run went, and on which days.

use std::collections::BTreeMap;

use crate::guard::Window;
use crate::model::Experiment;
use crate::record::event::Event;

use super::centre::whole;
use super::summary::{Decimal, TimeSpent};

const NS_PER_MS: u64 = 1_000_000;

/// Times added up line by line, nanoseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Spent {
    load: u64,
    warmup: u64,
    probe: u64,
    own: u64,
    window: u64,
    /// The first and the last line of each session.
    sessions: BTreeMap<u32, (u64, u64)>,
    /// The session that is under way; what is appended after its end belongs to none.
    current: Option<u32>,
    /// The earliest and the latest line of a measurement, and of all.
    measured: Option<(u64, u64)>,
    all: Option<(u64, u64)>,
}

impl Spent {
    pub(super) fn take(&mut self, realtime_ns: u64, event: &Event, experiment: &Experiment) {
        widen(&mut self.all, realtime_ns);
        self.session(realtime_ns, event);
        let probe = experiment.probe.duration.0;
        match event {
            Event::Measured(measured) => {
                let window = Window::of(measured);
                widen(&mut self.measured, realtime_ns);
                add(&mut self.load, measured.window_ns);
                add(&mut self.own, window.own_cpu_ns());
                add(&mut self.window, window.length_ns());
            }
            Event::WarmedUp(warmed) => {
                let phase = experiment.phases.get(&warmed.attempt.block.phase);
                let warmup = phase.map(|phase| phase.load.common().warmup);
                add(&mut self.warmup, warmup.unwrap_or_default().0);
            }
            Event::Probed(_) => add(&mut self.probe, probe),
            Event::Calibrated(calibrated) => {
                let times = calibrated.probe.len() + usize::from(calibrated.ceiling.is_some());
                let times = u64::try_from(times).unwrap_or(0);
                add(&mut self.probe, probe.saturating_mul(times));
            }
            _ => {}
        }
    }

    fn session(&mut self, realtime_ns: u64, event: &Event) {
        if let Event::Session(session) = event {
            self.current = Some(session.number);
        }
        let Some(session) = self.current else { return };
        let span = self.sessions.entry(session);
        let (first, last) = span.or_insert((realtime_ns, realtime_ns));
        (*first, *last) = (realtime_ns.min(*first), realtime_ns.max(*last));
        if matches!(event, Event::Closed { .. }) {
            self.current = None;
        }
    }

    /// Where the time went.
    pub(super) fn summary(&self) -> TimeSpent {
        let spans = self.sessions.values().map(|(first, last)| last - first);
        TimeSpent {
            wall_ms: spans.fold(0_u64, u64::saturating_add) / NS_PER_MS,
            load_ms: self.load / NS_PER_MS,
            warmup_ms: self.warmup / NS_PER_MS,
            probe_ms: self.probe / NS_PER_MS,
            own_cores: (self.window > 0)
                .then(|| Decimal::from(whole(self.own) / whole(self.window))),
        }
    }

    /// The first and the last day of measuring, UTC. Without a measurement: of the whole record.
    pub(super) fn days(&self) -> (String, String) {
        let (first, last) = self.measured.or(self.all).unwrap_or_default();
        (day(first), day(last))
    }
}

fn widen(span: &mut Option<(u64, u64)>, time: u64) {
    let (first, last) = span.unwrap_or((time, time));
    *span = Some((first.min(time), last.max(time)));
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn day(realtime_ns: u64) -> String {
    let timestamp = jiff::Timestamp::from_nanosecond(i128::from(realtime_ns));
    let timestamp = timestamp.unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    jiff::tz::Offset::UTC
        .to_datetime(timestamp)
        .date()
        .to_string()
}
