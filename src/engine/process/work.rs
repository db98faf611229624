//! A group's folder: work folders, rendered files, logs, outputs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::path::{Component, Path, PathBuf};

use crate::model::name::MemberName;

/// Largest output that is read, bytes.
const LARGEST_OUTPUT: u64 = 1 << 30;

/// A group's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkFolder(pub(super) PathBuf);

impl WorkFolder {
    /// Where a member works.
    pub(super) fn of(&self, member: &MemberName) -> PathBuf {
        self.0.join("work").join(member.as_str())
    }

    /// Where a member's standard output and error go.
    pub(super) fn log(&self, member: &MemberName) -> PathBuf {
        self.0.join("logs").join(format!("{member}.log"))
    }

    /// Makes the folders; refuses when the group's is there already.
    pub(super) fn make(&self, members: &[MemberName]) -> io::Result<()> {
        if let Some(parent) = self.0.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::create_dir(&self.0)?;
        fs::create_dir(self.0.join("logs"))?;
        fs::create_dir(self.0.join("work"))?;
        for member in members {
            fs::create_dir(self.of(member))?;
        }
        Ok(())
    }

    /// Writes a member's files and gives its folder to the user that it runs as.
    pub(super) fn fill(
        &self,
        member: &MemberName,
        files: &BTreeMap<String, Vec<u8>>,
        user: Option<(u32, u32)>,
    ) -> io::Result<()> {
        let work = self.of(member);
        for (name, bytes) in files {
            let path = inside(&work, name)?;
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, bytes).map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("cannot write {}: {error}", path.display()),
                )
            })?;
        }
        user.map_or(Ok(()), |user| give(&work, user))
    }

    /// Outputs that are there, by name; one that was not written is left out.
    pub(super) fn collect(
        &self,
        member: &MemberName,
        outputs: &[String],
    ) -> io::Result<BTreeMap<String, Vec<u8>>> {
        let work = self.of(member);
        let mut found = BTreeMap::new();
        for name in outputs {
            let path = inside(&work, name)?;
            match fs::symlink_metadata(&path) {
                Ok(facts) if !facts.is_file() => {
                    return Err(io::Error::other(format!(
                        "output `{name}` is no regular file"
                    )));
                }
                Ok(facts) if facts.len() > LARGEST_OUTPUT => {
                    let text = format!("output `{name}` has {} bytes, over 1 GiB", facts.len());
                    return Err(io::Error::other(text));
                }
                Ok(_) => drop(found.insert(name.clone(), fs::read(&path)?)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Moves a member's log, also to another file system.
    pub(super) fn move_log(&self, member: &MemberName, to: &Path) -> io::Result<()> {
        let from = self.log(member);
        if !from.exists() {
            return Ok(());
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        if fs::rename(&from, to).is_err() {
            fs::copy(&from, to)?;
            fs::remove_file(&from)?;
        }
        Ok(())
    }

    /// Removes everything, and the folder above when nothing else is in it.
    pub(super) fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if let Some(entry) = self.0.parent() {
            drop(fs::remove_dir(entry));
        }
        Ok(())
    }
}

/// A path in a folder, by a name that may not lead out of it.
fn inside(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let path = Path::new(name);
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !plain {
        let text = format!("`{}` leads out of the work folder", name.escape_debug());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut at = folder.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        at.push(part);
        if at.is_symlink() {
            let text = format!("`{}` passes through a symbolic link", name.escape_debug());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    }
    Ok(folder.join(path))
}

fn give(path: &Path, user: (u32, u32)) -> io::Result<()> {
    chown(path, Some(user.0), Some(user.1))?;
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> (tempfile::TempDir, WorkFolder, MemberName) {
        let folder = tempfile::tempdir().unwrap();
        let work = WorkFolder(folder.path().join("entry").join("p-candidate"));
        let name: MemberName = "main".parse().unwrap();
        work.make(std::slice::from_ref(&name)).unwrap();
        (folder, work, name)
    }

    #[test]
    fn files_stay_in_the_work_folder() {
        let (_folder, work, name) = made();
        for bad in ["../x", "/etc/x", "a/../../x", "", "./x"] {
            let files = BTreeMap::from([(bad.to_owned(), Vec::new())]);
            assert!(work.fill(&name, &files, None).is_err(), "{bad}");
        }
        std::os::unix::fs::symlink("/tmp", work.of(&name).join("link")).unwrap();
        let files = BTreeMap::from([("link/x".to_owned(), Vec::new())]);
        let error = work.fill(&name, &files, None).unwrap_err();
        assert_eq!(error.to_string(), "`link/x` passes through a symbolic link");
    }

    #[test]
    fn outputs_are_what_was_written() {
        let (_folder, work, name) = made();
        let files = BTreeMap::from([("a/b.json".to_owned(), b"1".to_vec())]);
        work.fill(&name, &files, None).unwrap();
        let wanted = ["a/b.json".to_owned(), "absent".to_owned()];
        assert_eq!(work.collect(&name, &wanted).unwrap(), files);
        std::os::unix::fs::symlink("/etc/passwd", work.of(&name).join("out")).unwrap();
        let error = work.collect(&name, &["out".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "output `out` is no regular file");
    }

    #[test]
    fn a_group_has_its_folder_for_itself() {
        let (folder, work, name) = made();
        assert!(work.make(&[name]).is_err());
        work.remove().unwrap();
        assert!(!folder.path().join("entry").exists());
    }
}
