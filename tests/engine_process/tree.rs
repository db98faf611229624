//! Whole trees: counted and ended.

use std::time::Duration;

use loadlab::engine::{Engine, Exit, MemberChange};
use loadlab::model::{Budget, Known, Source};

use crate::rig::{Rig, alive, line, one_cpu, shell};

/// A daemon that forked twice into a session of its own is ended with its group.
async fn a_daemon_is_ended(name: &str, cgroups: bool) {
    let rig = Rig::new(name, cgroups);
    let daemon = "(setsid sh -c 'trap \"\" TERM; cd /; echo $$ >&2; exec sleep 1000' </dev/null >/dev/null &); exit 3";
    let (group, mut events) = rig.shell(daemon).await;
    let mut pid = None;
    let mut exit = None;
    while pid.is_none() || exit.is_none() {
        let waited = tokio::time::timeout(Duration::from_secs(20), events.recv()).await;
        match waited.unwrap().unwrap().what {
            MemberChange::Line(line) => {
                pid = Some(String::from_utf8(line).unwrap().parse::<i32>().unwrap());
            }
            MemberChange::Exited(status) => exit = Some(status),
            MemberChange::OutOfMemory => panic!("out of memory"),
        }
    }
    assert_eq!(exit, Some(Exit::Status(3)));
    let pid = pid.unwrap();
    assert!(alive(pid));
    assert_eq!(
        rig.engine.read(&group).await.unwrap().processes,
        Known::Value(1)
    );
    rig.end(group).await;
    assert!(!alive(pid));
}

#[tokio::test]
async fn daemons_are_ended_with_their_cgroup() {
    a_daemon_is_ended("daemon", true).await;
}

#[tokio::test]
async fn daemons_are_ended_with_their_tree() {
    a_daemon_is_ended("treedaemon", false).await;
}

/// CPU time that a shell used for a while, and its memory; the whole reading.
async fn work_is_counted(name: &str, cgroups: bool) {
    let rig = Rig::new(name, cgroups);
    let group = rig.reserve(Some(one_cpu()), Budget::default()).await;
    let mut events = rig.engine.events(&group).await.unwrap();
    // A child that works and ends, and after it the shell itself.
    let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    let script = format!("sh -c '{work}'; {work}; sleep 100 & echo done >&2; wait");
    rig.engine.start(&group, &shell(&script)).await.unwrap();
    let before = rig.engine.read(&group).await.unwrap();
    assert_eq!(line(&mut events).await, "done");
    let after = rig.engine.read(&group).await.unwrap();
    assert!(after.monotonic_ns > before.monotonic_ns);
    let (before, cpu) = (
        before.cpu.value().unwrap().cpu_ns,
        after.cpu.value().unwrap(),
    );
    assert!(cpu.cpu_ns >= before + 20_000_000, "{before} {cpu:?}");
    assert!(
        after.uncertainty_ns < 100_000_000,
        "{}",
        after.uncertainty_ns
    );
    let memory = after.memory.value().unwrap();
    assert!(
        (40_000..50 << 20).contains(&memory.anonymous_bytes),
        "{memory:?}"
    );
    assert_eq!(after.processes, Known::Value(2));
    assert!(
        after
            .run_delay_ns
            .value()
            .is_none_or(|delay| *delay < 60_000_000_000)
    );
    let limits = rig.engine.limits(&group).await.unwrap();
    assert_eq!(limits.cpus, Known::Value(one_cpu()));
    if cpu.source == Source::ProcessTree {
        assert_eq!(cpu.granularity_ns, 10_000_000);
    } else if let Known::Value(per_cpu) = &cpu.per_cpu_ns {
        let elsewhere: u64 = per_cpu
            .iter()
            .filter(|(cpu, _)| !one_cpu().contains(**cpu))
            .map(|(_, used)| used)
            .sum();
        assert!(elsewhere < 20_000_000, "{per_cpu:?}");
    }
    rig.end(group).await;
}

#[tokio::test]
async fn work_is_counted_by_the_cgroup() {
    work_is_counted("work", true).await;
}

#[tokio::test]
async fn work_is_counted_by_the_tree() {
    work_is_counted("treework", false).await;
}
