//! The file names of a draft or entry, and which can be made again.

/// The manifest, as used.
pub const MANIFEST: &str = "experiment.yaml";
/// The lock, as used; absent in a draft measured with `--unlocked`.
pub const LOCK: &str = "experiment.lock.json";
/// The profile, as used; absent where there was none.
pub const PROFILE: &str = "profile.yaml";
/// The author's prose; absent where there is none.
pub const PROSE: &str = "entry.md.j2";
/// Folder of the experiment's own report templates; absent where it has none.
pub const TEMPLATES: &str = "templates";
/// The model with every default.
pub const EXPANDED: &str = "expanded.json";
/// The author's words as they were last taken from the manifest; absent: those of [`EXPANDED`].
pub const PAGE: &str = "page.json";
/// The plan.
pub const PLAN: &str = "plan.json";
/// The chain of records.
pub const RECORDS: &str = "records.jsonl";
/// Folder of what generators printed.
pub const RAW: &str = "raw";
/// The machine as observed.
pub const HOST: &str = "host.json";
/// The engines and the load generator as observed.
pub const ENGINE: &str = "engine.json";
/// Folder of the members' output.
pub const LOGS: &str = "logs";
/// What people decided.
pub const LEDGER: &str = "ledger.jsonl";
/// All estimates.
pub const SUMMARY: &str = "summary.json";
/// Folder of the rendered report.
pub const REPORT: &str = "report";
/// Description for research archives.
pub const CRATE: &str = "ro-crate-metadata.json";
/// How to cite.
pub const CITATION: &str = "CITATION.cff";
/// Checksums of every file but itself, for `sha256sum -c`.
pub const SUMS: &str = "SHA256SUMS";
/// Folder of torn last lines that were set aside.
pub const SET_ASIDE: &str = "set-aside";
/// Held by the one process that writes a draft; not part of an entry.
pub const WRITER: &str = ".writer";
/// Says which entry a draft became; not part of an entry.
pub const PUBLISHED: &str = "published.json";

/// Whether a file of an entry can be made again from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// Made by the renderer from the witness set, byte for byte.
    Reproducible,
    /// Hashed, never made again.
    Witness,
    /// Belongs to a draft alone and never enters an entry.
    DraftOnly,
}

/// The set that a file belongs to, by its path relative to the entry, written with `/`.
#[must_use]
pub fn set_of(path: &str) -> Set {
    let first = path.split('/').next().unwrap_or(path);
    match first {
        SUMMARY | REPORT | CRATE | CITATION | SUMS => Set::Reproducible,
        WRITER | PUBLISHED => Set::DraftOnly,
        _ => Set::Witness,
    }
}

/// Whether a file or folder of this name may stand at the top of a draft or entry.
#[must_use]
pub fn is_expected(first: &str) -> bool {
    const KNOWN: [&str; 22] = [
        MANIFEST, LOCK, PROFILE, PROSE, TEMPLATES, EXPANDED, PAGE, PLAN, RECORDS, RAW, HOST,
        ENGINE, LOGS, LEDGER, SUMMARY, REPORT, CRATE, CITATION, SUMS, SET_ASIDE, WRITER, PUBLISHED,
    ];
    KNOWN.contains(&first)
}

/// The files that every entry has.
pub const REQUIRED: [&str; 8] = [MANIFEST, LOCK, EXPANDED, PLAN, RECORDS, HOST, ENGINE, SUMS];

/// Whether a relative path is plain: components of printable ASCII without `\`, none empty, `.` or
/// `..`. Such a path needs no escaping in [`SUMS`] and leaves no folder.
#[must_use]
pub fn is_plain(path: &str) -> bool {
    let component = |part: &str| {
        !matches!(part, "" | "." | "..")
            && part
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    path.len() <= 512 && path.split('/').all(component)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_made_again_is_told_from_what_cannot() {
        for path in [
            "summary.json",
            "report/charts/a.svg",
            "SHA256SUMS",
            "CITATION.cff",
        ] {
            assert_eq!(set_of(path), Set::Reproducible, "{path}");
        }
        for path in [
            "records.jsonl",
            "raw/report",
            "ledger.jsonl",
            "set-aside/001.bin",
        ] {
            assert_eq!(set_of(path), Set::Witness, "{path}");
        }
        assert_eq!(set_of(".writer"), Set::DraftOnly);
    }

    #[test]
    fn a_plain_path_stays_inside() {
        for good in [
            "a",
            "raw/fixed-rate.r01.plain.a1.json",
            "report/charts/x.svg",
        ] {
            assert!(is_plain(good), "{good}");
        }
        for bad in [
            "", "/a", "a//b", "../a", "a/..", "a b", "a\\b", "a\nb", "é", "./a",
        ] {
            assert!(!is_plain(bad), "{bad:?}");
        }
    }
}
