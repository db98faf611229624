//! Where a manifest came from: asked of git, which never writes here and never waits for a person.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::model::reading::Known;
use crate::record::event::SourceCommit;

/// The commit that a manifest stands at, and whether its folder has changes. A manifest that git
/// ignores or does not know comes from no commit.
#[must_use]
pub fn commit(folder: &Path, manifest: &str) -> Known<SourceCommit> {
    if git(folder, &["ls-files", "--error-unmatch", "--", manifest]).is_err() {
        return Known::Absent(format!("{manifest} is in no commit of a git repository"));
    }
    let commit = match git(folder, &["rev-parse", "--verify", "HEAD"]) {
        Ok(commit) => commit,
        Err(because) => return Known::Absent(because),
    };
    let changes = git(folder, &["status", "--porcelain", "--", "."]);
    let repository = git(folder, &["remote", "get-url", "origin"]).ok();
    Known::Value(SourceCommit {
        repository: repository.map(|address| without_credentials(&address)),
        commit,
        clean: changes.is_ok_and(|changes| changes.is_empty()),
    })
}

/// The name that git knows the present person by.
#[must_use]
pub fn person() -> Option<String> {
    git(Path::new("."), &["config", "user.name"])
        .ok()
        .filter(|name| !name.is_empty())
}

fn git(folder: &Path, words: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(words)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err("not in a git repository with a commit".to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// An address without user and password.
fn without_credentials(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}/{path}")
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn credentials_are_left_out() {
        let given = "https://me:secret@example.org/a/b.git";
        assert_eq!(without_credentials(given), "https://example.org/a/b.git");
        assert_eq!(
            without_credentials("git@example.org:a/b.git"),
            "git@example.org:a/b.git"
        );
    }
}
