//! The files of a new experiment.

use std::collections::BTreeMap;

use crate::model::ExperimentName;

/// The files that `loadlab init NAME` writes, by path relative to the new folder.
///
/// The manifest validates, locks and runs on two cores; it compares two test servers with a known
/// difference, so that it needs nothing but loadlab and the probe's nginx.
#[must_use]
pub fn new_experiment(name: &ExperimentName) -> BTreeMap<String, String> {
    let manifest = include_str!("init/experiment.yaml").replace("{NAME}", name.as_str());
    BTreeMap::from([
        // Drafts are no part of an experiment.
        (".gitignore".to_owned(), "/runs/\n".to_owned()),
        ("experiment.yaml".to_owned(), manifest),
        (
            "entry.md.j2".to_owned(),
            include_str!("init/entry.md.j2").to_owned(),
        ),
    ])
}
