//! The instrument at the start of a session: what later readings are compared with.

use super::bench::Bench;
use super::broken::Broken;
use super::groups::Label;
use super::observer::Notice;
use super::probing;
use crate::probe;
use crate::record::Event;
use crate::record::event::Calibrated;

/// Reads the instrument and records it.
pub(super) async fn calibrate(bench: &mut Bench<'_>) -> Result<(), Broken> {
    let (session, of) = (bench.session, bench.experiment.probe.calibration);
    let threads = bench.load_threads()?;
    let fixed_work = probing::fixed_work(bench).await?;
    let shot = probe::shot(&bench.experiment.probe, threads);
    let mut readings = Vec::new();
    for reading in 1..=of {
        bench.check_cancel()?;
        bench.notice(Notice::Calibrating { reading, of });
        let label = label(session, &format!("c{reading:02}"));
        readings.push(probing::reading(bench, &shot, &label).await?);
    }
    let ceiling = match probe::ceiling(&bench.experiment.probe, threads) {
        Some(shot) => Some(probing::reading(bench, &shot, &label(session, "ceiling")).await?),
        None => None,
    };
    let calibrated = Calibrated {
        session,
        probe: readings,
        ceiling,
        fixed_work,
    };
    bench.calibrated = Some(calibrated.clone());
    bench.record(Event::Calibrated(Box::new(calibrated)))?;
    Ok(bench.sync()?)
}

fn label(session: u32, what: &str) -> Label {
    Label {
        part: format!("s{session}{what}"),
        log: format!("session-{session}.{what}"),
    }
}
