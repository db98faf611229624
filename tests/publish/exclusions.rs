//! What a person excludes: added to the ledger, explained, and shown.

use loadlab::model::GuardCode;
use loadlab::record::sample::Fault;
use loadlab::record::{Draft, layout};
use loadlab::review::{exclude, index};

use super::place::{Place, files, refusals, render, small};

const PLAIN: &str = "fixed-rate.r01.plain.a1";

fn exclude_from(draft: &Draft, what: &str) -> Result<(), String> {
    let excluded = exclude(
        draft.folder(),
        what,
        "the cat sat on it",
        "A. Author",
        "2026-12-01",
    );
    excluded.map(drop).map_err(|error| error.to_string())
}

#[test]
fn an_exclusion_is_added_and_nothing_is_deleted() {
    let place = Place::of(&small());
    let before = files(place.draft.folder());
    exclude_from(&place.draft, PLAIN).unwrap();
    exclude_from(&place.draft, "fixed-rate.r01.gzip.a1/page.1000-per-s").unwrap();
    let mut after = files(place.draft.folder());
    let ledger = String::from_utf8(after.remove(layout::LEDGER).unwrap()).unwrap();
    let expected = concat!(
        r#"{"attempt":{"block":{"phase":"fixed-rate","round":1,"candidate":"plain"},"attempt":1},"measurement":null,"because":"the cat sat on it","by":"A. Author","on":"2026-12-01"}"#,
        "\n",
        r#"{"attempt":{"block":{"phase":"fixed-rate","round":1,"candidate":"gzip"},"attempt":1},"measurement":{"scenario":"page","at":"1000/s"},"because":"the cat sat on it","by":"A. Author","on":"2026-12-01"}"#,
        "\n",
    );
    assert_eq!(ledger, expected);
    assert_eq!(after, before);
}

#[test]
fn an_exclusion_needs_a_thing_a_reason_a_person_and_a_day() {
    let place = Place::of(&small());
    let told = exclude_from(&place.draft, "fixed-rate.r01.plane.a1").unwrap_err();
    assert_eq!(
        told,
        format!(
            "there is no attempt or measurement `fixed-rate.r01.plane.a1` in this draft; the nearest is `{PLAIN}`"
        )
    );
    let told = exclude_from(&place.draft, &format!("{PLAIN}/page.100-per-s")).unwrap_err();
    assert!(
        told.ends_with(&format!("the nearest is `{PLAIN}/page.1000-per-s`")),
        "{told}"
    );
    let folder = place.draft.folder();
    for (because, by, on, expected) in [
        (
            " ",
            "A",
            "2026-12-01",
            "a decision needs a reason: one line that is not empty",
        ),
        (
            "x",
            "",
            "2026-12-01",
            "a decision needs the name of who decides: one line that is not empty",
        ),
        (
            "x\u{1b}[31m",
            "A",
            "2026-12-01",
            "a decision needs a reason: one line that is not empty",
        ),
        (
            "x",
            "A",
            "2026-02-30",
            "expected a day as `YYYY-MM-DD`, found `2026-02-30`",
        ),
        (
            "x",
            "A",
            "today",
            "expected a day as `YYYY-MM-DD`, found `today`",
        ),
    ] {
        let error = exclude(folder, PLAIN, because, by, on).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert!(!folder.join(layout::LEDGER).exists());
    exclude_from(&place.draft, PLAIN).unwrap();
    let told = exclude_from(&place.draft, PLAIN).unwrap_err();
    assert_eq!(
        told,
        format!("`{PLAIN}` is excluded already, by A. Author on 2026-12-01: the cat sat on it")
    );
}

#[test]
fn nothing_is_excluded_from_what_is_published() {
    let (place, entry) = Place::published();
    let before = files(&entry);
    let told = exclude_from(&place.draft, PLAIN).unwrap_err();
    assert!(
        told.contains("`2026-11-30-sample` is published and never changed. The way out:"),
        "{told}"
    );
    assert!(exclude(&entry, PLAIN, "x", "A", "2026-12-01").is_err());
    assert_eq!(files(&entry), before);
}

#[test]
fn an_exclusion_that_nobody_explained_is_not_published() {
    let place = Place::of(&small());
    exclude_from(&place.draft, PLAIN).unwrap();
    let path = place.draft.folder().join(layout::LEDGER);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("the cat sat on it", "")).unwrap();
    let told = refusals(&place.draft, &render);
    let expected = format!(
        "the exclusion of `{PLAIN}` is not explained: a decision needs a reason: one line that is not empty"
    );
    assert_eq!(told, [expected]);
}

#[test]
fn the_index_of_exclusions_shows_what_does_not_count() {
    let sample = small().with_fault("fixed-rate.r01.gzip.a1", Fault::Breach(GuardCode::Steal));
    let place = Place::of(&sample);
    let repository = place.results.parent().unwrap();
    std::fs::create_dir_all(&place.results).unwrap();
    for (path, text) in index::files(repository).unwrap() {
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(index::check(repository).unwrap(), []);
    exclude(
        place.draft.folder(),
        PLAIN,
        "a | cat <b>sat</b> on it",
        "A. Author",
        "2026-12-01",
    )
    .unwrap();
    place.publish().unwrap();
    let stale = index::check(repository).unwrap();
    assert_eq!(stale.len(), 2);
    let excluded = index::excluded(&place.results).unwrap();
    assert!(
        excluded.contains("## sample/2026-11-30-sample\n"),
        "{excluded}"
    );
    let row = "| fixed-rate.r01.plain.a1 | whole block | manual | a \\| cat \\<b\\>sat\\</b\\> on it | A. Author | 2026-12-01 |\n";
    assert!(excluded.contains(row), "{excluded}");
    assert!(
        excluded.contains("| fixed-rate.r01.gzip.a1 |"),
        "{excluded}"
    );
}
