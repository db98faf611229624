//! An entry of a stranger: a small draft with a seal, one of its files replaced. It is verified and
//! its report rendered; nothing outside is read. 10 s and 1 GB an input.
//!
//! The first byte of an input chooses the file, the rest is its content. The seal and the checksums
//! are made to fit, so that what is behind them is reached.

#![no_main]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use loadlab::model::Digest;
use loadlab::record::sample::Sample;
use loadlab::record::{Event, Line, layout};

const FILES: [&str; 9] = [
    layout::RECORDS,
    layout::EXPANDED,
    layout::PLAN,
    layout::LOCK,
    layout::HOST,
    layout::LEDGER,
    layout::PAGE,
    layout::PROSE,
    layout::SUMS,
];

/// The files of a small draft.
fn draft() -> &'static BTreeMap<String, Vec<u8>> {
    static DRAFT: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    DRAFT.get_or_init(|| {
        let sample = Sample {
            rounds: 1,
            ..Sample::default()
        };
        let root = tempfile::tempdir().expect("a temporary folder can be made");
        let draft = sample.draft(root.path()).expect("a draft can be made");
        let mut files = BTreeMap::new();
        read(draft.folder(), "", &mut files);
        files.retain(|path, _| layout::set_of(path) == layout::Set::Witness);
        files
    })
}

fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for found in std::fs::read_dir(folder).expect("a draft is a folder") {
        let found = found.expect("a draft can be listed");
        let path = format!("{prefix}{}", found.file_name().to_string_lossy());
        if found.path().is_dir() {
            read(&found.path(), &format!("{path}/"), files);
        } else {
            files.insert(path, std::fs::read(found.path()).expect("a draft can be read"));
        }
    }
}

/// Lines with the seal over the other files at their end.
fn sealed(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut text = files.get(layout::RECORDS).cloned().unwrap_or_default();
    let others = files.iter().filter(|(path, _)| *path != layout::RECORDS);
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let last = lines.last().and_then(|line| line.strip_suffix(b"\n"));
    let line = Line {
        sequence: lines.len() as u64,
        previous: Digest::of(last.unwrap_or_default()),
        realtime_ns: 0,
        event: Event::Sealed {
            files: others
                .map(|(path, bytes)| (path.clone(), Digest::of(bytes)))
                .collect(),
        },
    };
    text.extend(serde_json::to_vec(&line).expect("a seal has a JSON form"));
    text.push(b'\n');
    text
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    let chosen = FILES[usize::from(*choice) % FILES.len()];
    let mut files = draft().clone();
    files.insert(chosen.to_owned(), content.to_vec());
    if chosen != layout::SUMS {
        let records = sealed(&files);
        files.insert(layout::RECORDS.to_owned(), records);
        let sums = files.iter().map(|(path, bytes)| (path.clone(), Digest::of(bytes)));
        let sums = loadlab::review::sums::text(&sums.collect());
        files.insert(layout::SUMS.to_owned(), sums.into_bytes());
    }
    let entry = loadlab_fuzz::folder().join("entry");
    let _of_before = std::fs::remove_dir_all(&entry);
    for (path, bytes) in &files {
        let target = entry.join(path);
        let parent = target.parent().expect("a file is in a folder");
        std::fs::create_dir_all(parent).expect("a temporary folder can be made");
        std::fs::write(target, bytes).expect("a temporary file can be written");
    }
    match loadlab::review::verify(&entry) {
        Err(error) => loadlab_fuzz::said(&error.to_string()),
        Ok(verification) => {
            for level in verification.levels {
                if let loadlab::review::Level::Failed(faults) = level {
                    faults.iter().for_each(|fault| loadlab_fuzz::said(&fault.to_string()));
                }
            }
        }
    }
    if let Err(error) = loadlab::review::render_entry(&entry) {
        loadlab_fuzz::said(&error.to_string());
    }
});
