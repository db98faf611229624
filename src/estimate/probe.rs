//! The probe over the whole run, and what its own readings could tell apart.

use std::collections::BTreeMap;

use crate::model::reading::ProbeReading;
use crate::model::{Experiment, Known};
use crate::probe::verdict;
use crate::record::Records;
use crate::record::event::Event;

use super::centre::{Sample, whole};
use super::resolves;
use super::summary::{Decimal, ProbeSummary};

pub(super) fn summary(records: &Records, experiment: &Experiment) -> ProbeSummary {
    let readings = readings(records);
    let seconds = whole(experiment.probe.duration.0) / 1e9;
    let achieved =
        |reading: &&ProbeReading| Some(whole(verdict::answered_inside(reading)?) / seconds);
    let response = |reading: &&ProbeReading| verdict::response_ns(reading).map(whole);
    let ceiling = records
        .calibrations()
        .into_iter()
        .filter_map(|it| it.ceiling.as_ref());
    let (resolves, resolves_because) = resolves::resolves(&readings, experiment);
    ProbeSummary {
        readings: u64::try_from(readings.len()).unwrap_or(u64::MAX),
        achieved: spread(readings.iter().filter_map(achieved)),
        cpu_per_request: spread(
            readings
                .iter()
                .filter_map(|reading| cpu_per_request(reading)),
        ),
        p99: spread(readings.iter().filter_map(response)),
        fixed_work: fixed_work(records, &readings),
        ceiling: ceiling
            .filter_map(|it| achieved(&it))
            .reduce(f64::max)
            .map(Decimal::from),
        resolves,
        resolves_because,
    }
}

/// Every reading in the order of the record, calibration included.
fn readings(records: &Records) -> Vec<&ProbeReading> {
    let mut readings = Vec::new();
    for event in records.events() {
        match event {
            Event::Calibrated(calibrated) => readings.extend(&calibrated.probe),
            Event::Probed(probed) => readings.push(&probed.reading),
            _ => {}
        }
    }
    readings
}

pub(super) fn cpu_per_request(reading: &ProbeReading) -> Option<f64> {
    let answered = reading.account.value()?.answered.get();
    let cpu_ns = *reading.cpu_ns.value()?;
    (answered > 0).then(|| whole(cpu_ns) / whole(answered))
}

/// Lowest, median, highest.
fn spread(values: impl Iterator<Item = f64>) -> Option<[Decimal; 3]> {
    let sample = Sample::of(values)?;
    Some([sample.smallest(), sample.median(), sample.largest()].map(Decimal::from))
}

/// The fixed piece of work over what it took at the start, by CPU.
fn fixed_work(records: &Records, readings: &[&ProbeReading]) -> BTreeMap<u32, [Decimal; 3]> {
    let calibrations = records.calibrations();
    let Some(first) = calibrations.first() else {
        return BTreeMap::new();
    };
    let baseline = verdict::fixed_work_baseline(first.fixed_work.value(), &first.probe);
    let mut relative: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for reading in readings {
        let Known::Value(work) = &reading.fixed_work else {
            continue;
        };
        for (cpu, took) in &work.per_cpu_ns {
            if let Some(usual) = baseline.get(cpu).filter(|usual| **usual > 0) {
                relative
                    .entry(*cpu)
                    .or_default()
                    .push(whole(*took) / whole(*usual));
            }
        }
    }
    let spreads = relative.into_iter();
    spreads
        .filter_map(|(cpu, values)| Some((cpu, spread(values.into_iter())?)))
        .collect()
}
