//! Files that a manifest names: they exist, are regular, and stay inside the experiment's folder.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::code::DiagnosticCode;
use crate::model::Digest;
use crate::model::experiment::NamedFile;

/// The largest template whose text is looked into, bytes.
const LARGEST_TEMPLATE: u64 = 1 << 20;

/// The files named so far.
pub(super) struct Files {
    folder: PathBuf,
    known: BTreeMap<String, Result<Read, Refused>>,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(super) struct Read {
    named: NamedFile,
    /// The text of one that is rendered; absent for others.
    pub(super) template: Option<Result<String, String>>,
}

/// Why a file cannot be used.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    pub(super) code: DiagnosticCode,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Files {
    pub(super) const fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            known: BTreeMap::new(),
        }
    }

    /// Looks at a file and remembers what it held.
    pub(super) fn named(&mut self, path: &str) -> Result<Read, Refused> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let read = look(&self.folder, path);
        self.known.insert(path.to_owned(), read.clone());
        read
    }

    /// Every file that could be read, sorted by path.
    pub(super) fn to_named(&self) -> Vec<NamedFile> {
        self.known
            .values()
            .flatten()
            .map(|read| read.named.clone())
            .collect()
    }
}

/// Whether a path is written plainly and stays below the folder that it is relative to.
pub(super) fn plain(path: &str) -> Result<(), Refused> {
    let refuse = |what: &str| {
        let message = format!("`{}` {what}", path.escape_debug());
        Err(Refused {
            code: DiagnosticCode::OutsideFolder,
            message,
            help: None,
        })
    };
    if path.starts_with('/') {
        return refuse("is an absolute path; expected one relative to the folder");
    }
    if path.contains('\\') {
        return refuse("has a backslash; folders are separated by `/`");
    }
    let steps: Vec<&str> = path.split('/').collect();
    if steps.contains(&"..") {
        return refuse("leads out of its folder");
    }
    if steps.iter().any(|step| step.is_empty() || *step == ".") {
        return refuse("is not written plainly; expected `folder/file`");
    }
    Ok(())
}

fn look(folder: &Path, path: &str) -> Result<Read, Refused> {
    plain(path)?;
    let shown = path.escape_debug();
    let refuse = |code, message: String| Refused {
        code,
        message,
        help: None,
    };
    let missing = |error: std::io::Error| Refused {
        code: DiagnosticCode::FileMissing,
        message: format!("cannot read `{shown}`: {}", reason(&error)),
        help: beside(folder, path),
    };
    let real = folder.join(path).canonicalize().map_err(missing)?;
    let root = folder.canonicalize().map_err(missing)?;
    if !real.starts_with(&root) {
        let message = format!("`{shown}` is a link that leads out of the experiment's folder");
        return Err(refuse(DiagnosticCode::OutsideFolder, message));
    }
    // The kind is asked before the file is opened: opening a pipe would wait for a writer.
    let facts = real.metadata().map_err(missing)?;
    if !facts.is_file() {
        let message = format!("`{shown}` is {}, not a file", kind(&facts));
        return Err(refuse(DiagnosticCode::NotAFile, message));
    }
    read(&real, path, &facts).map_err(missing)
}

fn read(real: &Path, path: &str, facts: &Metadata) -> std::io::Result<Read> {
    let mut file = File::open(real)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 * 1024];
    let mut bytes = 0_u64;
    let is_template = path.ends_with(".j2") && facts.len() <= LARGEST_TEMPLATE;
    let mut text = Vec::new();
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        bytes += count as u64;
        hasher.update(&buffer[..count]);
        if is_template {
            text.extend_from_slice(&buffer[..count]);
        }
    }
    let named = NamedFile {
        path: path.to_owned(),
        digest: Digest::from_hasher(hasher),
        bytes,
        executable: facts.permissions().mode() & 0o111 != 0,
    };
    let template = is_template
        .then(|| String::from_utf8(text).map_err(|error| format!("it is no UTF-8 text: {error}")));
    Ok(Read { named, template })
}

fn kind(facts: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = facts.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// The operating system's reason, without its number.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::NotADirectory => "a part of the path is no folder".to_owned(),
        _ => error.to_string(),
    }
}

/// The file in the same folder whose name is nearest.
fn beside(folder: &Path, path: &str) -> Option<String> {
    let path = Path::new(path);
    let name = path.file_name()?.to_str()?;
    let parent = path.parent().unwrap_or(Path::new(""));
    if parent
        .components()
        .any(|step| !matches!(step, Component::Normal(_)))
    {
        return None;
    }
    let mut names: Vec<String> = std::fs::read_dir(folder.join(parent))
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let meant = super::nearest::nearest(name, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", parent.join(meant).display()))
}
