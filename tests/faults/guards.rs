//! Faults of the instrument: each makes its block invalid.

use std::time::Duration;

use crate::bench::Case;
use crate::cases::{fewer, machine, output, plain, with_service};
use crate::experiment::{common, rate};
use crate::hand::When;
use crate::rows::{Row, row};
use loadlab::model::{Known, Nanoseconds, Share};
use rustix::process::Signal;

pub const GUARDS: &[Row] = &[
    row(
        "foreign_load",
        "a burner of 0.3 core on the candidate's core",
        || {
            plain()
                .strict(|guards, usual| guards.foreign_load = usual.foreign_load)
                .hand(When::Window, 0, |reach| reach.burn(0, 30))
        },
    ),
    row(
        "limits_changed",
        "another process limit, by another hand",
        || {
            plain().hand(When::Window, 400, |reach| {
                reach.write("candidate", &[("pids.max", "50")]);
            })
        },
    ),
    row(
        "limits_changed",
        "another memory limit, by another hand",
        || {
            plain().hand(When::Window, 400, |reach| {
                let limits = [
                    ("memory.limit_in_bytes", "134217728"),
                    ("memory.max", "134217728"),
                ];
                reach.write("candidate", &limits);
            })
        },
    ),
    row("cpuset_mismatch", "other CPUs, by another hand", || {
        plain().hand(When::Window, 400, |reach| {
            reach.write("candidate", &[("cpuset.cpus", "1")]);
        })
    }),
    row(
        "throttled",
        "a quota of a tenth of a core, by another hand",
        || {
            Case::of(&["--work", "400us"]).hand(When::Window, 200, |reach| {
                let quotas = [("cpu.cfs_quota_us", "10000"), ("cpu.max", "10000 100000")];
                reach.write("candidate", &quotas);
            })
        },
    ),
    Row {
        quiet: true,
        ..row(
            "probe_drift",
            "the reference nginx stands still for 200 ms",
            || {
                plain()
                    .strict(|guards, _| guards.probe_drift_at_least = Share::percent(1000))
                    .hand(When::Probe, 150, |reach| {
                        reach.hold("probe", Duration::from_millis(200));
                    })
            },
        )
    },
    Row {
        also: &["probe_invalid"],
        quiet: true,
        ..row(
            "probe_below_floor",
            "the reference nginx stands still to the end",
            || {
                plain()
                    .with(|experiment| experiment.probe.at_least = rate("490/s"))
                    .hand(When::Probe, 200, |reach| {
                        reach.hold("probe", Duration::from_millis(600));
                    })
            },
        )
    },
    Row {
        also: &["accounting_mismatch"],
        ..row(
            "probe_invalid",
            "the workers of the reference nginx are killed, ten times a second",
            || {
                plain().hand(When::Probe, 50, |reach| {
                    reach.kill_last("probe", Duration::from_secs(1));
                })
            },
        )
    },
    Row {
        also: &["probe_invalid"],
        ..row(
            "generator_saturated",
            "a rate that is not held while the generator is at its limit",
            || {
                Case::of(&["--work", "5ms"]).with(|experiment| {
                    experiment.guards.generator_busy_invalid = Share(1_000);
                })
            },
        )
    },
    row(
        "steal",
        "readings of a hypervisor that takes a second each time",
        || {
            machine(|host, number| {
                for times in host.cpus.values_mut() {
                    times.steal_ns += number * 1_000_000_000;
                }
            })
            .strict(|guards, usual| guards.steal_invalid = usual.steal_invalid)
        },
    ),
    row("swap", "readings of a machine that swaps", || {
        machine(|host, number| host.swapped_pages = Known::Value(number))
            .strict(|guards, usual| guards.swap_pages = usual.swap_pages)
    }),
    row(
        "clock_step",
        "readings of a wall clock that is set back",
        || {
            machine(|host, number| host.realtime_ns -= number * 5_000_000)
                .strict(|guards, usual| guards.clock_step = usual.clock_step)
        },
    ),
    row("suspended", "readings of a machine that sleeps", || {
        machine(|host, number| {
            host.boottime_ns += number * 10_000_000;
            host.realtime_ns += number * 10_000_000;
        })
        .strict(|guards, usual| {
            guards.suspended = usual.suspended;
            guards.clock_step = usual.clock_step;
        })
    }),
    row(
        "fixed_work_drift",
        "a core that is slower by half after calibration",
        || {
            Case {
                slow_from: Some(2),
                ..plain()
            }
            .strict(|guards, usual| guards.fixed_work_invalid = usual.fixed_work_invalid)
        },
    ),
    row(
        "counter_missing",
        "a generator's output with half of the answers",
        || output(fewer),
    ),
    row(
        "counter_missing",
        "a generator's output that is cut in half",
        || output(|bytes| bytes.truncate(bytes.len() / 2)),
    ),
    row(
        "counter_missing",
        "a counter that begins at 0 again",
        || {
            let case = Case::of(&["--work", "1ms"]);
            let case = case.with(|experiment| {
                common(experiment).warmup = Nanoseconds::seconds(1);
            });
            case.hand(When::Window, 900, |reach| {
                reach.write("candidate", &[("cpuacct.usage", "0")]);
            })
        },
    ),
    row(
        "accounting_mismatch",
        "somebody else asks the candidate 50 times",
        || plain().hand(When::Window, 600, |reach| reach.ask("candidate", 50)),
    ),
    row("service_lost", "a service is killed", || {
        with_service().hand(When::Window, 400, |reach| {
            reach.signal("store", Signal::KILL);
        })
    }),
    row("harness_error", "the generator is killed", || {
        plain().hand(When::Window, 400, |reach| {
            reach.signal("load", Signal::KILL);
        })
    }),
    row("interrupted", "a person asks to stop in the window", || {
        Case {
            stop: Some(Duration::from_millis(1700)),
            ..plain()
        }
    }),
];
