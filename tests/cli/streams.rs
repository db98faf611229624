//! Standard output and standard error that are closed, full, or whose reader went away: the exit code
//! stays what it is, nothing panics, and a lost result is no success.

use std::fs::{File, OpenOptions};
use std::process::Stdio;

use crate::support::Story;

/// A stream that nobody takes anything from.
enum Stream {
    /// Its reader has gone.
    Broken,
    /// Its disk is full.
    Full,
}

impl Stream {
    fn open(&self) -> Stdio {
        match self {
            Self::Broken => {
                let (reader, writer) = std::io::pipe().unwrap();
                drop(reader);
                writer.into()
            }
            Self::Full => OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .unwrap()
                .into(),
        }
    }
}

#[test]
fn an_error_that_nobody_can_read_keeps_its_exit_code() {
    for stream in [Stream::Broken, Stream::Full] {
        for (words, code) in [
            (vec!["validate", "absent.yaml"], 3),
            (vec!["explain", "nothing"], 2),
            (vec!["verify", "absent"], 7),
            (vec!["--bogus"], 2),
        ] {
            let mut command = Story::new().command(&words);
            let ended = command
                .current_dir("/")
                .stderr(stream.open())
                .stdout(Stdio::null());
            assert_eq!(ended.status().unwrap().code(), Some(code), "{words:?}");
        }
    }
}

#[test]
fn a_reader_that_went_away_is_no_fault() {
    for words in [["schema", "experiment"], ["explain", "steal"]] {
        let output = Story::new()
            .command(&words)
            .current_dir("/")
            .stdout(Stream::Broken.open())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
    }
}

#[test]
fn a_result_that_is_lost_is_said_and_no_success() {
    for words in [["schema", "experiment"], ["explain", "steal"]] {
        let output = Story::new()
            .command(&words)
            .current_dir("/")
            .stdout(Stream::Full.open())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), said.as_str()),
            (
                Some(1),
                "error: cannot write the result to standard output: No space left on device (os error 28)\n"
            )
        );
    }
    let help = Story::new()
        .command(&["--help"])
        .current_dir("/")
        .stdout(Stream::Full.open())
        .status();
    assert_eq!(help.unwrap().code(), Some(1));
}

#[test]
fn what_a_verb_does_is_done_though_nobody_reads_of_it() {
    let story = Story::new();
    let mut command = story.command(&["init", "mine"]);
    let ended = command.stdout(Stream::Broken.open()).status().unwrap();
    assert_eq!(ended.code(), Some(0));
    assert!(File::open(story.path().join("mine/experiment.yaml")).is_ok());
}
