//! What killed runs left behind, before a run begins to measure beside it.

use super::ui::{Ui, safe};
use crate::engine::{Engine, Leftover};
use crate::model::EntryName;
use crate::model::plural::counted;

/// Removes what the draft's own killed session left behind, and warns of what others left: both may use
/// the cores that are measured on.
pub async fn clear(engine: &dyn Engine, entry: &EntryName, ui: Ui) {
    // Where it cannot be asked, the run says so itself.
    let found = engine.leftovers().await.unwrap_or_default();
    let cleared = Cleared::of(engine, entry, found).await;
    if let Some(removed) = cleared.removed() {
        ui.note(&removed);
    }
    for warning in cleared.warnings() {
        ui.warn(&warning);
    }
}

/// What became of the leftovers.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cleared {
    /// Groups of the draft's own that are gone now.
    removed: u64,
    /// Why groups of the draft's own are still there.
    stayed: Vec<String>,
    /// Groups of other entries, which may be somebody's evidence.
    of_others: u64,
}

impl Cleared {
    async fn of(engine: &dyn Engine, entry: &EntryName, found: Vec<Leftover>) -> Self {
        let mut cleared = Self::default();
        for leftover in found {
            if leftover.entry != entry.as_str() {
                cleared.of_others += 1;
                continue;
            }
            match engine.remove(&leftover).await {
                Ok(()) => cleared.removed += 1,
                Err(error) => cleared.stayed.push(error.to_string()),
            }
        }
        cleared
    }

    fn removed(&self) -> Option<String> {
        (self.removed > 0).then(|| {
            let groups = groups(self.removed);
            format!("removed {groups} left behind when this draft's last session was killed")
        })
    }

    fn warnings(&self) -> Vec<String> {
        let stayed = self.stayed.iter().map(|because| {
            let because = safe(because);
            format!("what this draft's last session left behind may disturb this one: {because}")
        });
        let others = (self.of_others > 0).then(|| {
            format!(
                "{} left behind by another run that was killed, and may disturb this one: \
                 `loadlab gc` lists what was left, `loadlab gc --yes` removes it",
                groups(self.of_others)
            )
        });
        stayed.chain(others).collect()
    }
}

fn groups(number: u64) -> String {
    counted(number, "group of processes", "groups of processes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fake::{Calls, FakeAnswer, FakeEngine, FakeTime};

    fn leftover(entry: &str, handle: &str) -> Leftover {
        Leftover {
            entry: entry.to_owned(),
            what: "a process".to_owned(),
            handle: handle.to_owned(),
        }
    }

    async fn cleared(leftovers: &[Leftover]) -> (Cleared, Vec<Leftover>) {
        let answers = |_: &_| FakeAnswer {
            status: 200,
            body: Vec::new(),
        };
        let engine = FakeEngine::new(Calls::default(), FakeTime::default(), answers);
        leftovers
            .iter()
            .for_each(|leftover| engine.leave(leftover.clone()));
        let entry = "2026-01-01-abc".parse().unwrap();
        let found = engine.leftovers().await.unwrap();
        let cleared = Cleared::of(&engine, &entry, found).await;
        (cleared, engine.leftovers().await.unwrap())
    }

    #[tokio::test]
    async fn what_the_draft_left_is_removed_and_what_others_left_stays() {
        let [first, second] = ["a", "b"].map(|handle| leftover("2026-01-01-abc", handle));
        let [longer, other] = ["2026-01-01-abc-2", "2025-12-31-abc"].map(|it| leftover(it, it));
        let all = [first, longer.clone(), second, other.clone()];
        let (cleared, left) = cleared(&all).await;
        assert_eq!(left, [longer, other]);
        assert_eq!(
            cleared.removed().as_deref(),
            Some(
                "removed 2 groups of processes left behind when this draft's last session was killed"
            )
        );
        assert_eq!(
            cleared.warnings(),
            [
                "2 groups of processes left behind by another run that was killed, and may disturb this one: \
                 `loadlab gc` lists what was left, `loadlab gc --yes` removes it"
            ]
        );
    }

    #[tokio::test]
    async fn where_nothing_was_left_nothing_is_said() {
        let (cleared, _) = cleared(&[]).await;
        assert_eq!(cleared, Cleared::default());
        assert_eq!(cleared.removed(), None);
        assert_eq!(cleared.warnings(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn what_cannot_be_removed_is_said_with_its_reason() {
        let engine = FakeEngine::new(Calls::default(), FakeTime::default(), |_: &_| FakeAnswer {
            status: 200,
            body: Vec::new(),
        });
        let entry = "2026-01-01-abc".parse().unwrap();
        // Nothing of the kind is there any more.
        let found = vec![leftover("2026-01-01-abc", "gone")];
        let cleared = Cleared::of(&engine, &entry, found).await;
        assert_eq!(cleared.removed(), None);
        assert_eq!(
            cleared.warnings(),
            [
                "what this draft's last session left behind may disturb this one: cannot remove leftover of \
                 `2026-01-01-abc`: it is no leftover"
            ]
        );
    }
}
