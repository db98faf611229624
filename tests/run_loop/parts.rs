//! A part of a plan is measured in the whole plan's places: it can be reported, and gone on with.

use crate::experiment::experiment;
use crate::story::Story;
use loadlab::estimate::{self, Summary};
use loadlab::record::{Event, Progress};
use loadlab::run::Closing;

const ORDER: [&str; 4] = [
    "fixed-rate.r01.one.a1",
    "fixed-rate.r01.two.a1",
    "fixed-rate.r02.two.a1",
    "fixed-rate.r02.one.a1",
];

/// Measures the blocks that a pattern names; valid, left and not asked for at its end.
async fn measure(story: &mut Story, pattern: &str) -> (usize, usize, usize) {
    story.only = vec![pattern.to_owned()];
    let closing = story.run().await.unwrap();
    assert!(closing.complete, "{closing:?}");
    counts(&closing)
}

fn counts(closing: &Closing) -> (usize, usize, usize) {
    (closing.valid, closing.left, closing.not_asked)
}

fn last(story: &Story) -> (bool, Option<&str>) {
    match story.memory.events.last() {
        Some(Event::Closed { complete, because }) => (*complete, because.as_deref()),
        other => panic!("{other:?}"),
    }
}

/// Complete, and for each candidate how many of its planned blocks were kept.
fn reported(story: &Story) -> (bool, Vec<(String, u64, u64)>) {
    let summary: Summary =
        estimate::estimate(&story.records(), &story.experiment, &story.plan, &[]);
    let blocks = summary.counts.iter();
    let blocks = blocks.map(|it| (it.candidate.to_string(), it.kept, it.planned));
    (summary.complete, blocks.collect())
}

#[tokio::test(start_paused = true)]
async fn a_part_keeps_the_places_of_the_plan_and_says_that_it_is_one() {
    let mut story = Story::of(experiment());
    assert_eq!(measure(&mut story, "two").await, (2, 0, 2));
    assert_eq!(story.ends(), [ORDER[1], ORDER[2]]);
    assert_eq!(last(&story), (false, Some("2 blocks were not asked for")));
    let progress = Progress::of(&story.records(), &story.plan).unwrap();
    assert!(!progress.complete(story.experiment.attempts));
    let blocks = [("one", 0, 2), ("two", 2, 2)];
    let blocks = blocks.map(|(name, kept, planned)| (name.to_owned(), kept, planned));
    assert_eq!(reported(&story), (false, blocks.to_vec()));
}

#[tokio::test(start_paused = true)]
async fn a_part_is_gone_on_with_for_the_rest() {
    let mut story = Story::of(experiment());
    measure(&mut story, "two").await;
    story.only.clear();
    let closing = story.run().await.unwrap();
    assert_eq!((closing.complete, counts(&closing)), (true, (4, 0, 0)));
    assert_eq!(story.ends(), [ORDER[1], ORDER[2], ORDER[0], ORDER[3]]);
    assert_eq!(last(&story), (true, None));
    assert!(reported(&story).0);
}

#[tokio::test(start_paused = true)]
async fn a_part_is_gone_on_with_for_another_part() {
    let mut story = Story::of(experiment());
    assert_eq!(measure(&mut story, "fixed-rate.r02.*").await, (2, 0, 2));
    assert_eq!(measure(&mut story, "one").await, (3, 0, 1));
    assert_eq!(story.ends(), [ORDER[2], ORDER[3], ORDER[0]]);
    assert_eq!(last(&story), (false, Some("1 block was not asked for")));
    let lines = story.memory.events.len();
    assert_eq!(measure(&mut story, "one").await, (3, 0, 1));
    assert_eq!(story.memory.events.len(), lines, "nothing more is written");
}
