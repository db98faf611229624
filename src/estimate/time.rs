//! Where the time of a run went, and on which days.

use std::collections::BTreeMap;

use crate::guard::Window;
use crate::model::{Experiment, Nanoseconds};
use crate::record::event::Event;
use crate::record::{Line, Records};

use super::centre::whole;
use super::summary::{Decimal, TimeSpent};

const NS_PER_MS: u64 = 1_000_000;

/// Where the time went.
pub(super) fn spent(records: &Records, experiment: &Experiment) -> TimeSpent {
    let (mut load_ns, mut warmup_ns, mut probe_ns) = (0_u64, 0_u64, 0_u64);
    let (mut own_ns, mut window_ns) = (0_u64, 0_u64);
    let probe = experiment.probe.duration.0;
    for event in records.events() {
        match event {
            Event::Measured(measured) => {
                let window = Window::of(measured);
                load_ns += measured.window_ns;
                own_ns += window.own_cpu_ns();
                window_ns += window.length_ns();
            }
            Event::WarmedUp(warmed) => {
                let phase = experiment.phases.get(&warmed.attempt.block.phase);
                let warmup = phase.map(|phase| phase.load.common().warmup);
                warmup_ns += warmup.unwrap_or_default().0;
            }
            Event::Probed(_) => probe_ns += probe,
            Event::Calibrated(calibrated) => {
                let times = calibrated.probe.len() + usize::from(calibrated.ceiling.is_some());
                probe_ns += probe * u64::try_from(times).unwrap_or(0);
            }
            _ => {}
        }
    }
    TimeSpent {
        wall_ms: wall(records.lines()).0 / NS_PER_MS,
        load_ms: load_ns / NS_PER_MS,
        warmup_ms: warmup_ns / NS_PER_MS,
        probe_ms: probe_ns / NS_PER_MS,
        own_cores: (window_ns > 0).then(|| Decimal::from(whole(own_ns) / whole(window_ns))),
    }
}

/// From the first line to the last of each session, added up; what was appended after the end of
/// measuring does not count.
fn wall(lines: &[Line]) -> Nanoseconds {
    let mut sessions: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let mut current = None;
    for line in lines {
        if let Event::Session(session) = &line.event {
            current = Some(session.number);
        }
        let Some(session) = current else { continue };
        let time = line.realtime_ns;
        let (first, last) = sessions.entry(session).or_insert((time, time));
        *first = time.min(*first);
        *last = time.max(*last);
        if matches!(line.event, Event::Closed { .. }) {
            current = None;
        }
    }
    let spans = sessions.into_values();
    Nanoseconds(spans.map(|(first, last)| last - first).sum())
}

/// The first and the last day of measuring, UTC. Without a measurement: of the whole record.
pub(super) fn days(records: &Records) -> (String, String) {
    let is_measured = |line: &&Line| matches!(line.event, Event::Measured(_));
    let mut times: Vec<u64> = records
        .lines()
        .iter()
        .filter(is_measured)
        .map(|line| line.realtime_ns)
        .collect();
    if times.is_empty() {
        times = records
            .lines()
            .iter()
            .map(|line| line.realtime_ns)
            .collect();
    }
    let first = times.iter().min().copied().unwrap_or(0);
    let last = times.iter().max().copied().unwrap_or(0);
    (day(first), day(last))
}

fn day(realtime_ns: u64) -> String {
    let timestamp = jiff::Timestamp::from_nanosecond(i128::from(realtime_ns));
    let timestamp = timestamp.unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    jiff::tz::Offset::UTC
        .to_datetime(timestamp)
        .date()
        .to_string()
}
