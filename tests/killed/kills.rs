//! Kills at moments without a pattern, and what must be true after each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::{Place, finished, left, records};

/// Moments without a pattern: the generator of Knuth's MMIX, its upper bits.
pub struct Moments(pub u64);

impl Moments {
    pub fn below(&mut self, limit: Duration) -> Duration {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let limit = u64::try_from(limit.as_micros()).unwrap();
        Duration::from_micros((self.0 >> 33) % limit)
    }
}

/// What came of the kills, by what was killed.
#[derive(Default)]
pub struct Kills(pub BTreeMap<&'static str, (u64, u64)>);

impl Kills {
    /// A kill, and whether `gc` found something after it.
    pub fn note(&mut self, what: &'static str, found: bool) {
        let (kills, finds) = self.0.entry(what).or_default();
        *kills += 1;
        *finds += u64::from(found);
    }

    pub fn count(&self) -> u64 {
        self.0.values().map(|(kills, _)| kills).sum()
    }
}

/// `gc` finds what a killed run left, and afterwards nothing is left. Whether there was something.
pub fn clean(place: &Place, entry: &str) -> bool {
    let before = left(entry);
    let listed = place.tell(&["gc"]);
    let found = String::from_utf8_lossy(&listed.stdout).contains(entry);
    assert!(
        found || before.is_empty(),
        "gc does not find {before:?}: {listed:?}"
    );
    let removed = place.tell(&["gc", "--yes"]);
    assert!(removed.status.success(), "{removed:?}");
    assert_eq!(left(entry), Vec::<String>::new(), "{removed:?}");
    found
}

pub fn entry(draft: &Path) -> String {
    draft.file_name().unwrap().to_string_lossy().into_owned()
}

/// Kills runs of one draft until it has been killed so often, then lets it come to its end.
pub fn killed_run(place: &Place, moments: &mut Moments, kills: &mut Kills, times: u64) -> PathBuf {
    let mut killed = 0;
    while killed < times {
        let draft = place.drafts().pop();
        let kept = draft.as_deref().map(|draft| finished(&records(draft)));
        let words = place.run_words(draft.as_deref().and_then(Path::to_str));
        let what = if draft.is_some() { "resume" } else { "run" };
        let was_killed = place.kill(&words, moments.below(Duration::from_secs(9)));
        if let (Some(draft), Some(kept)) = (&draft, &kept) {
            assert!(records(draft).starts_with(kept), "a finished block changed");
        }
        if !was_killed {
            break;
        }
        killed += 1;
        let found = place
            .drafts()
            .pop()
            .is_some_and(|draft| clean(place, &entry(&draft)));
        kills.note(what, found);
    }
    to_its_end(place)
}

/// Lets a run begin, or go on, until its end.
pub fn to_its_end(place: &Place) -> PathBuf {
    let draft = place.drafts().pop();
    let kept = draft
        .as_deref()
        .map(|draft| finished(&records(draft)))
        .unwrap_or_default();
    let ended = place.tell(&place.run_words(draft.as_deref().and_then(Path::to_str)));
    assert!(ended.status.success(), "{ended:?}");
    let draft = place.drafts().pop().unwrap();
    assert!(
        records(&draft).starts_with(&kept),
        "a finished block changed"
    );
    assert_eq!(left(&entry(&draft)), Vec::<String>::new());
    comes_to_its_plan(&draft);
    draft
}

/// Every block of the plan has a valid try, and no other block has one.
pub fn comes_to_its_plan(draft: &Path) {
    let plan: Value = serde_json::from_slice(&fs::read(draft.join("plan.json")).unwrap()).unwrap();
    let id = |block: &Value| {
        let part = |name: &str| block[name].to_string();
        [part("phase"), part("round"), part("candidate")].join(" ")
    };
    let blocks = plan["blocks"].as_array().unwrap();
    let planned: BTreeSet<String> = blocks
        .iter()
        .map(|block| id(block.get("id").unwrap_or(block)))
        .collect();
    assert_eq!(planned.len(), 4, "{plan}");
    let text = String::from_utf8(records(draft)).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let valid = lines.filter_map(|line| {
        let end = line["event"].get("block_finished")?.clone();
        let sound = end["breaches"].as_array().is_some_and(Vec::is_empty);
        sound.then(|| id(&end["attempt"]["block"]))
    });
    let valid: Vec<String> = valid.collect();
    let once: BTreeSet<String> = valid.iter().cloned().collect();
    assert_eq!(once, planned);
    assert_eq!(valid.len(), planned.len(), "a block was measured twice");
}

/// How long a report takes that nobody kills.
pub fn killed_report(
    place: &Place,
    draft: &str,
    moments: &mut Moments,
    kills: &mut Kills,
) -> Duration {
    let begun = Instant::now();
    let unkilled = place.tell(&["report", draft]);
    assert!(unkilled.status.success(), "{unkilled:?}");
    let took = begun.elapsed();
    if place.kill(&["report", draft], moments.below(took)) {
        kills.note("report", false);
    }
    let report = place.tell(&["report", draft]);
    assert!(report.status.success(), "{report:?}");
    let check = place.tell(&["report", "--check", draft]);
    assert!(check.status.success(), "{check:?}");
    took
}

pub fn killed_publish(
    place: &Place,
    draft: &str,
    within: Duration,
    moments: &mut Moments,
    kills: &mut Kills,
) {
    let before = records(Path::new(draft));
    if place.kill(&["publish", draft], moments.below(within)) {
        kills.note("publish", false);
    }
    let published = place
        .path()
        .join("results/killed")
        .join(entry(Path::new(draft)));
    if !published.exists() {
        let publish = place.tell(&["publish", draft]);
        assert!(publish.status.success(), "{publish:?}");
    }
    let verify = place.tell(&["verify", published.to_str().unwrap()]);
    assert!(verify.status.success(), "{verify:?}");
    let sealed = records(&published);
    assert!(
        sealed.starts_with(&finished(&before)),
        "a finished block changed"
    );
    let strays = fs::read_dir(published.parent().unwrap()).unwrap().flatten();
    let strays: Vec<_> = strays.map(|stray| stray.file_name()).collect();
    assert_eq!(strays.len(), 1, "{strays:?}");
}
