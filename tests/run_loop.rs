//! The run loop against fakes: order, tries, ends, interruptions, resuming.

#[path = "run_loop/story.rs"]
mod story;

use std::time::Duration;

use loadlab::engine::Exit;
use loadlab::engine::Trouble;
use loadlab::engine::fake::{Effect, FakeAnswer};
use loadlab::load::Unreadable;
use loadlab::load::fake::FakeGenerator;
use loadlab::model::account::{Count, Late};
use loadlab::model::candidate::Lifetime;
use loadlab::model::{Account, Known, Role, Shot};
use loadlab::record::{Event, Progress};
use loadlab::run::fake::{FakeRig, answer};
use loadlab::run::{Cancel, RunError, Unobserved};
use story::{SECOND, StopsAt, Story, common, experiment, rate};

fn only_one_block() -> loadlab::model::Experiment {
    let mut experiment = experiment();
    experiment.phases[0].repetitions = 1;
    experiment.phases[0].candidates = vec!["one".parse().unwrap()];
    experiment.candidates.shift_remove(
        "two"
            .parse::<loadlab::model::CandidateName>()
            .as_ref()
            .unwrap(),
    );
    experiment
}

/// Calls from the first block's beginning on; readings that follow one another are shown once.
fn calls_of_the_block(story: &Story) -> String {
    let calls = story.fakes.calls.take();
    let begin = calls
        .iter()
        .position(|call| call == "append block_started")
        .unwrap();
    let mut block = calls[begin - 1..].to_vec();
    block.dedup();
    block.join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_block_has_the_order_of_the_method() {
    let mut story = Story::of(only_one_block());
    let closing = story.run().await.unwrap();
    assert_eq!(
        (closing.complete, closing.valid, closing.left),
        (true, 1, 0)
    );
    insta::assert_snapshot!(calls_of_the_block(&story));
}

#[tokio::test(start_paused = true)]
async fn a_session_rehearses_then_calibrates_then_measures() {
    let mut story = Story::of(experiment());
    story.run().await.unwrap();
    let kinds: Vec<&str> = story.memory.events.iter().map(Event::kind).collect();
    insta::assert_snapshot!(kinds.join("\n"));
    assert_eq!(story.outcomes(), ["held"; 4]);
    assert!(story.fakes.engine.held().is_empty());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_or_synced_between_the_edges_of_a_window() {
    let mut story = Story::of(experiment());
    story.run().await.unwrap();
    let calls = story.fakes.calls.take();
    let mut windows = 0;
    for (at, _) in calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.starts_with("proceed load"))
    {
        let part = calls[at].rsplit(' ').next().unwrap();
        let collect = format!("collect load {part}");
        let end = at
            + calls[at..]
                .iter()
                .position(|call| *call == collect)
                .unwrap();
        let forbidden = |call: &&String| {
            !["read", "limits", "host", "dial candidate"]
                .iter()
                .any(|allowed| call.starts_with(allowed))
        };
        assert_eq!(
            calls[at + 1..end].iter().find(forbidden),
            None,
            "in window {part}"
        );
        windows += 1;
    }
    assert_eq!(
        windows,
        3 + 4 * 4,
        "calibration, and probe, warm-up, window, probe of four blocks"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_released_before_the_records_are_synced() {
    let mut story = Story::of(experiment()).fault(
        "start",
        Role::Candidate,
        "b0001a1",
        Effect::Fail(Trouble::Failed),
    );
    story.run().await.unwrap();
    let mut unsynced = false;
    for call in story.fakes.calls.take() {
        match call.split(' ').next().unwrap() {
            "append" | "store" => unsynced = true,
            "sync" => unsynced = false,
            "release" => assert!(!unsynced, "{call}"),
            _ => {}
        }
    }
}

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

#[tokio::test(start_paused = true)]
async fn every_fault_has_its_code() {
    let ms = Duration::from_millis;
    let (candidate, load, probe) = (Role::Candidate, Role::Load, Role::Probe);
    for (operation, role, part, effect, code) in [
        (
            "start",
            &candidate,
            "b0000a1",
            Effect::Fail(Trouble::NoProgram),
            "not_ready",
        ),
        (
            "start",
            &candidate,
            "b0000a1",
            Effect::Fail(Trouble::Failed),
            "harness_error",
        ),
        (
            "start",
            &candidate,
            "b0000a1",
            Effect::Silent(Duration::ZERO),
            "not_ready",
        ),
        (
            "start",
            &candidate,
            "b0000a1",
            Effect::Ends(Duration::ZERO, Exit::Status(1)),
            "exited",
        ),
        (
            "start",
            &candidate,
            "b0000a1",
            Effect::Ends(ms(500), Exit::Status(1)),
            "exited",
        ),
        (
            "start",
            &candidate,
            "b0000a1",
            Effect::OutOfMemory(ms(500)),
            "oom",
        ),
        (
            "start",
            &candidate,
            "b0000a1",
            Effect::Ends(ms(2500), Exit::Status(1)),
            "exited",
        ),
        (
            "start",
            &candidate,
            "b0000a1",
            Effect::Restarts(ms(2500), Exit::Status(1)),
            "restarted",
        ),
        (
            "start",
            &candidate,
            "b0000a1",
            Effect::OutOfMemory(ms(2500)),
            "oom",
        ),
        (
            "start",
            &load,
            "b0000a1w01",
            Effect::Ends(ms(10), Exit::Signal(9)),
            "harness_error",
        ),
        (
            "start",
            &load,
            "b0000a1w02",
            Effect::Ends(ms(10), Exit::Signal(9)),
            "harness_error",
        ),
        (
            "start",
            &load,
            "b0000a1w02",
            Effect::NeverEnds,
            "harness_error",
        ),
        (
            "start",
            &probe,
            "b0000a1pb",
            Effect::Fail(Trouble::Failed),
            "harness_error",
        ),
        (
            "start",
            &probe,
            "b0000a1pa",
            Effect::Fail(Trouble::Failed),
            "harness_error",
        ),
        (
            "reserve",
            &load,
            "b0000a1w02",
            Effect::Fail(Trouble::Failed),
            "harness_error",
        ),
        (
            "collect",
            &load,
            "b0000a1w02",
            Effect::Fail(Trouble::Failed),
            "harness_error",
        ),
        (
            "stop",
            &candidate,
            "b0000a1",
            Effect::Fail(Trouble::Failed),
            "harness_error",
        ),
        (
            "limits",
            &candidate,
            "b0000a1",
            Effect::OtherLimit,
            "limits_changed",
        ),
        (
            "limits",
            &candidate,
            "b0000a1",
            Effect::OtherCpus,
            "cpuset_mismatch",
        ),
    ] {
        let shown = format!("{operation} {role} {part} {effect:?}");
        assert_eq!(
            first_end(operation, role.clone(), part, effect).await,
            code,
            "{shown}"
        );
    }
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

fn counted(change: impl Fn(&mut Account) + Send + Sync + 'static) -> FakeGenerator {
    FakeGenerator::counting(move |shot: &Shot, mut account: Account| {
        if shot.request.path == "/page" {
            change(&mut account);
        }
        Ok(account)
    })
}

#[tokio::test(start_paused = true)]
async fn what_the_generator_counted_decides_the_outcome() {
    let slow = counted(|account| {
        account.by_status = [(200, 1800)].into();
        account.answered = Count::Observed(1800);
        account.body_bytes = 3 * 1800;
    });
    let failing = counted(|account| {
        account.errors = [("connection reset".to_owned(), 7)].into();
    });
    let wrong_status = counted(|account| account.by_status = [(200, 1990), (500, 10)].into());
    let late = counted(|account| account.late = Late::Exactly(500));
    for (generator, outcome) in [
        (slow, "not_held"),
        (failing, "errors"),
        (wrong_status, "unexpected_status"),
        (late, "not_held"),
    ] {
        let mut story = Story::of(only_one_block());
        story.fakes.rig.generator = std::sync::Arc::new(generator);
        story.run().await.unwrap();
        assert_eq!(story.outcomes(), [outcome]);
    }
}

#[tokio::test(start_paused = true)]
async fn counts_that_do_not_add_up_are_a_breach() {
    let mut story = Story::of(only_one_block());
    story.fakes.rig.generator = std::sync::Arc::new(counted(|account| {
        account.by_status = [(200, 10)].into();
    }));
    let closing = story.run().await.unwrap();
    assert_eq!(closing.invalid, 1);
    assert!(
        story.ends()[0].contains("accounting_mismatch"),
        "{:?}",
        story.ends()
    );
    let mut story = Story::of(only_one_block());
    story.fakes.rig.generator = std::sync::Arc::new(FakeGenerator::counting(|shot, account| {
        if shot.request.path == "/page" {
            let because = "line 1: not JSON".to_owned();
            return Err(Unreadable { because });
        }
        Ok(account)
    }));
    story.run().await.unwrap();
    assert_eq!(story.ends()[0], "fixed-rate.r01.one.a1 counter_missing");
}

fn answering(
    rule: impl Fn(&loadlab::engine::fake::Asked) -> Option<FakeAnswer> + Send + Sync + 'static,
) -> FakeRig {
    let entry = "2026-01-01.abc".parse().unwrap();
    FakeRig::answering(entry, std::path::Path::new("/"), move |asked| {
        rule(asked).unwrap_or_else(|| answer(asked))
    })
}

fn body(text: &str) -> FakeAnswer {
    FakeAnswer {
        status: 200,
        body: text.as_bytes().to_vec(),
    }
}

#[tokio::test(start_paused = true)]
async fn wrong_answers_are_outcomes() {
    let wrong = answering(|asked| {
        let in_block = asked.part.starts_with("b0000a1");
        (in_block && asked.path == "/page").then(|| body("no\n"))
    });
    let mut story = Story::on(experiment(), wrong);
    story.run().await.unwrap();
    assert_eq!(story.outcomes(), ["wrong_answer", "held", "held", "held"]);
    let broken = answering(|asked| {
        let in_block = asked.part.starts_with("b0000a1");
        (in_block && asked.path == "/contract").then(|| body("other\n"))
    });
    let mut story = Story::on(experiment(), broken);
    let closing = story.run().await.unwrap();
    assert_eq!(story.ends()[0], "fixed-rate.r01.one.a1 contract_failed");
    assert_eq!(closing.valid, 4);
    let not_ready = answering(|asked| {
        let second = asked.part.starts_with("b0001a1");
        (second && asked.path == "/ready").then(|| FakeAnswer {
            status: 503,
            body: Vec::new(),
        })
    });
    let mut story = Story::on(experiment(), not_ready);
    story.run().await.unwrap();
    assert_eq!(story.ends()[1], "fixed-rate.r01.two.a1 not_ready");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_differs_between_candidates_fails_the_contract() {
    let differs = answering(|asked| {
        let second = ["b0001", "b0002", "s1r02"]
            .iter()
            .any(|part| asked.part.starts_with(part));
        (second && asked.path == "/contract").then(|| body("other\n"))
    });
    let mut story = Story::on(experiment(), differs);
    story.run().await.unwrap();
    assert_eq!(
        story.ends(),
        [
            "fixed-rate.r01.one.a1",
            "fixed-rate.r01.two.a1 contract_failed",
            "fixed-rate.r02.two.a1 contract_failed",
            "fixed-rate.r02.one.a1",
        ]
    );
    let rehearsals = story.records();
    let rehearsed = rehearsals.rehearsals()[1];
    assert!(
        rehearsed.checks[0]
            .difference
            .as_ref()
            .unwrap()
            .contains("as candidate `one` answered")
    );
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_cannot_be_rehearsed_still_has_its_blocks() {
    let mut story = Story::of(experiment()).fault(
        "start",
        Role::Candidate,
        "s1r02",
        Effect::Ends(Duration::ZERO, Exit::Status(3)),
    );
    let closing = story.run().await.unwrap();
    assert_eq!(closing.valid, 4);
    let records = story.records();
    let failed = records.rehearsals()[1].failed.clone().unwrap();
    assert_eq!(failed.0.code(), "exited");
    assert_eq!(
        failed.1,
        "candidate `two` ended before it was ready: member `main` exited with status 3"
    );
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

#[tokio::test(start_paused = true)]
async fn a_rehearsal_alone_measures_nothing() {
    let mut story = Story::of(experiment());
    let (experiment, rig) = (&story.experiment, &story.fakes.rig);
    let (mut observer, cancel) = (Unobserved, Cancel::default());
    let rehearsed =
        loadlab::run::rehearse(experiment, rig, &mut story.memory, &mut observer, &cancel).await;
    let rehearsed = rehearsed.unwrap();
    assert_eq!(rehearsed.len(), 2);
    assert!(rehearsed.iter().all(|candidate| candidate.failed.is_none()));
    assert_eq!(rehearsed[0].checks.len(), 2);
    assert!(story.fakes.engine.held().is_empty());
    assert!(
        story
            .fakes
            .calls
            .take()
            .iter()
            .all(|call| !call.contains("load"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_misbehaves_is_a_breach() {
    type Change = fn(&mut loadlab::model::reading::HostReading, u64);
    let swap: Change = |host, number| host.swapped_pages = Known::Value(number);
    let asleep: Change = |host, number| host.boottime_ns += number * 10_000_000;
    let clock: Change = |host, number| host.realtime_ns += number * 5_000_000;
    let stolen: Change = |host, number| {
        for times in host.cpus.values_mut() {
            times.steal_ns += number * 1_000_000_000;
        }
    };
    let foreign: Change = |host, number| {
        if let Known::Value(used) = &mut host.used_per_cpu_ns {
            *used.entry(0).or_default() += number * 500_000_000;
        }
    };
    for (change, code) in [
        (swap, "swap"),
        (asleep, "suspended"),
        (clock, "clock_step"),
        (stolen, "steal"),
        (foreign, "foreign_load"),
    ] {
        let mut experiment = only_one_block();
        experiment.attempts = 1;
        let mut story = Story::of(experiment);
        story.fakes.host(move |number, mut host| {
            change(&mut host, number);
            host
        });
        story.run().await.unwrap();
        assert!(story.ends()[0].contains(code), "{code}: {:?}", story.ends());
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_changes_is_a_breach() {
    let slow = FakeGenerator::counting(|shot, mut account| {
        if shot.request.path == "/" {
            account.by_status = [(200, 100)].into();
            account.answered = Count::Observed(100);
        }
        Ok(account)
    });
    let mut experiment = only_one_block();
    experiment.attempts = 1;
    let mut story = Story::of(experiment);
    story.fakes.rig.generator = std::sync::Arc::new(slow);
    story.run().await.unwrap();
    assert!(
        story.ends()[0].contains("probe_below_floor"),
        "{:?}",
        story.ends()
    );
}

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
async fn a_block_without_load_takes_no_time() {
    let mut experiment = only_one_block();
    if let loadlab::model::LoadShape::FixedRate { rates, .. } = &mut experiment.phases[0].load {
        rates.clear();
    }
    let mut story = Story::of(experiment);
    let before = story.fakes.time.now_ns();
    let closing = story.run().await.unwrap();
    assert_eq!(closing.valid, 1);
    // Three calibration readings and two of the block, a second each.
    let beside = story.fakes.time.now_ns() - before - 5_000_000_000;
    assert!(beside < 10_000_000, "{beside} ns");
}

#[tokio::test(start_paused = true)]
async fn a_ceiling_is_warmed_up_once_at_its_largest_number_of_connections() {
    let mut experiment = only_one_block();
    let settings = common(&mut experiment).clone();
    experiment.phases[0].load = loadlab::model::LoadShape::Ceiling {
        scenarios: vec!["page".parse().unwrap()],
        connections: vec![8, 32, 16],
        common: settings,
    };
    let mut story = Story::of(experiment);
    story.run().await.unwrap();
    assert_eq!(story.outcomes(), ["completed"; 3]);
    let records = story.records();
    let attempts = records.attempts();
    let (_, attempt) = attempts.first_key_value().unwrap();
    assert_eq!(attempt.warmups.len(), 1);
    let Known::Value(account) = &attempt.warmups[0].account else {
        panic!("the warm-up was counted");
    };
    assert_eq!(account.answered.get(), 3200);
    assert_eq!(rate("1000/s").get(), 1000);
}

#[tokio::test(start_paused = true)]
async fn the_samples_show_what_each_role_uses() {
    let mut story = Story::of(only_one_block());
    story.run().await.unwrap();
    let measured = story.memory.events.iter().find_map(|event| match event {
        Event::Measured(measured) => Some(measured),
        _ => None,
    });
    let measured = measured.unwrap();
    // 1,000 requests a second at 50 us each.
    let used: Vec<u64> = measured
        .samples
        .iter()
        .map(|sample| sample.cpu_ns[&Role::Candidate])
        .collect();
    assert_eq!(used.len(), 2);
    let before = measured.before.roles[&Role::Candidate]
        .cpu
        .value()
        .unwrap()
        .cpu_ns;
    assert_eq!(
        (used[0] - before, used[1] - before),
        (50_000_000, 100_000_000)
    );
    let after = measured.after.roles[&Role::Candidate]
        .cpu
        .value()
        .unwrap()
        .cpu_ns;
    assert_eq!(after - before, 100_000_000);
    assert_eq!(measured.idle[&Role::Candidate].cpu_ns, 0);
    assert_eq!(measured.answers.len(), 2);
    assert_eq!(measured.command, ["fake-generator", "1000/s"]);
}
