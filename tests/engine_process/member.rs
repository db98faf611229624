//! One member: what it is given, what is told of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use loadlab::engine::{Engine, Exit, MemberChange, RoleSpec, Trouble};
use loadlab::model::name::PortName;
use loadlab::model::{Budget, Role};

use crate::rig::{Rig, alive, change, line, main, one_cpu, program, shell};

/// Status, signal, output, environment and files of a member.
async fn a_member_is_itself(name: &str, cgroups: bool) {
    let rig = Rig::new(name, cgroups);
    let group = rig.reserve(None, Budget::default()).await;
    let mut events = rig.engine.events(&group).await.unwrap();
    let mut member = shell(
        "env | sort; pwd; cat conf/a.txt; read x || echo no input; echo out >result; printf 'to\\377err' >&2; exit 7",
    );
    member.env.insert("OWN".to_owned(), "a b".to_owned());
    member
        .files
        .insert("conf/a.txt".to_owned(), b"text\n".to_vec());
    member.outputs = vec!["result".to_owned(), "never".to_owned()];
    rig.engine.start(&group, &member).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 2 {
        seen.push(events.recv().await.unwrap().what);
    }
    assert!(
        seen.contains(&MemberChange::Line(b"to\xfferr".to_vec())),
        "{seen:?}"
    );
    assert!(
        seen.contains(&MemberChange::Exited(Exit::Status(7))),
        "{seen:?}"
    );
    let outputs = rig.engine.collect(&group, &main()).await.unwrap();
    assert_eq!(
        outputs,
        BTreeMap::from([("result".to_owned(), b"out\n".to_vec())])
    );
    let work = group.work[&main()].display().to_string();
    let logs = rig.folder.path().join("kept");
    rig.engine.stop(&group, &logs).await.unwrap();
    let log = fs::read(rig.folder.path().join("kept.main.log")).unwrap();
    let log = String::from_utf8_lossy(&log).into_owned();
    let expected = format!(
        "HOME={work}\nLANG=C.UTF-8\nOWN=a b\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n\
         PWD={work}\n{work}\ntext\nno input\nto\u{fffd}err"
    );
    assert_eq!(log, expected);
    rig.engine.release(group).await.unwrap();
}

#[tokio::test]
async fn a_member_in_a_cgroup_is_itself() {
    a_member_is_itself("itself", true).await;
}

#[tokio::test]
async fn a_member_below_its_gate_is_itself() {
    a_member_is_itself("treeitself", false).await;
}

async fn a_gated_member_waits(name: &str, cgroups: bool) {
    let rig = Rig::new(name, cgroups);
    let group = rig.reserve(None, Budget::default()).await;
    let mut events = rig.engine.events(&group).await.unwrap();
    let mut member = shell(
        "echo waiting >&2; read line && echo \"went with [$line]\" >&2; read more || echo end >&2; exit 0",
    );
    member.gated = true;
    rig.engine.start(&group, &member).await.unwrap();
    assert_eq!(line(&mut events).await, "waiting");
    assert!(rig.engine.read(&group).await.unwrap().members[0].alive);
    rig.engine.proceed(&group, &main()).await.unwrap();
    assert_eq!(line(&mut events).await, "went with []");
    assert_eq!(line(&mut events).await, "end");
    assert_eq!(
        change(&mut events).await,
        MemberChange::Exited(Exit::Status(0))
    );
    let error = rig.engine.proceed(&group, &main()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot let go member `main` of candidate: it does not wait at its standard input"
    );
    rig.end(group).await;
}

#[tokio::test]
async fn a_gated_member_waits_in_its_cgroup() {
    a_gated_member_waits("gated", true).await;
}

#[tokio::test]
async fn a_gated_member_waits_below_its_gate() {
    a_gated_member_waits("treegated", false).await;
}

#[tokio::test]
async fn a_program_that_cannot_run_is_named() {
    for cgroups in [true, false] {
        let rig = Rig::new("absent", cgroups);
        let group = rig.reserve(None, Budget::default()).await;
        let mut plain = program(&["./plain"]);
        plain
            .files
            .insert("plain".to_owned(), b"no program".to_vec());
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        for (member, because) in [
            (
                program(&["no-such-program"]),
                format!(
                    "`no-such-program`: No such file or directory (os error 2); looked in {path}"
                ),
            ),
            (
                program(&["/no/such"]),
                "`/no/such`: No such file or directory (os error 2)".to_owned(),
            ),
            (
                plain,
                "`./plain`: Permission denied (os error 13)".to_owned(),
            ),
        ] {
            let error = rig.engine.start(&group, &member).await.unwrap_err();
            assert_eq!(error.kind, Trouble::NoProgram);
            assert_eq!(
                error.to_string(),
                format!("cannot start member `main` of candidate: {because}")
            );
        }
        // The group is none the worse for it.
        rig.engine.start(&group, &shell("exit 0")).await.unwrap();
        rig.end(group).await;
    }
}

#[tokio::test]
async fn a_member_has_its_time_to_end() {
    let rig = Rig::new("grace", true);
    let script = "trap 'echo asked >&2; sleep 0.1; echo ended >&2; exit 0' TERM; echo up >&2; while :; do sleep 0.02; done";
    let (group, mut events) = rig.shell(script).await;
    assert_eq!(line(&mut events).await, "up");
    let log = rig.end(group).await;
    assert_eq!(log, "up\nasked\nended\n");
    assert_eq!(
        change(&mut events).await,
        MemberChange::Exited(Exit::Status(0))
    );
}

#[tokio::test]
async fn ports_are_given_once_and_dialled() {
    let rig = Rig::new("ports", true);
    let ports: Vec<PortName> = ["http", "admin"]
        .iter()
        .map(|name| name.parse().unwrap())
        .collect();
    let role = |role| RoleSpec {
        role,
        cpus: None,
        budget: Budget::default(),
        members: vec![(main(), ports.clone())],
    };
    let first = rig
        .engine
        .reserve(&role(Role::Candidate), &rig.tag())
        .await
        .unwrap();
    let second = rig
        .engine
        .reserve(&role(Role::Probe), &rig.tag())
        .await
        .unwrap();
    let given: BTreeSet<u16> = first
        .ports
        .values()
        .chain(second.ports.values())
        .copied()
        .collect();
    assert_eq!(given.len(), 4);
    let port = first.ports[&(main(), ports[0].clone())];
    let listener = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    rig.engine
        .dial(&first, &main(), &ports[0])
        .await
        .map(drop)
        .unwrap();
    drop(listener);
    let error = rig
        .engine
        .dial(&first, &main(), &ports[1])
        .await
        .map(drop)
        .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    rig.engine.release(first).await.unwrap();
    rig.engine.release(second).await.unwrap();
}

#[tokio::test]
async fn a_command_runs_in_the_group() {
    for cgroups in [true, false] {
        let rig = Rig::new("command", cgroups);
        let group = rig.reserve(Some(one_cpu()), Budget::default()).await;
        let words = |script: &str| ["/bin/sh", "-c", script].map(str::to_owned);
        let within = Duration::from_secs(20);
        let script = "grep Cpus_allowed_list /proc/self/status; echo err >&2; exit 4";
        let output = rig
            .engine
            .execute(&group, &words(script), within)
            .await
            .unwrap();
        assert_eq!(output.exit, Exit::Status(4));
        let allowed = format!("Cpus_allowed_list:\t{}\n", one_cpu());
        assert_eq!(String::from_utf8_lossy(&output.stdout), allowed);
        assert_eq!(output.stderr, b"err\n");
        let endless = words("echo $$ > pid; sleep 1000 & sleep 1000");
        let error = rig
            .engine
            .execute(&group, &endless, Duration::from_millis(200))
            .await
            .unwrap_err();
        let expected =
            "cannot execute `/bin/sh` in the group of candidate: it did not end within 0.2 s";
        assert_eq!(error.to_string(), expected);
        let folder = group.work[&main()].parent().unwrap().parent().unwrap();
        let pid: i32 = fs::read_to_string(folder.join("pid"))
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        assert!(!alive(pid));
        let absent = ["no-such-program".to_owned()];
        let error = rig
            .engine
            .execute(&group, &absent, within)
            .await
            .unwrap_err();
        assert_eq!(error.kind, Trouble::NoProgram);
        rig.engine.release(group).await.unwrap();
    }
}
