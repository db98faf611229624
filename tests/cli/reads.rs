//! `validate`, `plan` and `lock --check` read files and do nothing else: they are safe on a stranger's file.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use crate::support::Story;

/// Opens folders and `loadlab` to the user who may start nothing; the files are readable as they are.
fn open_to_all(folder: &Path) {
    let open = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    open(folder);
    open(&folder.join("loadlab"));
}

/// The command with limits of the kernel under which any new process or thread is refused and any byte
/// that goes into a file ends it. Root is above the first limit, so as root it is an ordinary user's.
fn bound(story: &Story, words: &[&str]) -> Command {
    let own = story.path().join("loadlab");
    if !own.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_loadlab"), &own).unwrap();
    }
    open_to_all(story.path());
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let user: &[&str] = if is_root {
        &[
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ]
    } else {
        &["env"]
    };
    let mut command = Command::new(user[0]);
    command
        .args(&user[1..])
        .args(["prlimit", "--nproc=0:0", "--fsize=0:0"])
        .arg(&own)
        .args(words)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(story.path())
        .stdin(std::process::Stdio::null());
    command
}

#[test]
fn they_start_nothing_and_write_nothing() {
    let story = Story::new().copy("experiments", "experiments");
    let manifest = "experiments/nginx-gzip/experiment.yaml";
    for words in [
        &["validate", manifest][..],
        &["plan", manifest],
        &["plan", "--expanded", manifest],
        &["plan", "--format", "json", manifest],
        &["lock", "--check", manifest],
    ] {
        let _ = bound(&story, words);
        let before = story.files();
        let output = bound(&story, words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert!(!output.stdout.is_empty(), "{words:?}");
        assert!(output.stderr.is_empty(), "{words:?}: {output:?}");
        assert!(story.files() == before, "{words:?} wrote something");
    }
}

#[test]
fn the_limits_hold() {
    let story = Story::new().copy("experiments", "experiments");
    // Writes a folder and files, so it must fail here.
    let output = bound(&story, &["init", "mine"]).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    // Asks nginx for its version, so it must fail here.
    let manifest = "experiments/nginx-gzip/experiment.yaml";
    let output = bound(&story, &["lock", "--upgrade", manifest])
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
}
