//! Drafts with something else than plain files in them: no verb waits for a pipe, every refusal names
//! the file, and a draft that was only just begun can be gone on with.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use loadlab::record::sample::Sample;

use crate::support::{Story, Told};

/// What stands in the place of a file.
#[derive(Debug, Clone, Copy)]
enum Stranger {
    Pipe,
    Folder,
    Device,
}

impl Stranger {
    fn put(self, path: &Path) {
        let _there_or_not = std::fs::remove_file(path);
        match self {
            Self::Pipe => {
                let made = Command::new("mkfifo").arg(path).status().unwrap();
                assert!(made.success());
            }
            Self::Folder => std::fs::create_dir(path).unwrap(),
            Self::Device => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
        }
    }
}

/// Runs a command that must end soon.
fn tell_in_time(story: &Story, words: &[&str]) -> Told {
    let mut child = story
        .command(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{words:?} still waits after 20 s");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    Told {
        code: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn no_verb_waits_for_a_pipe_or_reads_a_device_to_its_end() {
    let files = [
        "records.jsonl",
        "experiment.lock.json",
        "published.json",
        "ledger.jsonl",
        "expanded.json",
        "plan.json",
        "page.json",
    ];
    for file in files {
        for stranger in [Stranger::Pipe, Stranger::Folder, Stranger::Device] {
            let story = Story::new();
            let draft = Sample::default().draft(&story.path().join("runs")).unwrap();
            let folder = draft.folder().to_str().unwrap().to_owned();
            stranger.put(&draft.folder().join(file));
            let attempt = "fixed-rate.r01.gzip.a1";
            for words in [
                vec!["report", &folder],
                vec!["report", "--check", &folder],
                vec!["publish", "--check", &folder],
                vec!["publish", &folder],
                vec!["exclude", &folder, attempt, "--because", "x", "--by", "Y"],
                vec!["run", "--resume", &folder],
            ] {
                let told = tell_in_time(&story, &words);
                let fine = [0, 2, 3, 4, 5, 6, 7].contains(&told.code);
                assert!(fine, "{file} {stranger:?} {words:?}: {told:?}");
                assert!(
                    told.code == 0 || told.stderr.contains("error: "),
                    "{file} {stranger:?} {words:?}: {told:?}"
                );
            }
        }
    }
}

#[test]
fn a_folder_that_is_none_is_named_as_such() {
    let story = Story::new();
    story.tell(&["run", "--resume", "nowhere"]).is(
        7,
        "",
        "error: there is no folder `nowhere`; drafts lie in `runs/<experiment>/`\n",
    );
}

#[test]
fn records_that_are_gone_are_not_begun_anew() {
    let story = Story::new();
    let draft = Sample::default().draft(&story.path().join("runs")).unwrap();
    draft.unbegun().unwrap_err();
    let begun = story.path().join("begun");
    let inputs = Sample::default().inputs();
    let fresh = loadlab::record::Draft::create(&begun, Sample::default().entry(), &inputs);
    fresh.unwrap().unbegun().unwrap();
}

#[test]
fn what_a_killed_report_left_is_taken_away_by_the_next() {
    let story = Story::new();
    let draft = Sample::default().draft(&story.path().join("runs")).unwrap();
    let report = draft.folder().join("report");
    std::fs::create_dir(&report).unwrap();
    std::fs::write(report.join("entry.html.new"), "<html").unwrap();
    let folder = draft.folder().to_str().unwrap();
    for words in [vec!["report", folder], vec!["report", "--check", folder]] {
        let told = story.tell(&words);
        assert_eq!(told.code, 0, "{told:?}");
    }
}
