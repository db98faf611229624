//! What somebody changed in an entry is found and named.

use std::path::Path;

use loadlab::record::layout;
use loadlab::review::Level;
use loadlab::review::compare::Difference;
use loadlab::review::reproduce::{Reproduction, reproduce_with};
use loadlab::review::verify::verify_with;

use super::place::{Place, faults, files, render};

fn named(entry: &Path) -> Vec<String> {
    match &verify_with(entry, &render).unwrap().levels[0] {
        Level::Failed(faults) => faults.iter().map(|fault| fault.file.clone()).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn any_flipped_byte_is_found_and_named() {
    let (_place, entry) = Place::published();
    for (name, good) in files(&entry) {
        let spread = (0..8).map(|part| part * (good.len() - 1) / 7);
        for at in spread.chain([good.len() - 1]) {
            for bit in [0x01, 0x20, 0x80] {
                let mut bad = good.clone();
                bad[at] ^= bit;
                std::fs::write(entry.join(&name), &bad).unwrap();
                let verification = verify_with(&entry, &render).unwrap();
                let told: Vec<String> = verification.levels[..2]
                    .iter()
                    .filter_map(|level| match level {
                        Level::Failed(faults) => {
                            Some(faults.iter().map(|fault| fault.file.clone()))
                        }
                        _ => None,
                    })
                    .flatten()
                    .collect();
                assert!(
                    told.contains(&name),
                    "byte {at} of {name} with {bit:#x}: {told:?}"
                );
                assert!(!verification.is_sound());
            }
        }
        std::fs::write(entry.join(&name), &good).unwrap();
    }
    assert_eq!(faults(&entry), Vec::<String>::new());
}

/// Writes the checksums anew, as somebody would who hides an edit.
fn renew_sums(entry: &Path) {
    let sums = files(entry)
        .into_iter()
        .filter(|(name, _)| name != layout::SUMS);
    let sums = sums
        .map(|(name, bytes)| (name, loadlab::model::Digest::of(&bytes)))
        .collect();
    std::fs::write(entry.join(layout::SUMS), loadlab::review::sums::text(&sums)).unwrap();
}

#[test]
fn an_edit_with_its_sums_renewed_is_found_by_seal_and_chain() {
    let (_place, entry) = Place::published();
    for name in ["host.json", "ledger.jsonl", "logs/new.log"] {
        let path = entry.join(name);
        let before = std::fs::read(&path).ok();
        std::fs::write(&path, "{}\n").unwrap();
        renew_sums(&entry);
        assert!(named(&entry).contains(&name.to_owned()), "{name}");
        match before {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        renew_sums(&entry);
    }
    let path = entry.join(layout::RECORDS);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replacen("\"cpu_ns\":30000000", "\"cpu_ns\":30000001", 1),
    )
    .unwrap();
    renew_sums(&entry);
    let told = faults(&entry);
    assert!(
        told[0].starts_with("`records.jsonl`: line 13: the line before has digest sha256:"),
        "{told:?}"
    );
    // The last line taken away: the chain holds, but nothing seals it.
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.pop();
    std::fs::write(&path, lines.concat()).unwrap();
    renew_sums(&entry);
    let expected =
        "`records.jsonl`: the last record is no seal: this is a draft, or its end was cut off";
    assert_eq!(faults(&entry), [expected]);
}

#[test]
fn a_missing_file_is_named() {
    let (_place, entry) = Place::published();
    for (name, bytes) in files(&entry) {
        std::fs::remove_file(entry.join(&name)).unwrap();
        let told = faults(&entry);
        assert!(
            told.iter().any(|fault| fault.contains(&name)),
            "{name}: {told:?}"
        );
        std::fs::write(entry.join(&name), bytes).unwrap();
    }
}

#[test]
fn a_strangers_entry_is_read_without_following_anything() {
    let (place, entry) = Place::published();
    let secret = place.results.join("secret");
    std::fs::write(&secret, "secret").unwrap();
    std::os::unix::fs::symlink(&secret, entry.join("logs/link.log")).unwrap();
    std::os::unix::fs::symlink(place.results.join(".."), entry.join("templates")).unwrap();
    let pipe = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, entry.join("raw/pipe"), pipe, mode, 0).unwrap();
    std::fs::File::create(entry.join("raw/huge"))
        .unwrap()
        .set_len(1 << 33)
        .unwrap();
    std::fs::write(entry.join("logs/\u{1b}[31m.log"), "").unwrap();
    std::fs::write(entry.join("run.sh"), "").unwrap();
    let told = faults(&entry).join("\n");
    for expected in [
        "`logs/link.log`: it is a symbolic link",
        "`templates`: it is a symbolic link",
        "`raw/pipe`: it is no file but a pipe",
        "`raw/huge`: it has 8589934592 bytes, expected at most 4294967296",
        "`logs/\\u{1b}[31m.log`: its name is not plain printable ASCII",
        "`run.sh`: no entry has such a file",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    assert!(!told.contains("secret"));
}

#[test]
fn a_required_file_that_is_a_link_or_pipe_is_refused() {
    for name in [
        layout::RECORDS,
        layout::EXPANDED,
        layout::SUMS,
        layout::PLAN,
    ] {
        let (place, entry) = Place::published();
        let moved = place.results.join("moved");
        std::fs::rename(entry.join(name), &moved).unwrap();
        std::os::unix::fs::symlink(&moved, entry.join(name)).unwrap();
        assert!(named(&entry).contains(&name.to_owned()), "{name}");
        assert!(
            !matches!(reproduce_with(&entry, &render), Ok(Reproduction::Same)),
            "{name}"
        );
        std::fs::remove_file(entry.join(name)).unwrap();
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            entry.join(name),
            pipe,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert!(named(&entry).contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn a_page_that_comes_out_otherwise_is_named_with_its_first_byte() {
    let (_place, entry) = Place::published();
    let page = entry.join("report/entry.md");
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, text.replace("2 blocks", "3 blocks")).unwrap();
    renew_sums(&entry);
    let Reproduction::Different(different) = reproduce_with(&entry, &render).unwrap() else {
        panic!("it does not reproduce");
    };
    let names: Vec<&str> = different.iter().map(|it| it.file.as_str()).collect();
    assert_eq!(names, ["SHA256SUMS", "report/entry.md"]);
    let Difference::At {
        line,
        column,
        offset,
        found,
        rendered,
    } = &different[1].difference
    else {
        panic!("its bytes differ");
    };
    assert_eq!((*line, *column, *offset), (3, 1, 17));
    assert_eq!(found, "# A made-up run\\n\\n3 blocks kept.\\n\\nNothing ");
    assert_eq!(
        rendered,
        "# A made-up run\\n\\n2 blocks kept.\\n\\nNothing "
    );
    std::fs::write(entry.join("report/extra.md"), "").unwrap();
    renew_sums(&entry);
    let Level::Failed(faults) = &verify_with(&entry, &render).unwrap().levels[1] else {
        panic!("V1 fails");
    };
    let extra = faults
        .iter()
        .find(|fault| fault.file == "report/extra.md")
        .unwrap();
    assert_eq!(extra.what, "is there but not rendered");
}
