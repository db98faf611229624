//! The probe over the whole run, and what its own readings could tell apart.

use std::collections::BTreeMap;

use crate::model::reading::ProbeReading;
use crate::model::{Experiment, Known, LatencyValue, Quantile};
use crate::probe::verdict::{self, PROBE_STATUS};
use crate::record::event::{Calibrated, Event};

use super::centre::{Sample, whole};
use super::resolves;
use super::summary::{Decimal, ProbeSummary};

/// The numbers of every reading of the probe, calibration included, in the order of the record.
#[derive(Debug, Clone, Default)]
pub(super) struct Probes {
    readings: u64,
    /// Expected answers inside the load window.
    inside: Vec<u64>,
    /// CPU per request, nanoseconds.
    cpu_per_request: Vec<f64>,
    /// The watched quantile of the response time, nanoseconds.
    response: Vec<u64>,
    /// What a piece of fixed work took on each CPU, nanoseconds.
    fixed_work: BTreeMap<u32, Vec<u64>>,
    /// The same at the start; absent: nothing was calibrated.
    baseline: Option<BTreeMap<u32, u64>>,
    /// Expected answers inside the load window of the probe's ceiling, the most of all sessions.
    ceiling: Option<u64>,
    /// Response times of the readings around blocks by quantile, at most, nanoseconds.
    latency: BTreeMap<Quantile, Vec<u64>>,
}

impl Probes {
    pub(super) fn take(&mut self, event: &Event) {
        match event {
            Event::Calibrated(calibrated) => self.calibrated(calibrated),
            Event::Probed(probed) => {
                self.reading(&probed.reading);
                self.response_times(&probed.reading);
            }
            _ => {}
        }
    }

    fn calibrated(&mut self, calibrated: &Calibrated) {
        self.baseline.get_or_insert_with(|| {
            verdict::fixed_work_baseline(calibrated.fixed_work.value(), &calibrated.probe)
        });
        let ceiling = calibrated.ceiling.as_ref();
        self.ceiling = self.ceiling.max(ceiling.and_then(verdict::answered_inside));
        for reading in &calibrated.probe {
            self.reading(reading);
        }
    }

    fn reading(&mut self, reading: &ProbeReading) {
        self.readings += 1;
        self.inside.extend(verdict::answered_inside(reading));
        self.cpu_per_request.extend(cpu_per_request(reading));
        self.response.extend(verdict::response_ns(reading));
        if let Known::Value(work) = &reading.fixed_work {
            for (cpu, took) in &work.per_cpu_ns {
                self.fixed_work.entry(*cpu).or_default().push(*took);
            }
        }
    }

    fn response_times(&mut self, reading: &ProbeReading) {
        let account = reading.account.value();
        let clean = account.filter(|account| account.with_status(PROBE_STATUS) > 0);
        for (quantile, value) in clean.into_iter().flat_map(|account| &account.latency) {
            if let LatencyValue::Exactly(value) | LatencyValue::Between(_, value) = value {
                self.latency.entry(*quantile).or_default().push(*value);
            }
        }
    }

    /// The median of a quantile of the probe's response times around blocks, nanoseconds.
    pub(super) fn median(&self, quantile: Quantile) -> Option<f64> {
        let values = self.latency.get(&quantile)?.iter().copied();
        Some(Sample::of(values.map(whole))?.median())
    }

    pub(super) fn summary(&self, experiment: &Experiment) -> ProbeSummary {
        let seconds = whole(experiment.probe.duration.0) / 1e9;
        let achieved = |inside: u64| whole(inside) / seconds;
        let (resolves, resolves_because) = resolves::resolves(&self.cpu_per_request, experiment);
        ProbeSummary {
            readings: self.readings,
            achieved: spread(self.inside.iter().copied().map(achieved)),
            cpu_per_request: spread(self.cpu_per_request.iter().copied()),
            p99: spread(self.response.iter().copied().map(whole)),
            fixed_work: self.fixed_work(),
            ceiling: self.ceiling.map(|inside| Decimal::from(achieved(inside))),
            resolves,
            resolves_because,
        }
    }

    /// The fixed piece of work over what it took at the start, by CPU.
    fn fixed_work(&self) -> BTreeMap<u32, [Decimal; 3]> {
        let relative = |(cpu, took): (&u32, &Vec<u64>)| {
            let usual = *self
                .baseline
                .as_ref()?
                .get(cpu)
                .filter(|usual| **usual > 0)?;
            let relative = took.iter().map(|took| whole(*took) / whole(usual));
            Some((*cpu, spread(relative)?))
        };
        self.fixed_work.iter().filter_map(relative).collect()
    }
}

fn cpu_per_request(reading: &ProbeReading) -> Option<f64> {
    let answered = reading.account.value()?.answered.get();
    let cpu_ns = *reading.cpu_ns.value()?;
    (answered > 0).then(|| whole(cpu_ns) / whole(answered))
}

/// Lowest, median, highest.
fn spread(values: impl Iterator<Item = f64>) -> Option<[Decimal; 3]> {
    let sample = Sample::of(values)?;
    Some([sample.smallest(), sample.median(), sample.largest()].map(Decimal::from))
}
