//! The bytes of a manifest are loaded; what is valid is planned. 2 s and 512 MB an input.

#![no_main]

use libfuzzer_sys::fuzz_target;

/// Blocks that are planned here at most: a valid manifest may ask for any number, and its cost is
/// linear in them.
const BLOCKS: u64 = 2_000;

fuzz_target!(|bytes: &[u8]| {
    let path = loadlab_fuzz::file("experiment.yaml", bytes);
    match loadlab::manifest::load(&path, None) {
        Err(faults) => {
            assert!(!faults.diagnostics.is_empty());
            loadlab_fuzz::prints(&faults.to_string());
        }
        Ok(loaded) => {
            let phases = loaded.experiment.phases.values();
            let blocks = phases.map(|phase| {
                u64::from(phase.repetitions).saturating_mul(phase.candidates.len() as u64)
            });
            if blocks.fold(0, u64::saturating_add) <= BLOCKS {
                let plan = loadlab::plan::build(&loaded.experiment, None);
                loadlab_fuzz::prints(&loadlab::plan::display(&loaded.experiment, &plan, &[]));
            }
        }
    }
});
