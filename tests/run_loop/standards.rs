//! Planted servers among the blocks: the same steps, nothing of the experiment's own asked of them.

use loadlab::engine::fake::FakeAnswer;
use loadlab::load::stub;
use loadlab::model::Experiment;
use loadlab::model::standards::{BODY, Difference, Standards};
use loadlab::model::{Nanoseconds, Share};
use loadlab::record::Event;

use crate::experiment::{common, experiment, rate};
use crate::story::{Story, answering};

fn with_standards() -> Experiment {
    let mut story = experiment();
    common(&mut story).keep_requests = 0;
    let cpu = |percent| Difference::Cpu {
        by: Share::percent(percent),
    };
    let load = (
        story.phases[0].name.clone(),
        rate("500/s"),
        Share::percent(80),
    );
    let work = Nanoseconds(150_000);
    let standards = Standards::plant(&story.name, load, work, &[cpu(0), cpu(5)]);
    Experiment {
        standards: Some(standards),
        ..story
    }
}

/// Servers that answer as the stub does where a planted server is asked.
fn story() -> Story {
    let fakes = answering(|asked| {
        let body = match asked.path.as_str() {
            "/" => vec![b's'; usize::try_from(BODY.0).unwrap()],
            stub::COUNT_PATH => {
                let count = stub::StubCount {
                    answered: asked.answered,
                    cpu_ns: 1,
                };
                serde_json::to_vec(&count).unwrap()
            }
            _ => return None,
        };
        Some(FakeAnswer { status: 200, body })
    });
    Story::on(with_standards(), fakes)
}

#[tokio::test(start_paused = true)]
async fn planted_servers_are_measured_among_the_candidates_with_their_own_request() {
    let mut story = story();
    let closing = story.run().await.unwrap();
    assert!(closing.complete, "{closing:?}");
    let ends: Vec<String> = story.ends();
    let planned: Vec<String> = (story.plan.blocks.iter())
        .map(|block| format!("{}.a1", block.id))
        .collect();
    assert_eq!(ends, planned);
    assert_eq!(story.outcomes(), ["held"; 10]);
    let events = &story.memory.events;
    for event in events {
        match event {
            Event::Measured(measured) => {
                let planted = measured
                    .attempt
                    .block
                    .candidate
                    .as_str()
                    .starts_with("standard-");
                let scenario = measured.id.scenario.as_str();
                assert_eq!(scenario == "standard", planted, "{}", measured.attempt);
                let asked = &measured.answers[0].request;
                assert_eq!(asked.as_str() == "GET /", planted, "{asked}");
            }
            Event::ContractChecked(checked) => {
                let name = checked.attempt.block.candidate.as_str();
                let planted = name.starts_with("standard-");
                assert_eq!(checked.checks.is_empty(), planted, "{name}");
            }
            _ => {}
        }
    }
    let rehearsed: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::Rehearsed(rehearsed) => Some(rehearsed.candidate.as_str()),
            _ => None,
        })
        .collect();
    let expected = ["one", "two", "standard-01", "standard-02", "standard-03"];
    assert_eq!(rehearsed, expected);
}

/// A guard that is breached in a planted server's block has it tried again, like any other.
#[tokio::test(start_paused = true)]
async fn the_same_guards_judge_planted_servers() {
    let mut story = story();
    let standard = story
        .plan
        .blocks
        .iter()
        .find(|block| block.standard)
        .unwrap();
    let attempt = format!("{}.a1", standard.id);
    let position = story
        .plan
        .blocks
        .iter()
        .position(|block| block.standard)
        .unwrap();
    story = story.fault(
        "start",
        loadlab::model::Role::Probe,
        &format!("b{position:04}a1pb"),
        loadlab::engine::fake::Effect::Fail(loadlab::engine::Trouble::Failed),
    );
    let closing = story.run().await.unwrap();
    assert!(closing.complete);
    let ends = story.ends();
    assert!(
        ends.contains(&format!("{attempt} harness_error")),
        "{ends:?}"
    );
    assert!(ends.contains(&attempt.replace(".a1", ".a2")), "{ends:?}");
}
