//! Where a manifest came from: asked of git, which never writes here and never waits for a person.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::model::reading::Known;
use crate::record::event::SourceCommit;

/// What loadlab itself writes into an experiment's folder: no change of the experiment.
const OURS: [&str; 3] = [
    ":(exclude)runs",
    ":(exclude)results",
    ":(exclude)EXCLUDED.md",
];

/// The commit that a manifest stands at, and whether its folder has changes other than drafts and
/// entries. A manifest that git ignores or does not know comes from no commit.
#[must_use]
pub fn commit(folder: &Path, manifest: &str) -> Known<SourceCommit> {
    if git(folder, &["ls-files", "--error-unmatch", "--", manifest]).is_err() {
        return Known::Absent(format!("{manifest} is in no commit of a git repository"));
    }
    let commit = match git(folder, &["rev-parse", "--verify", "HEAD"]) {
        Ok(commit) => commit,
        Err(because) => return Known::Absent(because),
    };
    let changes = changes(folder);
    let repository = git(folder, &["remote", "get-url", "origin"]).ok();
    Known::Value(SourceCommit {
        repository: repository.map(|address| without_credentials(&address)),
        commit,
        clean: changes.is_ok_and(|changes| changes.is_empty()),
        manifest: git(folder, &["ls-files", "--full-name", "--", manifest]).ok(),
    })
}

/// The experiment's changed or new files as git lists them, one a line.
fn changes(folder: &Path) -> Result<String, String> {
    let mut words = vec!["status", "--porcelain", "--", "."];
    words.extend(OURS);
    git(folder, &words)
}

/// Why a draft that is measured now could not be published for where its manifest comes from; absent: it
/// could.
#[must_use]
pub fn unpublishable(folder: &Path, manifest: &str) -> Option<String> {
    match commit(folder, manifest) {
        Known::Absent(because) => Some(because),
        Known::Value(source) if source.clean => None,
        Known::Value(_) => {
            let changes = changes(folder).unwrap_or_else(|because| because);
            let changes: Vec<&str> = changes.lines().map(str::trim).collect();
            Some(format!(
                "the experiment's folder differs from its commit ({})",
                changes.join(", ")
            ))
        }
    }
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
    use std::path::Path;

    use super::{commit, git, unpublishable, without_credentials};
    use crate::model::reading::Known;

    #[test]
    fn what_loadlab_writes_is_no_change_and_the_rest_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let folder = folder.path();
        let write = |path: &str| {
            let path = folder.join(path);
            let parent = path.parent().expect("it lies in the folder");
            std::fs::create_dir_all(parent).expect("a folder can be made");
            std::fs::write(path, "x").expect("a file can be written");
        };
        let git = |words: &[&str]| git(folder, words).expect("git does it");
        let now = || unpublishable(Path::new(folder), "experiment.yaml");
        write("experiment.yaml");
        git(&["init", "--quiet"]);
        let unknown = "experiment.yaml is in no commit of a git repository";
        assert_eq!(now().as_deref(), Some(unknown));
        git(&["add", "."]);
        let person = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        git(&[&person[..], &["commit", "--quiet", "--message", "x"]].concat());
        for ours in ["runs/x/records.jsonl", "results/README.md", "EXCLUDED.md"] {
            write(ours);
        }
        assert_eq!(now(), None);
        let manifest = match commit(folder, "experiment.yaml") {
            Known::Value(source) => source.manifest,
            Known::Absent(because) => Some(because),
        };
        assert_eq!(manifest.as_deref(), Some("experiment.yaml"));
        write("entry.md.j2");
        let named = "the experiment's folder differs from its commit (?? entry.md.j2)";
        assert_eq!(now().as_deref(), Some(named));
    }

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
