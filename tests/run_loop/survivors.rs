//! Failures of a candidate are never tried away, whatever `attempts` says: what is reported is counted over
//! every repetition, from the faults through the loop to the numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::experiment::only_one_block;
use crate::story::{SECOND, Story};
use loadlab::engine::Exit;
use loadlab::engine::fake::Effect;
use loadlab::estimate::{self, Summary};
use loadlab::load::fake::FakeGenerator;
use loadlab::model::account::Count;
use loadlab::model::estimator::{Centre, EstimateRule};
use loadlab::model::phase::Accept;
use loadlab::model::{Experiment, Metric, Outcome, Role, Shot};

/// Five rounds of one candidate.
fn five_rounds(attempts: u32, accept: Option<Accept>) -> Experiment {
    let mut experiment = only_one_block();
    experiment.attempts = attempts;
    let phase = &mut experiment.phases[0];
    phase.repetitions = 5;
    phase.accept = accept;
    let median = EstimateRule {
        repetitions: Centre::Median,
        points: None,
    };
    phase.estimate.insert(Metric::Achieved, median);
    experiment
}

/// What comes of it; every round is measured once.
async fn summary(mut story: Story) -> Summary {
    let closing = story.run().await.unwrap();
    assert_eq!((closing.complete, closing.valid), (true, 5));
    let ends = story.ends();
    assert_eq!(ends.len(), 5, "{ends:?}");
    assert!(ends.iter().all(|end| end.contains(".a1")), "{ends:?}");
    estimate::estimate(&story.records(), &story.experiment, &story.plan, &[])
}

/// Every repetition: whether it has a value, its outcome, and whether it enters the estimate.
fn repetitions(summary: &Summary) -> Vec<(bool, Outcome, bool)> {
    let values = summary.estimates[0].values.iter();
    values
        .map(|value| (value.value.is_some(), value.outcome, value.accepted))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_exits_in_two_of_five_blocks_is_reported_as_three_of_five() {
    for attempts in [1, 3] {
        let exits = || Effect::Ends(5 * SECOND / 2, Exit::Status(1));
        let story = Story::of(five_rounds(attempts, None))
            .fault("start", Role::Candidate, "b0001a1", exits())
            .fault("start", Role::Candidate, "b0003a1", exits());
        let summary = summary(story).await;
        let cell = &summary.cells[0];
        assert_eq!((cell.kept, cell.attempted), (5, 5), "{attempts} attempts");
        assert_eq!(
            cell.outcomes,
            [(Outcome::Held, 3), (Outcome::Exited, 2)].into(),
            "{attempts} attempts"
        );
        let outcomes: Vec<Outcome> = repetitions(&summary).iter().map(|it| it.1).collect();
        assert_eq!(outcomes.len(), 5, "{attempts} attempts");
        assert_eq!(
            (outcomes[1], outcomes[3]),
            (Outcome::Exited, Outcome::Exited)
        );
    }
}

/// A generator that finds two of five windows slow.
fn slow_twice() -> FakeGenerator {
    let window = AtomicU64::new(0);
    FakeGenerator::counting(move |_: &Shot, mut account| {
        // The probe and the warm-up plan fewer requests than a window.
        let is_window = account.planned == Some(2000);
        if is_window && [1, 3].contains(&window.fetch_add(1, Ordering::Relaxed)) {
            account.by_status = [(200, 1000)].into();
            account.answered = Count::Observed(1000);
            account.body_bytes = 3000;
        }
        Ok(account)
    })
}

#[tokio::test(start_paused = true)]
async fn what_is_not_accepted_is_printed_with_its_value_beside_what_is() {
    for attempts in [1, 3] {
        for (accept, enter) in [(None, 5), (Some(Accept { held: true }), 3)] {
            let mut story = Story::of(five_rounds(attempts, accept));
            story.fakes.rig.generator = Arc::new(slow_twice());
            let summary = summary(story).await;
            let cell = &summary.cells[0];
            assert_eq!((cell.accepted, cell.attempted), (enter, 5));
            assert_eq!(summary.estimates[0].n, enter);
            let all = repetitions(&summary);
            assert_eq!(all.len(), 5);
            assert!(all.iter().all(|(has_value, ..)| *has_value), "{all:?}");
            let slow = all
                .iter()
                .filter(|(_, outcome, _)| *outcome == Outcome::NotHeld);
            let slow: Vec<bool> = slow.map(|(.., accepted)| *accepted).collect();
            assert_eq!(slow, [enter == 5; 2]);
        }
    }
}
