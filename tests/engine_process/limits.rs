//! Limits: set, read back, and felt.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use loadlab::engine::{Engine, Exit, Group, MemberChange, MemberEvent, RoleSpec, Trouble};
use loadlab::model::reading::MemberReading;
use loadlab::model::{Budget, Bytes, CpuSet, Known, Role};
use tokio::sync::mpsc;

use crate::rig::{Rig, can_limit, cgroups_of, change, line, main, one_cpu, shell};

#[tokio::test]
async fn limits_are_set_and_read_back() {
    let rig = Rig::new("limits", true);
    if !can_limit(&rig) {
        return;
    }
    let budget = Budget {
        memory: Some(Bytes(64 << 20)),
        processes: Some(20),
        ..Budget::default()
    };
    let group = rig.reserve(Some(one_cpu()), budget).await;
    let mut events = rig.engine.events(&group).await.unwrap();
    let script = "cat /proc/self/cgroup; grep Cpus_allowed_list /proc/self/status >&2; sleep 100";
    rig.engine.start(&group, &shell(script)).await.unwrap();
    let limits = rig.engine.limits(&group).await.unwrap();
    assert_eq!(limits.cpus, Known::Value(one_cpu()));
    assert_eq!(limits.memory, Known::Value(Bytes(64 << 20)));
    assert_eq!(limits.processes, Known::Value(20));
    assert_eq!(
        line(&mut events).await,
        format!("Cpus_allowed_list:\t{}", one_cpu())
    );
    let log = rig.end(group).await;
    let path = format!("loadlab/{}/b1a1-candidate", rig.entry);
    assert!(log.matches(&path).count() >= 1, "{log}");
}

#[tokio::test]
async fn a_limit_that_the_kernel_refuses_is_an_error() {
    let rig = Rig::new("refused", true);
    if !can_limit(&rig) {
        return;
    }
    let role = RoleSpec {
        role: Role::Candidate,
        cpus: CpuSet::of([8191]),
        budget: Budget::default(),
        members: Vec::new(),
    };
    let error = rig.engine.reserve(&role, &rig.tag()).await.unwrap_err();
    assert_eq!(error.kind, Trouble::Unfit);
    assert!(
        error.to_string().contains("cannot write `8191` to"),
        "{error}"
    );
    assert_eq!(cgroups_of(&rig.entry), BTreeSet::new());
    assert!(rig.engine.leftovers().await.unwrap().is_empty());
}

/// A shell that doubles a text until it is too long.
const HOG: &str = "x=0123456789abcdef; while :; do x=$x$x; done";

/// A group with little memory that runs a script.
async fn with_little_memory(rig: &Rig, script: &str) -> (Group, mpsc::Receiver<MemberEvent>) {
    let budget = Budget {
        memory: Some(Bytes(16 << 20)),
        ..Budget::default()
    };
    let group = rig.reserve(None, budget).await;
    let events = rig.engine.events(&group).await.unwrap();
    rig.engine.start(&group, &shell(script)).await.unwrap();
    (group, events)
}

#[tokio::test]
async fn too_much_memory_is_killed_and_told() {
    let rig = Rig::new("memory", true);
    if !can_limit(&rig) {
        return;
    }
    let (group, mut events) = with_little_memory(&rig, HOG).await;
    assert_eq!(change(&mut events).await, MemberChange::OutOfMemory);
    let killed = MemberChange::Exited(Exit::Signal(9));
    assert_eq!(change(&mut events).await, killed);
    let reading = rig.engine.read(&group).await.unwrap();
    let expected = MemberReading {
        name: main(),
        alive: false,
        ended: Some("ended by signal 9".to_owned()),
        oom_kills: Known::Value(1),
    };
    assert_eq!(reading.members, [expected]);
    rig.end(group).await;
}

#[tokio::test]
async fn a_worker_killed_for_memory_is_told_while_its_parent_lives() {
    let rig = Rig::new("worker", true);
    if !can_limit(&rig) {
        return;
    }
    let script = format!("({HOG}) & while :; do sleep 1; done");
    let (group, mut events) = with_little_memory(&rig, &script).await;
    assert_eq!(change(&mut events).await, MemberChange::OutOfMemory);
    assert!(rig.engine.read(&group).await.unwrap().members[0].alive);
    rig.end(group).await;
}

#[tokio::test]
async fn a_fork_bomb_is_held_and_ended() {
    let rig = Rig::new("bomb", true);
    if !can_limit(&rig) {
        return;
    }
    let budget = Budget {
        processes: Some(30),
        ..Budget::default()
    };
    let group = rig.reserve(Some(one_cpu()), budget).await;
    // Each shell forks until it may not any more, and all that it forked stay and hear nothing.
    let fork = "(while :; do sleep 1000 & done) 2>/dev/null &";
    let script = format!("trap '' TERM; {fork} {fork} {fork} sleep 1000");
    rig.engine.start(&group, &shell(&script)).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut most = 0;
    while most < 25 {
        assert!(Instant::now() < deadline, "only {most} processes in 20 s");
        let reading = rig.engine.read(&group).await.unwrap();
        most = most.max(*reading.processes.value().unwrap());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(most <= 30, "{most} processes");
    rig.end(group).await;
}

#[tokio::test]
async fn without_cgroups_the_engine_says_what_it_cannot_enforce() {
    let rig = Rig::new("facts", false);
    let facts = rig.engine.describe();
    let off: Known<bool> = Known::Absent("cgroups are switched off".to_owned());
    assert_eq!(
        [
            &facts.enforces.cpus,
            &facts.enforces.memory,
            &facts.enforces.processes
        ],
        [&off; 3]
    );
    assert_eq!(facts.cpu_source, "process tree, 10 ms a process");
    let budget = Budget {
        memory: Some(Bytes(1 << 30)),
        ..Budget::default()
    };
    let group = rig.reserve(None, budget).await;
    let limits = rig.engine.limits(&group).await.unwrap();
    assert_eq!(
        limits.memory,
        Known::Absent("no `memory` cgroup holds the group".to_owned())
    );
    rig.engine.release(group).await.unwrap();
}
