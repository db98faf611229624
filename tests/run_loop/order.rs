//! The order of a block, of a session and of what happens in a window.

use crate::experiment::{common, experiment, only_one_block, rate};
use crate::story::Story;
use loadlab::engine::Trouble;
use loadlab::engine::fake::Effect;
use loadlab::model::Known;
use loadlab::model::Role;
use loadlab::record::Event;
use loadlab::run::Cancel;
use loadlab::run::Unobserved;

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
        let rest = &calls[at + 1..];
        let end = |call: &str| {
            rest.iter()
                .position(|other| *other == format!("{call} load {part}"))
        };
        let (edge, collected) = (end("limits"), end("collect").unwrap());
        let in_window = &rest[..edge.unwrap_or(collected).min(collected)];
        // Only a warm-up, which has no edges, is asked for answers.
        let warm_up = edge.is_none_or(|edge| edge > collected);
        let forbidden = |call: &&String| {
            let reads = ["read", "limits", "host"]
                .iter()
                .any(|allowed| call.starts_with(allowed));
            !(reads || warm_up && call.starts_with("dial candidate"))
        };
        assert_eq!(in_window.iter().find(forbidden), None, "in window {part}");
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
