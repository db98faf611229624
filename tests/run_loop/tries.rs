//! Which blocks are tried again, and when.

use std::sync::Arc;
use std::time::Duration;

use crate::experiment::experiment;
use crate::story::Story;
use loadlab::engine::Exit;
use loadlab::engine::Trouble;
use loadlab::engine::fake::Effect;
use loadlab::model::Role;
use loadlab::run::fake::FakePins;

#[tokio::test(start_paused = true)]
async fn an_invalid_block_is_tried_again_at_the_end_of_its_round() {
    let mut story =
        Story::of(experiment()).fault("limits", Role::Candidate, "b0000a1", Effect::OtherLimit);
    let closing = story.run().await.unwrap();
    assert_eq!(
        story.ends(),
        [
            "fixed-rate.r01.one.a1 limits_changed",
            "fixed-rate.r01.two.a1",
            "fixed-rate.r01.one.a2",
            "fixed-rate.r02.two.a1",
            "fixed-rate.r02.one.a1",
        ]
    );
    assert_eq!(
        (closing.complete, closing.valid, closing.invalid),
        (true, 4, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn tries_come_to_an_end() {
    let mut story = Story::of(experiment())
        .fault("limits", Role::Candidate, "b0000a1", Effect::OtherLimit)
        .fault("limits", Role::Candidate, "b0000a2", Effect::OtherLimit);
    let closing = story.run().await.unwrap();
    assert_eq!(story.ends()[2], "fixed-rate.r01.one.a2 limits_changed");
    assert_eq!(
        (
            closing.complete,
            closing.valid,
            closing.invalid,
            closing.left
        ),
        (true, 3, 1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn an_outcome_is_a_result_and_is_not_tried_again() {
    let mut story = Story::of(experiment()).fault(
        "start",
        Role::Candidate,
        "b0000a1",
        Effect::Ends(Duration::from_millis(2500), Exit::Signal(11)),
    );
    let closing = story.run().await.unwrap();
    assert_eq!(story.ends()[0], "fixed-rate.r01.one.a1 exited");
    assert_eq!(story.ends().len(), 4);
    assert_eq!(closing.valid, 4);
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_is_gone_ends_the_run_and_the_block_is_tried_when_it_is_resumed() {
    let mut story = Story::of(experiment()).fault(
        "start",
        Role::Load,
        "b0001a1w02",
        Effect::Fail(Trouble::Lost),
    );
    let closing = story.run().await.unwrap();
    assert!(!closing.complete);
    assert_eq!((closing.valid, closing.left), (1, 3));
    assert_eq!(story.ends()[1], "fixed-rate.r01.two.a1 engine_lost");
    assert!(
        closing
            .because
            .unwrap()
            .contains("cannot start the group of load")
    );
    let closing = story.run().await.unwrap();
    assert_eq!((closing.complete, closing.valid), (true, 4));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_complete_writes_nothing_more() {
    let mut story = Story::of(experiment());
    story.run().await.unwrap();
    let lines = story.memory.events.len();
    let closing = story.run().await.unwrap();
    assert_eq!((closing.complete, closing.valid), (true, 4));
    assert_eq!(story.memory.events.len(), lines);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_run_rehearses_nobody_again() {
    let mut story = Story::of(experiment()).fault(
        "start",
        Role::Load,
        "b0001a1w02",
        Effect::Fail(Trouble::Lost),
    );
    story.run().await.unwrap();
    story.run().await.unwrap();
    let records = story.records();
    assert_eq!(records.rehearsals().len(), 2);
    assert_eq!(records.sessions().len(), 2);
    assert_eq!(records.calibrations().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn programs_that_change_end_the_run_before_anything_more_is_measured() {
    let mut experiment = experiment();
    experiment.attempts = 1;
    let mut story = Story::of(experiment);
    story.fakes.rig.pinned = Arc::new(FakePins::changing(2));
    let closing = story.run().await.unwrap();
    assert_eq!(
        story.ends(),
        [
            "fixed-rate.r01.one.a1",
            "fixed-rate.r01.two.a1 image_mismatch"
        ]
    );
    assert_eq!(
        (closing.complete, closing.valid, closing.left),
        (false, 1, 3)
    );
    assert_eq!(closing.because.as_deref(), Some("program `server` changed"));
    let calls = story.fakes.calls.take();
    assert!(
        !calls.iter().any(|call| call.contains("b0001a1")),
        "{calls:?}"
    );
    story.fakes.rig.pinned = Arc::new(loadlab::run::Unpinned);
    let closing = story.run().await.unwrap();
    assert_eq!((closing.complete, closing.valid), (true, 4));
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_takes_no_more_ends_the_run_and_uses_up_no_try() {
    for (operation, part) in [("stop", "b0001a1"), ("reserve", "b0001a1w02")] {
        let mut experiment = experiment();
        experiment.attempts = 1;
        let role = match operation {
            "stop" => Role::Candidate,
            _ => Role::Load,
        };
        let full = Effect::Fail(Trouble::Storage);
        let mut story = Story::of(experiment).fault(operation, role, part, full);
        let error = story.run().await.unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("cannot {operation} the group")),
            "{error}"
        );
        assert_eq!(story.ends(), ["fixed-rate.r01.one.a1"]);
        assert!(story.fakes.engine.held().is_empty(), "{operation}");
        let closing = story.run().await.unwrap();
        assert_eq!((closing.complete, closing.valid), (true, 4), "{operation}");
        assert_eq!(story.ends()[1], "fixed-rate.r01.two.a2");
    }
}
