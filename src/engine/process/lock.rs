//! The machine-wide lock on CPUs: one run at a time on a set of cores, whoever runs it.
//!
//! A file a CPU, locked with `flock`, so that the kernel lets go when the holder ends, however it ends.
//! All users meet in one folder, chosen by the machine and not by who asks.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::model::CpuSet;

/// A lock on CPUs; they are free again when it is dropped.
#[derive(Debug)]
pub struct CoreLock {
    files: Vec<File>,
}

/// Why CPUs could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Somebody else measures on one of them.
    #[error(
        "CPU {cpu} is in use by {by}; wait until it has ended, or take other CPUs in a profile"
    )]
    Held {
        /// The first CPU that is not free.
        cpu: u32,
        /// Who holds it, as it says itself, escaped for printing.
        by: String,
    },
    /// The lock files could not be used.
    #[error("cannot lock CPU {cpu} with {path}: {source}")]
    Failed {
        /// The CPU.
        cpu: u32,
        /// The lock file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl CoreLock {
    /// Locks every CPU of the set, or none; `who` is shown to whoever is refused.
    ///
    /// # Errors
    /// [`Refused::Held`] with the holder, or [`Refused::Failed`].
    pub fn acquire(cpus: &CpuSet, who: &str) -> Result<Self, Refused> {
        Self::acquire_in(&folder(), cpus, who)
    }

    /// The same in another folder.
    ///
    /// # Errors
    /// As [`CoreLock::acquire`].
    pub fn acquire_in(folder: &Path, cpus: &CpuSet, who: &str) -> Result<Self, Refused> {
        let mut files = Vec::new();
        // Ascending, so that two who ask at once cannot each hold what the other waits for.
        for cpu in cpus.iter() {
            let path = folder.join(format!("cpu-{cpu}.lock"));
            let failed = |source| Refused::Failed {
                cpu,
                path: path.clone(),
                source,
            };
            let mut file = open(folder, &path).map_err(failed)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(Refused::Held {
                        cpu,
                        by: holder(&mut file),
                    });
                }
                Err(error) => return Err(failed(error.into())),
            }
            sign(&mut file, who).map_err(failed)?;
            files.push(file);
        }
        Ok(Self { files })
    }
}

impl Drop for CoreLock {
    fn drop(&mut self) {
        for file in &self.files {
            // The name of a past holder is harmless: nobody reads it while the file is free.
            drop(file.set_len(0));
        }
    }
}

/// The folder where all users of this machine meet: `/run/lock` where everybody may write there.
fn folder() -> PathBuf {
    let open_to_all = |path: &str| {
        fs::metadata(path)
            .is_ok_and(|found| found.is_dir() && found.permissions().mode() & 0o2 != 0)
    };
    if open_to_all("/run/lock") {
        PathBuf::from("/run/lock/loadlab")
    } else {
        PathBuf::from("/tmp/loadlab-locks")
    }
}

fn open(folder: &Path, path: &Path) -> std::io::Result<File> {
    if fs::create_dir(folder).is_ok() {
        fs::set_permissions(folder, Permissions::from_mode(0o1777))?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    // Kernels refuse O_CREAT on another user's file in a sticky folder, so it is only for a new one.
    match options.open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    match options.create_new(true).open(path) {
        Ok(file) => {
            file.set_permissions(Permissions::from_mode(0o666))?;
            Ok(file)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            options.create_new(false).open(path)
        }
        Err(error) => Err(error),
    }
}

fn sign(file: &mut File, who: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "process {} ({who})", std::process::id())
}

fn holder(file: &mut File) -> String {
    let mut text = Vec::new();
    let read = file.take(256).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text).escape_debug().to_string();
    match read {
        Ok(_) if !text.is_empty() => text,
        _ => "a process that has not said its name yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    #[test]
    fn cpus_are_held_by_one_run_at_a_time() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("locks");
        let first = CoreLock::acquire_in(&folder, &cpus("0-1"), "one\u{1b}[31m").unwrap();
        let refused = CoreLock::acquire_in(&folder, &cpus("1-2"), "two").unwrap_err();
        let expected = format!(
            "CPU 1 is in use by process {} (one\\u{{1b}}[31m); wait until it has ended, or take \
             other CPUs in a profile",
            std::process::id()
        );
        assert_eq!(refused.to_string(), expected);
        let beside = CoreLock::acquire_in(&folder, &cpus("2"), "three").unwrap();
        drop(first);
        CoreLock::acquire_in(&folder, &cpus("0-1"), "four").unwrap();
        drop(beside);
    }

    #[test]
    fn a_refused_set_holds_none_of_its_cpus() {
        let folder = tempfile::tempdir().unwrap();
        let held = CoreLock::acquire_in(folder.path(), &cpus("1"), "one").unwrap();
        assert!(CoreLock::acquire_in(folder.path(), &cpus("0-1"), "two").is_err());
        CoreLock::acquire_in(folder.path(), &cpus("0"), "three").unwrap();
        drop(held);
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_named() {
        let refused = CoreLock::acquire_in(Path::new("/proc/no"), &cpus("3"), "x").unwrap_err();
        let text = refused.to_string();
        assert!(
            text.starts_with("cannot lock CPU 3 with /proc/no/cpu-3.lock: "),
            "{text}"
        );
    }
}
