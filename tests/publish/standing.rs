//! Whether an entry is current stands beside it, and only indexes show it.

use loadlab::review::index;
use loadlab::review::status::{self, Standing, Status};

use super::place::{Place, faults, small};

#[test]
fn a_status_is_shown_by_the_index_and_never_touches_an_entry() {
    let (place, entry) = Place::published();
    let row = |status: &str| {
        format!(
            "| sample | [2026-11-30-sample](sample/2026-11-30-sample/report/entry.md) | A made-up run | 2026-11-30 | {status} |\n"
        )
    };
    assert!(
        index::results(&place.results)
            .unwrap()
            .ends_with(&row("current"))
    );
    let status = Status {
        status: Standing::Withdrawn,
        because: "it was made up".to_owned(),
        by: "A. Author".to_owned(),
        on: "2026-12-02".to_owned(),
    };
    status::write(&entry, &status).unwrap();
    assert_eq!(status::read(&entry).unwrap(), Some(status));
    assert!(
        index::results(&place.results)
            .unwrap()
            .ends_with(&row("withdrawn: it was made up"))
    );
    assert_eq!(
        faults(&entry),
        Vec::<String>::new(),
        "a status never touches an entry"
    );
}

#[test]
fn a_draft_has_no_status_and_strays_are_named() {
    let place = Place::of(&small());
    let status = Status {
        status: Standing::Superseded,
        because: "x".to_owned(),
        by: "A".to_owned(),
        on: "2026-12-02".to_owned(),
    };
    let told = status::write(place.draft.folder(), &status)
        .unwrap_err()
        .to_string();
    assert!(told.ends_with("is no published entry"), "{told}");
    std::fs::create_dir_all(place.results.join("sample/2026-11-30-other")).unwrap();
    let told = index::excluded(&place.results).unwrap_err().to_string();
    assert!(
        told.ends_with("is neither an entry nor the status of one; move it away"),
        "{told}"
    );
}
