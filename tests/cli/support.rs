//! A story of one command on a hermetic environment: files, words, and everything it must print.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of its own, in which commands are told.
pub struct Story {
    folder: tempfile::TempDir,
}

/// What a command printed and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Story {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, with the folders it needs.
    pub fn file(self, relative: &str, text: &str) -> Self {
        let path = self.path().join(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Copies a folder of the repository.
    pub fn copy(self, from: &str, to: &str) -> Self {
        copy(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(from),
            &self.path().join(to),
        );
        self
    }

    /// Runs `loadlab` with these words.
    pub fn tell(&self, words: &[&str]) -> Told {
        let output = self
            .command(words)
            .output()
            .expect("loadlab can be started");
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("loadlab prints UTF-8");
            text.replace(
                &self.path().canonicalize().unwrap().display().to_string(),
                "[folder]",
            )
            .replace(&self.path().display().to_string(), "[folder]")
        };
        Told {
            code: output.status.code().expect("loadlab ends by itself"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The command on the hermetic environment, for a test that must hold the process.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loadlab"));
        command
            .args(words)
            .env_clear()
            .env(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .env("HOME", self.path())
            .env("LANG", "C.UTF-8")
            .current_dir(self.path())
            .stdin(std::process::Stdio::null());
        command
    }

    /// Every file below the folder with its bytes, sorted: to prove that nothing was written.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        walk(self.path(), &mut found);
        found.sort();
        found
    }
}

impl Told {
    /// Asserts the whole of what was printed.
    #[track_caller]
    pub fn is(&self, code: i32, stdout: &str, stderr: &str) {
        assert_eq!(
            self.stdout, stdout,
            "standard output; stderr: {}",
            self.stderr
        );
        assert_eq!(self.stderr, stderr, "standard error");
        assert_eq!(self.code, code, "exit code");
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), found);
        } else {
            found.push((entry.path(), std::fs::read(entry.path()).unwrap()));
        }
    }
}
