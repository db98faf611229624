//! What the targets share: a folder in memory for inputs that are read as files, and the bounds.
//!
//! Each target states how long one input may take; `scripts/fuzz` passes that and the bound of memory
//! on to the fuzzer, which ends with the input that broke one.

use std::path::{Path, PathBuf};

/// A folder of this process, gone with it.
#[must_use]
pub fn folder() -> &'static Path {
    use std::sync::OnceLock;
    static FOLDER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_kept, path) = FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let made = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let made = made.expect("a temporary folder can be made");
        let path = made.path().to_path_buf();
        (made, path)
    });
    path
}

/// Writes a file of this process and gives its path.
#[must_use]
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    path
}

/// Shows a text as a terminal would get it: no control character may be left.
///
/// # Panics
/// When one is: that is a finding.
pub fn prints(text: &str) {
    let alive = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    assert!(!text.chars().any(alive), "a control character is alive: {text:?}");
}

/// Makes a message, which a terminal gets only through the escaping of `cli::ui`.
pub fn said(text: &str) {
    std::hint::black_box(text);
}
