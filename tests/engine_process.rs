//! The process engine with real processes: limits, trees, events, leftovers. As root in cgroups, as
//! anybody without them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use loadlab::engine::process::{ProcessEngine, ProcessSettings};
use loadlab::engine::{
    Engine, Exit, Group, MemberChange, MemberEvent, MemberSpec, RoleSpec, Tag, Trouble,
};
use loadlab::measure::host;
use loadlab::model::name::{MemberName, PortName};
use loadlab::model::{Budget, Bytes, CpuSet, Known, Role, Source};
use tokio::sync::mpsc;

const ENTRY: &str = "entry";

/// An engine with folders of its own. `entry` differs for each test, since cgroups are the machine's.
struct Rig {
    folder: tempfile::TempDir,
    engine: ProcessEngine,
    entry: String,
}

impl Rig {
    fn new(name: &str, cgroups: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let entry = format!("{ENTRY}-{name}-{}", std::process::id());
        let engine = ProcessEngine::new(settings(folder.path(), cgroups)).unwrap();
        Self {
            folder,
            engine,
            entry,
        }
    }

    fn tag(&self) -> Tag {
        Tag {
            entry: self.entry.clone(),
            part: "b1a1".to_owned(),
        }
    }

    async fn reserve(&self, cpus: Option<CpuSet>, budget: Budget) -> Group {
        let role = RoleSpec {
            role: Role::Candidate,
            cpus,
            budget,
            members: vec![(main(), vec!["http".parse().unwrap()])],
        };
        self.engine.reserve(&role, &self.tag()).await.unwrap()
    }

    /// A group with one shell that runs a script.
    async fn shell(&self, script: &str) -> (Group, mpsc::Receiver<MemberEvent>) {
        let group = self.reserve(None, Budget::default()).await;
        let events = self.engine.events(&group).await.unwrap();
        self.engine.start(&group, &shell(script)).await.unwrap();
        (group, events)
    }

    /// Stops and releases, and checks that nothing is left; the member's log.
    async fn end(&self, group: Group) -> String {
        let logs = self.folder.path().join("kept");
        self.engine.stop(&group, &logs).await.unwrap();
        self.engine.release(group).await.unwrap();
        assert_eq!(cgroups_of(&self.entry), BTreeSet::new());
        assert_eq!(
            fs::read_dir(self.folder.path().join("state"))
                .unwrap()
                .count(),
            0
        );
        assert_eq!(
            fs::read_dir(self.folder.path().join("work"))
                .unwrap()
                .count(),
            0
        );
        fs::read_to_string(self.folder.path().join("kept.main.log")).unwrap()
    }
}

fn settings(folder: &Path, cgroups: bool) -> ProcessSettings {
    ProcessSettings {
        gate_program: env!("CARGO_BIN_EXE_loadlab").into(),
        work: folder.join("work"),
        state: folder.join("state"),
        cgroups,
    }
}

fn main() -> MemberName {
    "main".parse().unwrap()
}

fn program(command: &[&str]) -> MemberSpec {
    MemberSpec {
        name: main(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        env: BTreeMap::new(),
        files: BTreeMap::new(),
        user: None,
        grace: Duration::from_millis(500),
        gated: false,
        outputs: Vec::new(),
    }
}

fn shell(script: &str) -> MemberSpec {
    program(&["/bin/sh", "-c", script])
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Every cgroup below loadlab's own with the entry in its path.
fn cgroups_of(entry: &str) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for child in fs::read_dir(folder).into_iter().flatten().flatten() {
            if child.file_type().is_ok_and(|kind| kind.is_dir()) {
                if child.file_name().to_string_lossy().contains(entry) {
                    found.insert(child.path());
                }
                folders.push(child.path());
            }
        }
    }
    found
}

/// The next event that is no line.
async fn change(events: &mut mpsc::Receiver<MemberEvent>) -> MemberChange {
    loop {
        let waited = tokio::time::timeout(Duration::from_secs(20), events.recv()).await;
        match waited
            .expect("an event in 20 s")
            .expect("an open channel")
            .what
        {
            MemberChange::Line(_) => {}
            what => return what,
        }
    }
}

async fn line(events: &mut mpsc::Receiver<MemberEvent>) -> String {
    let waited = tokio::time::timeout(Duration::from_secs(20), events.recv()).await;
    match waited
        .expect("an event in 20 s")
        .expect("an open channel")
        .what
    {
        MemberChange::Line(line) => String::from_utf8(line).unwrap(),
        what => panic!("expected a line, found {what:?}"),
    }
}

fn alive(pid: i32) -> bool {
    loadlab::measure::process::stat(pid).is_some_and(|stat| stat.state != 'Z')
}

/// Waits for something that another process does.
fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen in 20 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn one_cpu() -> CpuSet {
    let last = host::online().iter().last().unwrap();
    CpuSet::of([last]).unwrap()
}

/// Whether this machine lets root make cgroups; says so where it does not.
fn can_limit(rig: &Rig) -> bool {
    let enforces = rig.engine.describe().enforces;
    for known in [&enforces.cpus, &enforces.memory, &enforces.processes] {
        if let Known::Absent(reason) = known {
            println!("skipped: {reason}");
            return false;
        }
    }
    true
}

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

#[tokio::test]
async fn too_much_memory_is_killed_and_told() {
    let rig = Rig::new("memory", true);
    if !can_limit(&rig) {
        return;
    }
    let budget = Budget {
        memory: Some(Bytes(16 << 20)),
        ..Budget::default()
    };
    let group = rig.reserve(None, budget).await;
    let mut events = rig.engine.events(&group).await.unwrap();
    // A shell that doubles a text until it is too long.
    let script = "x=0123456789abcdef; while :; do x=$x$x; done";
    rig.engine.start(&group, &shell(script)).await.unwrap();
    assert_eq!(change(&mut events).await, MemberChange::OutOfMemory);
    assert_eq!(
        change(&mut events).await,
        MemberChange::Exited(Exit::Signal(9))
    );
    let reading = rig.engine.read(&group).await.unwrap();
    assert_eq!(reading.members[0].oom_kills, Known::Value(1));
    assert!(!reading.members[0].alive);
    assert_eq!(
        reading.members[0].ended.as_deref(),
        Some("ended by signal 9")
    );
    rig.end(group).await;
}

#[tokio::test]
async fn a_worker_killed_for_memory_is_told_while_its_parent_lives() {
    let rig = Rig::new("worker", true);
    if !can_limit(&rig) {
        return;
    }
    let budget = Budget {
        memory: Some(Bytes(16 << 20)),
        ..Budget::default()
    };
    let group = rig.reserve(None, budget).await;
    let mut events = rig.engine.events(&group).await.unwrap();
    let script = "(x=0123456789abcdef; while :; do x=$x$x; done) & while :; do sleep 1; done";
    rig.engine.start(&group, &shell(script)).await.unwrap();
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
    let script = "trap '' TERM; f() { f | f & }; f 2>/dev/null; while :; do sleep 1; done";
    rig.engine.start(&group, &shell(script)).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let processes = *rig
            .engine
            .read(&group)
            .await
            .unwrap()
            .processes
            .value()
            .unwrap();
        assert!(processes <= 30, "{processes} processes");
        if processes >= 25 || Instant::now() > deadline {
            assert!(processes >= 25, "{processes} processes");
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    rig.end(group).await;
}

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

#[tokio::test]
async fn root_starts_members_as_another_user() {
    if !is_root() {
        println!("skipped: only root may start a program as another user");
        return;
    }
    let rig = Rig::new("user", true);
    let group = rig.reserve(None, Budget::default()).await;
    let mut events = rig.engine.events(&group).await.unwrap();
    let mut member = shell("id -u >&2; id -G >&2; echo x > file && echo written >&2");
    member.user = Some("65534:65534".to_owned());
    rig.engine.start(&group, &member).await.unwrap();
    for expected in ["65534", "65534", "written"] {
        assert_eq!(line(&mut events).await, expected);
    }
    rig.end(group).await;
    let group = rig.reserve(None, Budget::default()).await;
    member.user = Some("nobody-here".to_owned());
    let error = rig.engine.start(&group, &member).await.unwrap_err();
    assert_eq!(error.kind, Trouble::Unfit);
    rig.engine.release(group).await.unwrap();
}

/// Runs one test of this file in a process of its own.
fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--include-ignored", "--nocapture"]);
    command
}

#[test]
fn an_ordinary_user_runs_everything_without_cgroups() {
    if !is_root() {
        println!("skipped: the other tests run as an ordinary user already");
        return;
    }
    let probe = this_test("no_such_test").uid(65534).gid(65534).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        println!("skipped: user 65534 may not execute this test");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    for name in [
        "work_is_counted_by_the_cgroup",
        "daemons_are_ended_with_their_cgroup",
        "a_member_in_a_cgroup_is_itself",
    ] {
        let mut command = this_test(name);
        let command = command.uid(65534).gid(65534).env("TMPDIR", folder.path());
        let output = command.current_dir("/").output().unwrap();
        assert!(
            output.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

const OWNER_FOLDER: &str = "LOADLAB_TEST_OWNER_FOLDER";

/// What a run does until it is killed; started by the tests below.
#[tokio::test]
#[ignore = "killed by another test"]
async fn owner() {
    let Ok(folder) = std::env::var(OWNER_FOLDER) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let cgroups = std::env::var_os("LOADLAB_TEST_CGROUPS").is_some();
    let engine = ProcessEngine::new(settings(&folder, cgroups)).unwrap();
    let tag = Tag {
        entry: folder
            .file_name()
            .unwrap()
            .to_string_lossy()
            .trim_start_matches('.')
            .to_owned(),
        part: "b1a1".to_owned(),
    };
    let role = RoleSpec {
        role: Role::Candidate,
        cpus: None,
        budget: Budget::default(),
        members: vec![(main(), Vec::new())],
    };
    let group = engine.reserve(&role, &tag).await.unwrap();
    let script = "(setsid sh -c 'cd /; exec sleep 1000' </dev/null >/dev/null 2>&1 &); sleep 1000 & sleep 1000";
    engine.start(&group, &shell(script)).await.unwrap();
    let processes = async || {
        *engine
            .read(&group)
            .await
            .unwrap()
            .processes
            .value()
            .unwrap()
    };
    while processes().await != 4 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    fs::write(folder.join("up"), "").unwrap();
    std::future::pending::<()>().await;
}

/// Starts an owner, lets `meanwhile` look at it, and kills it.
fn killed_owner(folder: &Path, cgroups: bool, meanwhile: impl FnOnce()) {
    let mut command = this_test("owner");
    command
        .env(OWNER_FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if cgroups {
        command.env("LOADLAB_TEST_CGROUPS", "1");
    }
    let mut child = command.spawn().unwrap();
    eventually("the owner's start", || folder.join("up").exists());
    meanwhile();
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn what_a_killed_run_left_is_found_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = ProcessEngine::new(settings(folder.path(), true)).unwrap();
    if engine.describe().enforces.processes.value().is_none() {
        println!("skipped: without cgroups nothing outlives its loadlab");
        return;
    }
    let entry = folder
        .path()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .trim_start_matches('.')
        .to_owned();
    let mut pids = BTreeSet::new();
    killed_owner(folder.path(), true, || {
        let left = loadlab::measure::process::all();
        let session =
            |pid: i32| fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        pids = left
            .iter()
            .map(|p| p.pid)
            .filter(|pid| session(*pid).contains(&entry))
            .collect();
        assert_eq!(pids.len(), 4);
    });
    let left = engine.leftovers().await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].entry, entry);
    assert!(
        left[0]
            .what
            .starts_with("group `b1a1-candidate`: 4 processes, "),
        "{}",
        left[0].what
    );
    assert!(pids.iter().all(|pid| alive(*pid)));
    engine.remove(&left[0]).await.unwrap();
    assert!(!pids.iter().any(|pid| alive(*pid)));
    assert_eq!(cgroups_of(&entry), BTreeSet::new());
    assert!(engine.leftovers().await.unwrap().is_empty());
    assert!(engine.remove(&left[0]).await.is_err());
    assert_eq!(fs::read_dir(folder.path().join("work")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_living_run_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let engine = ProcessEngine::new(settings(folder.path(), true)).unwrap();
    let state = folder.path().join("state");
    let mut handle = None;
    killed_owner(folder.path(), true, || {
        handle = fs::read_dir(&state)
            .unwrap()
            .next()
            .map(|entry| entry.unwrap().path());
    });
    let found = engine.leftovers().await.unwrap();
    assert_eq!(Some(PathBuf::from(&found[0].handle)), handle);
    let rig = Rig::new("living", true);
    let (group, _events) = rig.shell("sleep 1000").await;
    assert!(rig.engine.leftovers().await.unwrap().is_empty());
    let files = fs::read_dir(rig.folder.path().join("state")).unwrap();
    let own = files
        .map(|entry| entry.unwrap().path().display().to_string())
        .next()
        .unwrap();
    let forged = loadlab::engine::Leftover {
        entry: rig.entry.clone(),
        what: String::new(),
        handle: own,
    };
    let error = rig.engine.remove(&forged).await.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with(&format!("loadlab {} owns it and runs", std::process::id()))
    );
    assert!(rig.engine.read(&group).await.unwrap().members[0].alive);
    rig.end(group).await;
    engine.remove(&found[0]).await.unwrap();
}

#[tokio::test]
async fn without_cgroups_nothing_outlives_its_loadlab() {
    let folder = tempfile::tempdir().unwrap();
    let mut pids = BTreeSet::new();
    killed_owner(folder.path(), false, || {
        let all = loadlab::measure::process::all();
        let record = fs::read_dir(folder.path().join("state"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        let record: serde_json::Value =
            serde_json::from_slice(&fs::read(record.path()).unwrap()).unwrap();
        let gate = i32::try_from(record["members"]["main"]["pid"].as_i64().unwrap()).unwrap();
        pids = loadlab::measure::process::tree(&all, |process| process.pid == gate);
        assert_eq!(pids.len(), 5);
    });
    eventually("the end of the tree", || {
        !pids.iter().any(|pid| alive(*pid))
    });
    let engine = ProcessEngine::new(settings(folder.path(), false)).unwrap();
    let left = engine.leftovers().await.unwrap();
    assert_eq!(left.len(), 1);
    assert!(
        left[0]
            .what
            .starts_with("group `b1a1-candidate`: work folder "),
        "{}",
        left[0].what
    );
    engine.remove(&left[0]).await.unwrap();
    assert!(engine.leftovers().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_name_left_by_a_dead_run_can_be_used_again() {
    let rig = Rig::new("again", true);
    let folder = rig.folder.path().join(&rig.entry);
    fs::create_dir(&folder).unwrap();
    killed_owner(&folder, true, || ());
    let engine = ProcessEngine::new(settings(&folder, true)).unwrap();
    let role = RoleSpec {
        role: Role::Candidate,
        cpus: None,
        budget: Budget::default(),
        members: vec![(main(), Vec::new())],
    };
    let group = engine.reserve(&role, &rig.tag()).await.unwrap();
    let reading = engine.read(&group).await.unwrap();
    if reading
        .cpu
        .value()
        .is_some_and(|cpu| cpu.source == Source::CgroupV1)
    {
        assert_eq!(reading.cpu.value().unwrap().cpu_ns, 0);
    }
    assert_eq!(reading.processes, Known::Value(0));
    let taken = engine.reserve(&role, &rig.tag()).await.unwrap_err();
    assert!(
        taken.to_string().contains("has a group of this name"),
        "{taken}"
    );
    engine.release(group).await.unwrap();
}

/// Prints what the engine costs a block; run with `--ignored --nocapture` on a quiet machine.
#[tokio::test]
#[ignore = "measures time"]
async fn what_a_group_costs() {
    for cgroups in [true, false] {
        let rig = Rig::new("cost", cgroups);
        let mut costs: BTreeMap<&str, Duration> = BTreeMap::new();
        for _ in 0..20 {
            let began = Instant::now();
            let group = rig.reserve(Some(one_cpu()), Budget::default()).await;
            let mut step =
                |name, began: Instant| *costs.entry(name).or_default() += began.elapsed();
            step("1 reserve", began);
            let began = Instant::now();
            rig.engine
                .start(&group, &program(&["/bin/sleep", "1000"]))
                .await
                .unwrap();
            step("2 start", began);
            let began = Instant::now();
            rig.engine.read(&group).await.unwrap();
            step("3 read", began);
            let began = Instant::now();
            rig.engine.limits(&group).await.unwrap();
            step("4 limits", began);
            let began = Instant::now();
            rig.engine
                .stop(&group, &rig.folder.path().join("kept"))
                .await
                .unwrap();
            step("5 stop", began);
            let began = Instant::now();
            rig.engine.release(group).await.unwrap();
            step("6 release", began);
            let began = Instant::now();
            host::reading();
            step("7 host reading", began);
        }
        for (name, cost) in costs {
            println!("cgroups {cgroups}: {name}: {:?}", cost / 20);
        }
    }
}
