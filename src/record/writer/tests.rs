use super::*;
use crate::record::sample::Sample;

/// A disk that fills up after so many bytes: a write beyond them is cut short and fails.
struct FullDisk {
    file: File,
    room: usize,
    shortens: bool,
}

impl Sink for FullDisk {
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let fits = bytes.len().min(self.room);
        self.room -= fits;
        self.file.write_all(&bytes[..fits])?;
        if fits < bytes.len() {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn shorten(&mut self, length: u64) -> std::io::Result<()> {
        if self.shortens {
            return self.file.set_len(length);
        }
        Err(std::io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

fn closed() -> Event {
    Event::Closed {
        complete: false,
        because: Some("a test".to_owned()),
    }
}

/// A draft of one round, its records, and a writer whose disk has so much room left.
fn full(room: usize, shortens: bool) -> (tempfile::TempDir, crate::record::Draft, Vec<u8>, Writer) {
    let root = tempfile::tempdir().unwrap();
    let sample = Sample {
        rounds: 1,
        ..Sample::default()
    };
    let draft = sample.draft(root.path()).unwrap();
    let path = draft.folder().join(layout::RECORDS);
    let before = std::fs::read(&path).unwrap();
    let mut writer = draft.writer_with(Box::new(|| 7)).unwrap();
    let file = OpenOptions::new().append(true).open(&path).unwrap();
    writer.file = Box::new(FullDisk {
        file,
        room,
        shortens,
    });
    (root, draft, before, writer)
}

#[test]
fn a_full_disk_is_named_and_earlier_lines_stay() {
    let (_root, draft, before, mut writer) = full(20, true);
    let told = writer.append(closed()).unwrap_err().to_string();
    assert!(told.starts_with("cannot append to `/"), "{told}");
    let expected = "/2026-11-30-sample/records.jsonl`: no storage space; nothing recorded so far is lost: free space there, then resume";
    assert!(told.ends_with(expected), "{told}");
    let path = draft.folder().join(layout::RECORDS);
    assert_eq!(
        std::fs::read(&path).unwrap(),
        before,
        "the part of a line was taken back"
    );
    let Err(error) = Journal::append(&mut writer, closed()) else {
        panic!("the disk is still full")
    };
    let expected = "cannot append to records.jsonl: no storage space";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_part_that_cannot_be_taken_back_is_set_aside_by_the_next_writer() {
    let (_root, draft, before, mut writer) = full(20, false);
    writer.append(closed()).unwrap_err();
    assert!(matches!(writer.append(closed()), Err(WriteError::Torn(_))));
    drop(writer);
    let path = draft.folder().join(layout::RECORDS);
    assert_eq!(std::fs::read(&path).unwrap().len(), before.len() + 20);
    let writer = draft.writer().unwrap();
    assert_eq!(writer.set_aside().unwrap().bytes, 20);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_disk_that_cannot_sync_says_so() {
    let (_root, _draft, _before, mut writer) = full(1 << 20, true);
    let told = writer.sync().unwrap_err().to_string();
    let expected = "records.jsonl`: read-only filesystem or storage medium; drafts need a folder that can be written";
    assert!(
        told.starts_with("cannot sync `") && told.ends_with(expected),
        "{told}"
    );
}

#[test]
fn sealed_records_take_no_more() {
    let root = tempfile::tempdir().unwrap();
    let sample = Sample {
        rounds: 1,
        ..Sample::default()
    };
    let draft = sample.draft(root.path()).unwrap();
    let mut writer = draft.writer().unwrap();
    let files = std::collections::BTreeMap::new();
    writer.append(Event::Sealed { files }).unwrap();
    drop(writer);
    assert!(matches!(draft.writer(), Err(WriteError::Sealed(_))));
}
