//! The bytes of a lock, read and checked against an experiment. 1 s and 512 MB an input.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use loadlab::lock::{self, Lock};
use loadlab::model::Experiment;
use loadlab::record::sample::Sample;

fn experiment() -> &'static Experiment {
    static EXPERIMENT: OnceLock<Experiment> = OnceLock::new();
    EXPERIMENT.get_or_init(|| Sample::default().experiment())
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match Lock::from_text(text, "experiment.lock.json") {
        Err(error) => loadlab_fuzz::said(&error.to_string()),
        Ok(read) => {
            if let Err(mismatches) = lock::check(experiment(), &read) {
                for mismatch in mismatches {
                    loadlab_fuzz::said(&mismatch.to_string());
                }
            }
        }
    }
});
