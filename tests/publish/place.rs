//! A draft of made-up records, the folder it is published into, and a renderer of two small files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loadlab::record::sample::Sample;
use loadlab::record::{Draft, layout};
use loadlab::review::publish::{PublishError, publish_with};
use loadlab::review::refusal::check_with;
use loadlab::review::verify::verify_with;
use loadlab::review::{Files, Level, Material};

/// A renderer of two small files: the real summary, and a page that counts.
pub fn render(material: &Material) -> Result<Files, String> {
    let summary = material.summary();
    let mut json = serde_json::to_vec_pretty(&summary).map_err(|error| error.to_string())?;
    json.push(b'\n');
    let kept: u64 = summary.counts.iter().map(|counts| counts.kept).sum();
    let finding = material
        .experiment
        .page
        .finding
        .as_ref()
        .map_or("none", |it| it.text.as_str());
    let page = format!(
        "# {}\n\n{kept} blocks kept.\n\n{finding}\n",
        material.experiment.page.title
    );
    Ok(Files::from([
        (layout::SUMMARY.to_owned(), json),
        ("report/entry.md".to_owned(), page.into_bytes()),
    ]))
}

/// One round of one-second windows.
pub fn small() -> Sample {
    Sample {
        rounds: 1,
        window_s: 1,
        ..Sample::default()
    }
}

pub struct Place {
    _root: tempfile::TempDir,
    pub draft: Draft,
    pub results: PathBuf,
}

impl Place {
    pub fn of(sample: &Sample) -> Self {
        let root = tempfile::tempdir().unwrap();
        let draft = sample.draft(&root.path().join("runs/sample")).unwrap();
        let results = root.path().join("results");
        Self {
            _root: root,
            draft,
            results,
        }
    }

    pub fn published() -> (Self, PathBuf) {
        let place = Self::of(&small());
        let entry = place.publish().unwrap();
        (place, entry)
    }

    pub fn publish(&self) -> Result<PathBuf, PublishError> {
        publish_with(&self.draft, &self.results, &render)
    }
}

/// Every file below a folder, by its path there.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

/// The faults of V0, as printed.
pub fn faults(entry: &Path) -> Vec<String> {
    match &verify_with(entry, &render).unwrap().levels[0] {
        Level::Failed(faults) => faults.iter().map(ToString::to_string).collect(),
        Level::Ok => Vec::new(),
        Level::NotAttempted(reason) => panic!("V0 is always attempted: {reason}"),
    }
}

/// What a draft would be refused for.
pub fn refusals(
    draft: &Draft,
    renderer: &dyn Fn(&Material) -> Result<Files, String>,
) -> Vec<String> {
    let refusals = check_with(draft, renderer);
    refusals.into_iter().map(|it| it.what).collect()
}
