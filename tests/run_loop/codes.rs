//! Every code that a run without containers and databases can record, each by a fault that is injected
//! and goes through the whole loop.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::experiment::only_one_block;
use crate::story::{Story, answering, body};
use loadlab::engine::fake::{Effect, FakeAnswer};
use loadlab::engine::{Exit, Trouble};
use loadlab::guard::Rules;
use loadlab::load::fake::FakeGenerator;
use loadlab::model::account::{Count, Late};
use loadlab::model::candidate::Lifetime;
use loadlab::model::reading::HostReading;
use loadlab::model::{
    Account, Experiment, GuardCode, Known, LoadShape, Outcome, Role, Service, Shot,
};
use loadlab::run::fake::{FakePins, FakeWork};
use loadlab::run::{Cancel, Unobserved};

/// What a fault is recorded as, and the story with it.
struct Row {
    code: &'static str,
    story: fn() -> Story,
    /// When a person asks to stop; absent: never.
    stops_after: Option<Duration>,
}

const fn row(code: &'static str, story: fn() -> Story) -> Row {
    Row {
        code,
        story,
        stops_after: None,
    }
}

/// Codes that need what is not here, each with what it needs.
const ELSEWHERE: [(&str, &str); 3] = [
    ("data_mismatch", "a data template"),
    ("manual", "a person who excludes a block"),
    ("connections_over_budget", "a database"),
];

/// One block, one try.
fn one_try() -> Experiment {
    Experiment {
        attempts: 1,
        ..only_one_block()
    }
}

fn plain() -> Story {
    Story::of(one_try())
}

/// The candidate is started under an effect.
fn candidate(effect: Effect) -> Story {
    plain().fault("start", Role::Candidate, "b0000a1", effect)
}

/// The generator of the measurement is started under an effect; its warm-up is `w01`.
fn generator(effect: Effect) -> Story {
    plain().fault("start", Role::Load, "b0000a1w02", effect)
}

/// The probe before the block is started under an effect.
fn probe(effect: Effect) -> Story {
    plain().fault("start", Role::Probe, "b0000a1pb", effect)
}

/// The generator counts otherwise for requests of this path: `/page` is the measurement's, `/` the
/// probe's.
fn counting(
    mut story: Story,
    path: &'static str,
    change: impl Fn(&mut Account) + Send + Sync + 'static,
) -> Story {
    let counted = move |shot: &Shot, mut account: Account| {
        if shot.request.path == path {
            change(&mut account);
        }
        Ok(account)
    };
    story.fakes.rig.generator = Arc::new(FakeGenerator::counting(counted));
    story
}

fn answered(account: &mut Account, count: u64) {
    account.by_status = [(200, count)].into();
    account.answered = Count::Observed(count);
    account.body_bytes = 3 * count;
}

/// The machine's readings, numbered from 0, are changed.
fn host(change: fn(&mut HostReading, u64)) -> Story {
    let mut story = plain();
    story.fakes.host(move |number, mut host| {
        change(&mut host, number);
        host
    });
    story
}

fn answers(rule: fn(&str) -> Option<FakeAnswer>) -> Story {
    let fakes = answering(move |asked| {
        let in_block = asked.part.starts_with("b0000a1");
        in_block.then(|| rule(&asked.path)).flatten()
    });
    Story::on(one_try(), fakes)
}

fn works(took_ns: fn(u64) -> u64) -> Story {
    let mut story = plain();
    story.fakes.rig.fixed_work = Arc::new(FakeWork::taking(took_ns));
    story
}

/// The programs change before the block, or while it is measured.
fn programs_change(look: u64) -> Story {
    let mut story = plain();
    story.fakes.rig.pinned = Arc::new(FakePins::changing(look));
    story
}

fn with_service() -> Story {
    let mut experiment = one_try();
    let service = Service {
        name: "store".parse().unwrap(),
        title: "Store".to_owned(),
        lifetime: Lifetime::Block,
        definition: experiment.candidates[0].definition.clone(),
    };
    experiment.services.insert(service.name.clone(), service);
    let role = Role::Service("store".parse().unwrap());
    let ends = Effect::Ends(IN_WINDOW, Exit::Status(1));
    Story::of(experiment).fault("start", role, "b0000a1", ends)
}

/// A closed loop, which plans no rate.
fn ceiling() -> Story {
    let mut experiment = one_try();
    let phase = &mut experiment.phases[0];
    let LoadShape::FixedRate { common, .. } = &phase.load else {
        return Story::of(experiment);
    };
    phase.load = LoadShape::Ceiling {
        scenarios: vec!["page".parse().unwrap()],
        connections: vec![4],
        common: common.clone(),
    };
    Story::of(experiment)
}

/// The candidate takes connections and answers nothing from the middle of its window on.
fn hangs() -> Story {
    generator(Effect::NeverEnds).fault(
        "start",
        Role::Candidate,
        "b0000a1",
        Effect::Silent(IN_WINDOW),
    )
}

/// After the start of the candidate: its window is open from 1.5 to 3.5 seconds.
const IN_WINDOW: Duration = Duration::from_millis(2500);

/// Each code with the faults that bring it about.
const ROWS: &[Row] = &[
    // Guards.
    row("probe_below_floor", || {
        counting(plain(), "/", |account| account.late = Late::Exactly(500))
    }),
    row("probe_drift", || probe(Effect::Uses(100_000))),
    row("probe_invalid", || {
        counting(plain(), "/", |account| {
            account.errors = [("connection reset".to_owned(), 1)].into();
        })
    }),
    row("probe_invalid", || {
        let story = plain();
        story.fault("start", Role::Load, "b0000a1pb", Effect::Uses(950_000))
    }),
    row("generator_saturated", || {
        let story = generator(Effect::Uses(950_000));
        counting(story, "/page", |account| answered(account, 1800))
    }),
    row("limits_changed", || {
        plain().fault("limits", Role::Candidate, "b0000a1", Effect::OtherLimit)
    }),
    row("cpuset_mismatch", || {
        plain().fault("limits", Role::Candidate, "b0000a1", Effect::OtherCpus)
    }),
    row("throttled", || candidate(Effect::Throttled(Duration::ZERO))),
    row("throttled", || generator(Effect::Throttled(Duration::ZERO))),
    row("steal", || {
        host(|host, number| {
            for times in host.cpus.values_mut() {
                times.steal_ns += number * 1_000_000_000;
            }
        })
    }),
    row("swap", || {
        host(|host, number| host.swapped_pages = Known::Value(number))
    }),
    row("foreign_load", || {
        host(|host, number| {
            if let Known::Value(used) = &mut host.used_per_cpu_ns {
                *used.entry(0).or_default() += number * 500_000_000;
            }
        })
    }),
    row("fixed_work_drift", || {
        // Calibration does it four times: by itself, then in each of three readings.
        works(|number| if number < 4 { 2_000_000 } else { 2_500_000 })
    }),
    row("fixed_work_drift", || {
        works(|number| if number < 4 { 2_000_000 } else { 1_500_000 })
    }),
    row("clock_step", || {
        host(|host, number| host.realtime_ns += number * 5_000_000)
    }),
    row("clock_step", || {
        host(|host, number| host.realtime_ns -= number * 5_000_000)
    }),
    row("suspended", || {
        host(|host, number| {
            // Time asleep is no step of the wall clock: that goes on.
            host.boottime_ns += number * 10_000_000;
            host.realtime_ns += number * 10_000_000;
        })
    }),
    row("image_mismatch", || programs_change(0)),
    row("image_mismatch", || programs_change(1)),
    row("service_lost", with_service),
    row("accounting_mismatch", || {
        counting(plain(), "/page", |account| {
            account.answered = Count::Observed(10);
        })
    }),
    row("counter_missing", || {
        candidate(Effect::CountsAnew(Duration::from_millis(3200)))
    }),
    row("engine_lost", || generator_fails(Trouble::Lost)),
    row("harness_error", || generator_fails(Trouble::Failed)),
    Row {
        stops_after: Some(Duration::from_secs(7)),
        ..row("interrupted", plain)
    },
    // Outcomes.
    row("held", plain),
    row("not_held", || {
        counting(plain(), "/page", |account| answered(account, 1800))
    }),
    row("completed", ceiling),
    row("errors", || {
        counting(plain(), "/page", |account| {
            account.errors = [("connection reset".to_owned(), 7)].into();
        })
    }),
    row("unexpected_status", || {
        counting(plain(), "/page", |account| {
            account.by_status = [(200, 1990), (500, 10)].into();
        })
    }),
    row("wrong_answer", || {
        answers(|path| (path == "/page").then(|| body("no\n")))
    }),
    row("wrong_answer", || {
        counting(plain(), "/page", |account| account.body_bytes += 1)
    }),
    row("contract_failed", || {
        answers(|path| (path == "/contract").then(|| body("other\n")))
    }),
    row("not_ready", || candidate(Effect::Silent(Duration::ZERO))),
    row("not_ready", || candidate(Effect::Fail(Trouble::NoProgram))),
    row("exited", || {
        candidate(Effect::Ends(IN_WINDOW, Exit::Signal(11)))
    }),
    row("hung", hangs),
    row("oom", || candidate(Effect::OutOfMemory(IN_WINDOW))),
    row("restarted", || {
        candidate(Effect::Restarts(IN_WINDOW, Exit::Status(1)))
    }),
    row("escaped_cpu", || candidate(Effect::Uses(0))),
    row("limit_reached", || candidate(Effect::Forks(64))),
];

fn generator_fails(trouble: Trouble) -> Story {
    generator(Effect::Fail(trouble))
}

/// What a story's only try is recorded as: its breaches, else what was measured, else its end.
async fn recorded(mut story: Story, stops_after: Option<Duration>) -> BTreeSet<String> {
    let cancel = Cancel::default();
    let stop = cancel.clone();
    let asking = async move {
        if let Some(after) = stops_after {
            tokio::time::sleep(after).await;
            stop.request();
        }
    };
    let mut observer = Unobserved;
    let (closing, ()) = tokio::join!(story.run_with(&mut observer, &cancel), asking);
    closing.unwrap();
    assert_eq!(story.fakes.engine.unmet(), 0, "faults that nothing met");
    assert!(story.fakes.engine.held().is_empty(), "groups left behind");
    let ends = story.ends();
    let [end] = ends.as_slice() else {
        return ends.into_iter().collect();
    };
    let words: Vec<&str> = end.split(' ').skip(1).collect();
    let breaches = words.iter().filter(|word| is_guard(word));
    let breaches: BTreeSet<String> = breaches.map(|word| (*word).to_owned()).collect();
    if !breaches.is_empty() {
        return breaches;
    }
    let measured = story.outcomes().into_iter().map(str::to_owned);
    let ended = words.into_iter().map(str::to_owned);
    measured.chain(ended).collect()
}

fn is_guard(word: &str) -> bool {
    GuardCode::ALL.iter().any(|guard| guard.code() == word)
}

#[tokio::test(start_paused = true)]
async fn every_fault_is_recorded_under_its_code_and_no_other() {
    let mut others = Vec::new();
    for (number, row) in ROWS.iter().enumerate() {
        let found = recorded((row.story)(), row.stops_after).await;
        if found != BTreeSet::from([row.code.to_owned()]) {
            others.push(format!("row {number}, {}: {found:?}", row.code));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn every_code_has_a_fault_or_a_reason_to_have_none() {
    let guards = GuardCode::ALL.iter().map(|guard| guard.code());
    let outcomes = Outcome::ALL.iter().map(|outcome| outcome.code());
    let codes: BTreeSet<&str> = guards.chain(outcomes).collect();
    let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.code).collect();
    let elsewhere: BTreeSet<&str> = ELSEWHERE.iter().map(|(code, _)| *code).collect();
    assert!(rows.is_disjoint(&elsewhere), "{rows:?}");
    let named: BTreeSet<&str> = rows.union(&elsewhere).copied().collect();
    assert_eq!(named, codes);
}

/// The guards that are functions over readings; the others are seen by whoever measures.
fn judged_by_readings(code: &str) -> Option<GuardCode> {
    let seen_by_the_loop = [
        "image_mismatch",
        "service_lost",
        "engine_lost",
        "interrupted",
        "harness_error",
    ];
    let guard = GuardCode::ALL.iter().find(|guard| guard.code() == code)?;
    (!seen_by_the_loop.contains(&code)).then_some(*guard)
}

#[tokio::test(start_paused = true)]
async fn with_its_guard_taken_out_a_fault_is_not_seen() {
    let (mut taken_out, mut seen) = (BTreeSet::new(), Vec::new());
    for (number, row) in ROWS.iter().enumerate() {
        let Some(guard) = judged_by_readings(row.code) else {
            continue;
        };
        let mut story = (row.story)();
        story.fakes.rig.rules = Rules::without(guard);
        let found = recorded(story, row.stops_after).await;
        let still = found.iter().find(|code| is_guard(code));
        seen.extend(still.map(|code| format!("row {number}, {}: {code}", row.code)));
        taken_out.insert(guard);
    }
    assert!(seen.is_empty(), "{seen:#?}");
    assert_eq!(taken_out.len(), 15, "{taken_out:?}");
}
