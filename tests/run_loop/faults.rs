//! Every injected fault and the code it is recorded under.

use std::time::Duration;

use crate::experiment::experiment;
use crate::story::{SECOND, Story};
use loadlab::engine::Exit;
use loadlab::engine::Trouble;
use loadlab::engine::fake::Effect;
use loadlab::model::Role;
use loadlab::model::candidate::Lifetime;

/// What one fault in the first block makes of its first try.
async fn first_end(operation: &'static str, role: Role, part: &str, effect: Effect) -> String {
    let mut story = Story::of(experiment()).fault(operation, role, part, effect);
    story.run().await.unwrap();
    assert_eq!(story.fakes.engine.unmet(), 0, "{operation} {part}");
    assert!(story.fakes.engine.held().is_empty(), "{operation} {part}");
    let end = story.ends().remove(0);
    end.strip_prefix("fixed-rate.r01.one.a1")
        .unwrap()
        .trim()
        .to_owned()
}

/// Asserts the code of the first try for each effect on an operation.
async fn ends_as(operation: &'static str, role: Role, part: &str, ends: &[(Effect, &str)]) {
    for (effect, code) in ends {
        let end = first_end(operation, role.clone(), part, effect.clone()).await;
        assert_eq!(end, *code, "{operation} {role} {part} {effect:?}");
    }
}

/// A member ends this many milliseconds after its start.
fn ends_after(ms: u64, exit: Exit) -> Effect {
    Effect::Ends(Duration::from_millis(ms), exit)
}

// A candidate is warmed up during its first second; its window opens half a second later.
#[tokio::test(start_paused = true)]
async fn what_a_candidate_does_is_an_outcome() {
    let oom = |ms| Effect::OutOfMemory(Duration::from_millis(ms));
    let restarts = Effect::Restarts(Duration::from_millis(2500), Exit::Status(1));
    let ends = [
        (Effect::Fail(Trouble::NoProgram), "not_ready"),
        (Effect::Silent(Duration::ZERO), "not_ready"),
        (ends_after(0, Exit::Status(1)), "exited"),
        (ends_after(500, Exit::Status(1)), "exited"),
        (ends_after(2500, Exit::Signal(11)), "exited"),
        (oom(500), "oom"),
        (oom(2500), "oom"),
        (restarts, "restarted"),
    ];
    ends_as("start", Role::Candidate, "b0000a1", &ends).await;
}

#[tokio::test(start_paused = true)]
async fn what_the_instrument_does_is_a_breach() {
    let fails = [(Effect::Fail(Trouble::Failed), "harness_error")];
    for (operation, role, part) in [
        ("start", Role::Candidate, "b0000a1"),
        ("stop", Role::Candidate, "b0000a1"),
        ("start", Role::Probe, "b0000a1pb"),
        ("start", Role::Probe, "b0000a1pa"),
        ("reserve", Role::Load, "b0000a1w02"),
        ("collect", Role::Load, "b0000a1w02"),
    ] {
        ends_as(operation, role, part, &fails).await;
    }
    let killed = [(ends_after(10, Exit::Signal(9)), "harness_error")];
    ends_as("start", Role::Load, "b0000a1w01", &killed).await;
    ends_as("start", Role::Load, "b0000a1w02", &killed).await;
    let hangs = [(Effect::NeverEnds, "harness_error")];
    ends_as("start", Role::Load, "b0000a1w02", &hangs).await;
}

#[tokio::test(start_paused = true)]
async fn limits_that_are_read_back_otherwise_are_a_breach() {
    let ends = [
        (Effect::OtherLimit, "limits_changed"),
        (Effect::OtherCpus, "cpuset_mismatch"),
    ];
    ends_as("limits", Role::Candidate, "b0000a1", &ends).await;
}

#[tokio::test(start_paused = true)]
async fn counters_that_lie_or_are_missing_are_a_breach() {
    for effect in [Effect::Backwards, Effect::NoCounter] {
        // The reading at the closing edge: the eighth of the candidate in its block.
        let mut story = Story::of(experiment());
        let reads = {
            story.run().await.unwrap();
            let calls = story.fakes.calls.take();
            let end = calls
                .iter()
                .position(|call| call == "collect load b0000a1w02")
                .unwrap();
            calls[..end]
                .iter()
                .filter(|call| *call == "read candidate b0000a1")
                .count()
        };
        let mut story = Story::of(experiment());
        for _ in 1..reads {
            story = story.fault("read", Role::Candidate, "b0000a1", Effect::Nothing);
        }
        let mut story = story.fault("read", Role::Candidate, "b0000a1", effect);
        story.run().await.unwrap();
        assert_eq!(story.ends()[0], "fixed-rate.r01.one.a1 counter_missing");
    }
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_hangs_is_an_outcome_and_has_a_deadline() {
    let mut story = Story::of(experiment())
        .fault(
            "start",
            Role::Candidate,
            "b0000a1",
            Effect::Silent(Duration::from_millis(2500)),
        )
        .fault("start", Role::Load, "b0000a1w02", Effect::NeverEnds);
    let before = story.fakes.time.now_ns();
    story.run().await.unwrap();
    assert_eq!(story.ends()[0], "fixed-rate.r01.one.a1 hung");
    assert!(story.fakes.time.now_ns() - before < 120_000_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_ends_is_a_breach() {
    let mut experiment = experiment();
    let definition = experiment.candidates[0].definition.clone();
    let service = loadlab::model::Service {
        name: "store".parse().unwrap(),
        title: "Store".to_owned(),
        lifetime: Lifetime::Block,
        definition,
    };
    experiment.services.insert(service.name.clone(), service);
    let role = Role::Service("store".parse().unwrap());
    for (effect, code) in [
        (
            Effect::Ends(Duration::ZERO, Exit::Status(1)),
            "service_lost",
        ),
        (
            Effect::Ends(Duration::from_millis(500), Exit::Status(1)),
            "service_lost",
        ),
        (
            Effect::Ends(Duration::from_millis(2500), Exit::Status(1)),
            "service_lost",
        ),
        (Effect::Fail(Trouble::NoProgram), "service_lost"),
    ] {
        let mut story =
            Story::of(experiment.clone()).fault("start", role.clone(), "b0000a1", effect);
        story.run().await.unwrap();
        assert_eq!(story.ends()[0], format!("fixed-rate.r01.one.a1 {code}"));
        assert_eq!(story.ends()[2], "fixed-rate.r01.one.a2");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lasting_service_that_ended_is_started_again_before_the_next_block() {
    let mut experiment = experiment();
    let service = loadlab::model::Service {
        name: "store".parse().unwrap(),
        title: "Store".to_owned(),
        lifetime: Lifetime::Run,
        definition: experiment.candidates[0].definition.clone(),
    };
    experiment.services.insert(service.name.clone(), service);
    let role = Role::Service("store".parse().unwrap());
    // Three calibration readings and the first probe take four seconds; then the first block is on.
    let effect = Effect::Ends(5 * SECOND, Exit::Status(1));
    let mut story = Story::of(experiment).fault("start", role, "s1n1", effect);
    let closing = story.run().await.unwrap();
    assert_eq!(
        story.ends()[..3],
        [
            "fixed-rate.r01.one.a1 service_lost",
            "fixed-rate.r01.two.a1",
            "fixed-rate.r01.one.a2",
        ]
    );
    assert_eq!((closing.complete, closing.valid), (true, 4));
    let calls = story.fakes.calls.take();
    let starts = calls.iter().filter(|call| call.starts_with("start store"));
    assert_eq!(
        starts.cloned().collect::<Vec<_>>(),
        ["start store s1n1", "start store s1n2"]
    );
}
