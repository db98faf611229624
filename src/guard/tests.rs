//! Each guard by an attempt that breaks it and nothing else.

mod bench;

pub(crate) use bench::account;

use super::{Context, OutcomeFacts, judge_recorded, outcome};
use crate::model::account::{Count, Late};
use crate::model::{
    Account, Bytes, Caveat, CpuSet, GuardCode, Known, LatencyValue, Outcome, Role, Source,
};
use crate::record::AttemptRecords;
use crate::record::event::{Event, Incident, Measured};
use bench::Bench;

/// What a change of a clean attempt must lead to: this breach, and no other.
#[track_caller]
fn breaks(code: GuardCode, bench: &Bench) {
    assert_eq!(
        bench.codes(),
        (vec![code], Vec::new()),
        "{:?}",
        bench.verdict()
    );
}

#[track_caller]
fn warns(code: Caveat, bench: &Bench) {
    assert_eq!(
        bench.codes(),
        (Vec::new(), vec![code]),
        "{:?}",
        bench.verdict()
    );
}

#[test]
fn a_clean_attempt_has_neither_breach_nor_caveat() {
    assert_eq!(Bench::new().verdict(), super::Verdict::default());
}

#[test]
fn guards_of_the_probe_fire() {
    let account = |reading: &mut crate::model::reading::ProbeReading, sent: u64| {
        reading.account = Known::Value(account(4_000, sent));
        reading.witness = Known::Value(sent);
        reading.cpu_ns = Known::Value(sent * 20_000);
    };
    breaks(
        GuardCode::ProbeBelowFloor,
        &Bench::new().probed(|it| account(it, 3_959)),
    );
    assert_eq!(Bench::new().probed(|it| account(it, 3_960)).codes().0, []);
    let dear = |it: &mut crate::model::reading::ProbeReading| {
        it.cpu_ns = it.cpu_ns.clone().map(|cpu_ns| cpu_ns * 13 / 10);
    };
    breaks(GuardCode::ProbeDrift, &Bench::new().probed(dear));
    // The same difference may be made by the steps of the counter alone.
    let coarse = |it: &mut crate::model::reading::ProbeReading| {
        it.cpu_unsure_ns = it.cpu_ns.value().map_or(0, |cpu_ns| cpu_ns * 3 / 10);
        dear(it);
    };
    assert_eq!(Bench::new().probed(coarse).codes().0, []);
    let slow = |it: &mut crate::model::reading::ProbeReading| {
        if let Known::Value(account) = &mut it.account {
            let quantile = crate::probe::verdict::PROBE_QUANTILE;
            account
                .latency
                .insert(quantile, LatencyValue::Exactly(5_000_000));
        }
    };
    breaks(GuardCode::ProbeDrift, &Bench::new().probed(slow));
    let busy = |it: &mut crate::model::reading::ProbeReading| {
        it.load_cpu_ns = Known::Value(it.window_ns * 95 / 100);
    };
    breaks(GuardCode::ProbeInvalid, &Bench::new().probed(busy));
    let blind = |it: &mut crate::model::reading::ProbeReading| {
        it.account = Known::Absent("no output".to_owned());
    };
    breaks(GuardCode::ProbeInvalid, &Bench::new().probed(blind));
    let work = |took_ns: u64| {
        Bench::new().probed(move |it| {
            it.fixed_work = Known::Value(crate::model::reading::FixedWork {
                per_cpu_ns: [(0, took_ns)].into(),
            });
        })
    };
    breaks(GuardCode::FixedWorkDrift, &work(6_200_000));
    warns(Caveat::FixedWorkChanged, &work(5_700_000));
}

#[test]
fn guards_of_the_machine_fire() {
    breaks(
        GuardCode::Swap,
        &Bench::new().measured(|it| it.after.host.swapped_pages = Known::Value(1)),
    );
    let steal = |share: u64| {
        Bench::new().measured(move |it| {
            let length = it.after.host.monotonic_ns - it.before.host.monotonic_ns;
            it.after.host.cpus.get_mut(&0).unwrap().steal_ns += length * share / 100;
        })
    };
    breaks(GuardCode::Steal, &steal(6));
    warns(Caveat::StealSeen, &steal(2));
    let step = |it: &mut Measured| it.after.host.realtime_ns += 2_000_000;
    breaks(GuardCode::ClockStep, &Bench::new().measured(step));
    // A machine that slept had its clock set by nobody.
    let asleep = |it: &mut Measured| {
        it.after.host.realtime_ns += 2_000_000;
        it.after.host.boottime_ns += 2_000_000;
    };
    assert_eq!(
        Bench::new().measured(asleep).codes(),
        (Vec::new(), Vec::new())
    );
    let asleep = |bench: &mut Bench| {
        if let Some(Event::BlockFinished(end)) = bench.events.last_mut()
            && let Known::Value(host) = &mut end.host
        {
            host.boottime_ns += 60_000_000_000;
        }
    };
    let mut bench = Bench::new();
    asleep(&mut bench);
    breaks(GuardCode::Suspended, &bench);
    let foreign = |it: &mut Measured| {
        let length = it.after.host.monotonic_ns - it.before.host.monotonic_ns;
        it.after.host.used_per_cpu_ns = it.after.host.used_per_cpu_ns.clone().map(|mut used| {
            *used.get_mut(&0).unwrap() += length * 6 / 100;
            used
        });
    };
    breaks(GuardCode::ForeignLoad, &Bench::new().measured(foreign));
}

#[test]
fn foreign_load_by_ticks_is_an_interval() {
    let by_ticks = |extra: u64| {
        Bench::new().measured(move |it| {
            it.before.host.used_per_cpu_ns = Known::Absent("not offered".to_owned());
            it.after.host.used_per_cpu_ns = Known::Absent("not offered".to_owned());
            let length = it.after.host.monotonic_ns - it.before.host.monotonic_ns;
            it.after.host.cpus.get_mut(&0).unwrap().busy_ns += length * extra / 100;
        })
    };
    warns(Caveat::ForeignUnknown, &by_ticks(5));
    breaks(GuardCode::ForeignLoad, &by_ticks(15));
}

#[test]
fn guards_of_groups_fire() {
    fn role(it: &mut Measured) -> &mut crate::model::reading::CpuReading {
        match &mut it.after.roles.get_mut(&Role::Candidate).unwrap().cpu {
            Known::Value(cpu) => cpu,
            Known::Absent(because) => panic!("{because}"),
        }
    }
    let candidate = Role::Candidate;
    let limits = |change: fn(&mut crate::model::reading::EffectiveLimits)| {
        Bench::new().measured(move |it| change(it.after.limits.get_mut(&Role::Candidate).unwrap()))
    };
    let mut bench = limits(|it| it.memory = Known::Value(Bytes(1 << 20)));
    let budget = bench
        .experiment
        .budgets
        .entry(candidate.clone())
        .or_default();
    budget.memory = Some(Bytes(256 << 20));
    breaks(GuardCode::LimitsChanged, &bench);
    breaks(
        GuardCode::CpusetMismatch,
        &limits(|it| it.cpus = Known::Value(CpuSet::of([0, 1]).unwrap())),
    );
    let throttled = |it: &mut Measured| role(it).throttled_ns = Known::Value(1);
    breaks(GuardCode::Throttled, &Bench::new().measured(throttled));
    for change in [
        (|it: &mut Measured| role(it).source = Source::ProcessTree) as fn(&mut Measured),
        |it| {
            it.after.roles.get_mut(&Role::Candidate).unwrap().cpu =
                Known::Absent("gone".to_owned());
        },
        |it| drop(it.before.roles.remove(&Role::Load)),
    ] {
        let codes = Bench::new().measured(change).codes().0;
        assert_eq!(codes, [GuardCode::CounterMissing]);
    }
}

#[test]
fn guards_of_the_generator_fire() {
    let busy = |share: u64, held: bool| {
        Bench::new().measured(move |it| {
            let length = it.after.host.monotonic_ns - it.before.host.monotonic_ns;
            let before = it.before.roles[&Role::Load].cpu.value().unwrap().cpu_ns;
            let reading = it.after.roles.get_mut(&Role::Load).unwrap();
            if let Known::Value(cpu) = &mut reading.cpu {
                cpu.cpu_ns = before + length * share / 100;
            }
            if let (Known::Value(account), false) = (&mut it.account, held) {
                account.late = Late::Exactly(account.answered.get() / 10);
            }
        })
    };
    breaks(GuardCode::GeneratorSaturated, &busy(95, false));
    warns(Caveat::GeneratorBusy, &busy(95, true));
    warns(Caveat::GeneratorBusy, &busy(75, false));
    let waited = |it: &mut Measured| {
        if let Known::Value(account) = &mut it.account {
            account.run_delay_ns = Known::Value(1 << 40);
        }
    };
    warns(Caveat::GeneratorLate, &Bench::new().measured(waited));
    let paused = |thousandths: u64| {
        Bench::new().measured(move |it| {
            let pause = it.window_ns * thousandths / 1_000;
            if let Known::Value(account) = &mut it.account {
                account.longest_pause_ns = Known::Value(pause);
            }
        })
    };
    warns(Caveat::GeneratorLate, &paused(11));
    assert!(!paused(10).codes().1.contains(&Caveat::GeneratorLate));
}

#[test]
fn guards_of_counts_fire() {
    fn counts(it: &mut Measured) -> &mut Account {
        match &mut it.account {
            Known::Value(account) => account,
            Known::Absent(because) => panic!("{because}"),
        }
    }
    for change in [
        (|it: &mut Measured| *counts(it).by_status.entry(500).or_default() += 1)
            as fn(&mut Measured),
        |it| counts(it).sent = Count::Observed(1),
        |it| {
            if let Some(Known::Value(witness)) = &mut it.witness {
                witness.after += 1;
            }
        },
        |it| {
            if let Some(Known::Value(witness)) = &mut it.witness {
                witness.after = witness.before;
            }
        },
    ] {
        breaks(
            GuardCode::AccountingMismatch,
            &Bench::new().measured(change),
        );
    }
    let unknown = |it: &mut Measured| counts(it).late = Late::AtMost(16);
    warns(Caveat::LateUnknown, &Bench::new().measured(unknown));
    let lost = |it: &mut Measured| it.account = Known::Absent("cut off".to_owned());
    breaks(GuardCode::CounterMissing, &Bench::new().measured(lost));
}

#[test]
fn an_attempt_without_an_end_was_interrupted() {
    let mut bench = Bench::new();
    bench.events.pop();
    assert_eq!(bench.codes(), (Vec::new(), Vec::new()));
    let mut attempt = AttemptRecords::default();
    for event in &bench.events {
        attempt.add(event);
    }
    let context = Context {
        experiment: &bench.experiment,
        calibrated: None,
    };
    let codes: Vec<_> = judge_recorded(&attempt, &context)
        .breaches
        .iter()
        .map(|it| it.code)
        .collect();
    assert_eq!(codes, [GuardCode::Interrupted]);
}

#[test]
fn outcomes_follow_their_order() {
    let bench = Bench::new();
    let measured = bench.events.iter().find_map(|event| match event {
        Event::Measured(measured) => Some(measured.as_ref().clone()),
        _ => None,
    });
    let clean = measured.unwrap();
    let shown = |change: &dyn Fn(&mut Measured, &mut Account)| {
        let mut measured = clean.clone();
        let mut account = measured.account.value().unwrap().clone();
        change(&mut measured, &mut account);
        measured.account = Known::Value(account);
        outcome(&OutcomeFacts::of(&measured, &bench.experiment).unwrap()).0
    };
    let incident = |outcome| Incident {
        outcome,
        detail: "seen".to_owned(),
    };
    assert_eq!(shown(&|_, _| {}), Outcome::Held);
    assert_eq!(
        shown(&|_, account| account.late = Late::Exactly(41)),
        Outcome::NotHeld
    );
    assert_eq!(
        shown(&|_, account| account.late = Late::AtMost(40)),
        Outcome::Held
    );
    let failing =
        |account: &mut Account| *account.errors.entry("refused".to_owned()).or_default() = 1;
    assert_eq!(shown(&|_, account| failing(account)), Outcome::Errors);
    let status = |account: &mut Account| account.by_status = [(200, 3_999), (500, 1)].into();
    assert_eq!(
        shown(&|_, account| status(account)),
        Outcome::UnexpectedStatus
    );
    let wrong = |it: &mut Measured| it.answers[0].difference = Some("another body".to_owned());
    assert_eq!(shown(&|it, _| wrong(it)), Outcome::WrongAnswer);
    for seen in [
        Outcome::Oom,
        Outcome::Exited,
        Outcome::Hung,
        Outcome::Restarted,
    ] {
        let all = |it: &mut Measured, account: &mut Account| {
            it.incidents = vec![incident(Outcome::LimitReached), incident(seen)];
            failing(account);
            wrong(it);
        };
        assert_eq!(shown(&all), seen);
    }
    let limit =
        |it: &mut Measured, _: &mut Account| it.incidents = vec![incident(Outcome::LimitReached)];
    assert_eq!(shown(&limit), Outcome::LimitReached);
}
