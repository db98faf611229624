//! What counts and answers make of a measurement.

use std::time::Duration;

use crate::experiment::{experiment, only_one_block};
use crate::story::{Story, answering, body};
use loadlab::engine::Exit;
use loadlab::engine::fake::Effect;
use loadlab::engine::fake::FakeAnswer;
use loadlab::load::Unreadable;
use loadlab::load::fake::FakeGenerator;
use loadlab::model::Account;
use loadlab::model::Outcome;
use loadlab::model::Role;
use loadlab::model::Shot;
use loadlab::model::account::Count;
use loadlab::model::account::Late;
use loadlab::run::Unmeasured;

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
async fn the_closing_names_a_candidate_that_never_gave_a_number() {
    let exits = || Effect::Ends(Duration::ZERO, Exit::Status(3));
    let mut story = Story::of(experiment());
    let theirs: Vec<usize> = (0..story.plan.blocks.len())
        .filter(|position| story.plan.blocks[*position].id.candidate.as_str() == "two")
        .collect();
    for position in &theirs {
        let part = format!("b{position:04}a1");
        story = story.fault("start", Role::Candidate, &part, exits());
    }
    let closing = story.run().await.unwrap();
    assert_eq!(
        (closing.complete, closing.valid, closing.invalid),
        (true, 4, 0)
    );
    let never = Unmeasured {
        candidate: "two".parse().unwrap(),
        valid: 2,
        outcomes: [(Outcome::Exited, 2)].into(),
    };
    assert_eq!(closing.unmeasured, [never]);
    // A run that is complete already says the same.
    assert_eq!(story.run().await.unwrap(), closing);
    // Whoever measured something is not named.
    let closing = Story::of(experiment()).run().await.unwrap();
    assert_eq!(closing.unmeasured, []);
}
