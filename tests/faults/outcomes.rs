//! What a candidate does, and what is done to it: results.

use std::time::Duration;

use crate::bench::Case;
use crate::cases::{budget, ceiling, exact, fails_contract, pause_shows, plain, watch_shows};
use crate::experiment::common;
use crate::hand::When;
use crate::rows::{Row, row};
use loadlab::model::{Bytes, Nanoseconds};
use rustix::process::Signal;

pub const OUTCOMES: &[Row] = &[
    row("held", "none", plain),
    row("completed", "none, at a ceiling", ceiling),
    Row {
        or: Some("not_held"),
        seen: watch_shows,
        ..row("held", "the generator stands still for 500 ms", || {
            plain().hand(When::Window, 400, |reach| {
                reach.hold("load", Duration::from_millis(500));
            })
        })
    },
    Row {
        or: Some("not_held"),
        seen: pause_shows,
        ..row("held", "the candidate stands still for 500 ms", || {
            plain().hand(When::Window, 500, |reach| {
                reach.hold("candidate", Duration::from_millis(500));
            })
        })
    },
    row("not_held", "work that fills the core", || {
        Case::of(&["--work", "5ms"])
    }),
    row("errors", "dropped answers", || {
        Case::of(&["--drop-every", "50"])
    }),
    row(
        "unexpected_status",
        "another status every 50 answers",
        || Case::of(&["--wrong-every", "50", "--wrong-status", "500"]),
    ),
    row(
        "wrong_answer",
        "bodies of another length every 50 answers",
        || exact(&["--wrong-every", "50", "--wrong-body", "3B"]),
    ),
    row("wrong_answer", "other bodies of the same length", || {
        exact(&["--wrong-every", "1"])
    }),
    row(
        "contract_failed",
        "a status that the contract does not allow",
        fails_contract,
    ),
    row("not_ready", "it listens after the time it has", || {
        Case::of(&["--listen-after", "30s"]).with(|experiment| {
            let ready = &mut experiment.candidates[0].definition.ready;
            if let loadlab::model::candidate::Ready::Http { within, .. } = ready {
                *within = Nanoseconds::milliseconds(500);
            }
        })
    }),
    row("exited", "it exits after 200 answers", || {
        Case::of(&["--exit-after", "200"])
    }),
    row("exited", "it is killed", || {
        plain().hand(When::Window, 400, |reach| {
            reach.signal("candidate", Signal::KILL);
        })
    }),
    row("hung", "it answers nothing after 200 answers", || {
        Case::of(&["--silent-after", "200"])
            .with(|experiment| common(experiment).timeout = Nanoseconds::seconds(1))
    }),
    row("oom", "it eats 2 MiB with every request", || {
        Case::of(&["--eat", "2MiB"]).with(|experiment| budget(experiment, Bytes(96 << 20), 64))
    }),
    row(
        "escaped_cpu",
        "a process outside of its group burns 0.3 core",
        || {
            Case::of(&["--escape", "30%"])
                .strict(|guards, usual| guards.foreign_load = usual.foreign_load)
        },
    ),
    row("limit_reached", "it forks beyond its budget", || {
        Case::of(&["--child-every", "20", "--child-time", "2s"])
            .with(|experiment| budget(experiment, Bytes(256 << 20), 16))
    }),
];
