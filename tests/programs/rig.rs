//! A rig of real programs: real processes, real nginx, real load.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use loadlab::engine::Engine;
use loadlab::engine::process::{ProcessEngine, ProcessSettings};
use loadlab::guard::Rules;
use loadlab::load::oha::Oha;
use loadlab::measure::host;
use loadlab::model::EngineKind;
use loadlab::probe::nginx;
use loadlab::run::{KernelClock, ProbeWork, Programs, Rig, ThisHost, Unpinned};

use crate::programs;

/// A rig that works in this folder, whose entries bear this name; or why there can be none here.
pub fn rig(folder: &Path, name: &str) -> Result<Rig, String> {
    let generator = programs::needed()?;
    let generator = Oha::find(Some(&generator)).unwrap().allowing_debug_builds();
    let nginx = nginx::find().map_err(|error| error.to_string())?;
    let engine: Arc<dyn Engine> = Arc::new(
        ProcessEngine::new(ProcessSettings {
            gate_program: PathBuf::from(env!("CARGO_BIN_EXE_loadlab")),
            work: folder.join("work"),
            state: folder.join("state"),
            cgroups: true,
        })
        .map_err(|error| error.to_string())?,
    );
    Ok(Rig {
        engines: BTreeMap::from([(EngineKind::Process, engine)]),
        generator: Arc::new(generator),
        host: Arc::new(ThisHost),
        machine: host::facts(),
        clock: Arc::new(KernelClock),
        fixed_work: Arc::new(ProbeWork),
        programs: Programs {
            nginx,
            stub: PathBuf::from(env!("CARGO_BIN_EXE_loadlab-stub")),
            found: BTreeMap::new(),
        },
        pinned: Arc::new(Unpinned),
        rules: Rules::all(),
        folder: folder.to_owned(),
        entry: format!("{name}-{}-{}", std::process::id(), next())
            .parse()
            .unwrap(),
        set_aside: None,
        pin_itself: true,
    })
}

/// Tells the runs of this process apart: tests run side by side.
fn next() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}
