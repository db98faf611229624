//! Requests to stop, at every moment.

use crate::experiment::experiment;
use crate::story::{SECOND, StopsAt, Story};
use loadlab::record::Event;
use loadlab::record::Progress;
use loadlab::run::Cancel;
use loadlab::run::RunError;
use loadlab::run::Unobserved;
use loadlab::run::{Notice, Observer};

#[tokio::test(start_paused = true)]
async fn a_request_to_stop_at_any_notice_leaves_whole_records_and_nothing_behind() {
    let mut whole = Story::of(experiment());
    let mut counting = StopsAt {
        cancel: Cancel::default(),
        notice: usize::MAX,
        seen: 0,
    };
    whole
        .run_with(&mut counting, &Cancel::default())
        .await
        .unwrap();
    // The notice of the closing itself comes too late to change anything.
    for notice in 0..counting.seen - 1 {
        let cancel = Cancel::default();
        let mut observer = StopsAt {
            cancel: cancel.clone(),
            notice,
            seen: 0,
        };
        let mut story = Story::of(experiment());
        let closing = story.run_with(&mut observer, &cancel).await.unwrap();
        assert!(story.fakes.engine.held().is_empty(), "at notice {notice}");
        let progress = Progress::of(&story.records(), &story.plan).unwrap();
        assert_eq!(progress.complete(2), closing.complete, "at notice {notice}");
        assert!(matches!(
            story.memory.events.last(),
            Some(Event::Closed { .. })
        ));
        let synced = story.memory.synced_after.last();
        assert_eq!(synced, Some(&story.memory.events.len()));
        let closing = story.run().await.unwrap();
        assert_eq!(
            (closing.complete, closing.valid),
            (true, 4),
            "at notice {notice}"
        );
        let valid: Vec<String> = story
            .ends()
            .into_iter()
            .filter(|end| !end.contains(' '))
            .collect();
        let uninterrupted: Vec<String> = whole.ends();
        let blocks = |ends: &[String]| -> Vec<String> {
            ends.iter()
                .map(|end| end.rsplit_once(".a").unwrap().0.to_owned())
                .collect()
        };
        assert_eq!(blocks(&valid), blocks(&uninterrupted), "at notice {notice}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_in_progress_is_marked_interrupted_and_does_not_use_up_a_try() {
    let mut experiment = experiment();
    experiment.attempts = 1;
    let mut story = Story::of(experiment);
    let cancel = Cancel::default();
    let stop = cancel.clone();
    let asking = async move {
        tokio::time::sleep(8 * SECOND).await;
        assert_eq!(stop.request(), 1);
    };
    let mut observer = Unobserved;
    let (closing, ()) = tokio::join!(story.run_with(&mut observer, &cancel), asking);
    let closing = closing.unwrap();
    assert_eq!((closing.complete, closing.left), (false, 4));
    assert_eq!(
        closing.because.as_deref(),
        Some("loadlab was asked to stop")
    );
    assert_eq!(story.ends(), ["fixed-rate.r01.one.a1 interrupted"]);
    let closing = story.run().await.unwrap();
    assert_eq!((closing.complete, closing.valid), (true, 4));
    assert_eq!(story.ends()[1], "fixed-rate.r01.one.a2");
}

#[tokio::test(start_paused = true)]
async fn the_second_request_ends_at_once() {
    let mut story = Story::of(experiment());
    let cancel = Cancel::default();
    let stop = cancel.clone();
    let asking = async move {
        tokio::time::sleep(8 * SECOND).await;
        assert_eq!((stop.request(), stop.request()), (1, 2));
    };
    let mut observer = Unobserved;
    let (closing, ()) = tokio::join!(story.run_with(&mut observer, &cancel), asking);
    assert!(matches!(closing, Err(RunError::Abandoned)));
    assert!(!story.fakes.engine.held().is_empty());
}

/// Whether each try that ended will be tried again, as the observer is told.
#[derive(Default)]
struct Agains(Vec<bool>);

impl Observer for Agains {
    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::BlockFinished { again, .. } = notice {
            self.0.push(again);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_block_is_said_to_be_tried_again_when_the_run_ends_with_it() {
    let cancel = Cancel::default();
    let stop = cancel.clone();
    let asking = async move {
        tokio::time::sleep(8 * SECOND).await;
        assert_eq!(stop.request(), 1);
    };
    let mut story = Story::of(experiment());
    let mut told = Agains::default();
    let (closing, ()) = tokio::join!(story.run_with(&mut told, &cancel), asking);
    assert_eq!(closing.unwrap().left, 4);
    assert_eq!(story.ends().len(), 1, "{:?}", story.ends());
    assert_eq!(told.0, [false]);
}
