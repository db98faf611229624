//! What is published in this repository: every entry is sound and comes out again byte for byte, and the
//! indexes (`EXCLUDED.md`, `results/README.md`) are what the entries make them.

use std::path::Path;

use loadlab::review::{self, Reproduction, index};

#[test]
fn every_published_entry_is_sound_and_comes_out_again() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let entries = index::entries(&results).unwrap();
    assert!(!entries.is_empty(), "a first entry is published");
    for entry in entries {
        let (experiment, name) = (entry.experiment.as_str(), entry.entry.as_str());
        let folder = results.join(experiment).join(name);
        let verification = review::verify::verify(&folder).unwrap();
        assert!(
            verification.is_sound(),
            "{experiment}/{name}: {verification:?}"
        );
        let again = review::reproduce(&folder).unwrap();
        assert_eq!(again, Reproduction::Same, "{experiment}/{name}");
    }
}

#[test]
fn the_indexes_are_what_the_entries_make_them() {
    let stale = index::check(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert_eq!(stale, [], "render them with `loadlab index`");
}
