//! An engine with folders of its own, and what the tests look at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use loadlab::engine::process::{ProcessEngine, ProcessSettings};
use loadlab::engine::{Engine, Group, MemberChange, MemberEvent, MemberSpec, RoleSpec, Tag};
use loadlab::measure::host;
use loadlab::model::name::MemberName;
use loadlab::model::{Budget, CpuSet, Known, Role};
use tokio::sync::mpsc;

const ENTRY: &str = "entry";

/// An engine with folders of its own. `entry` differs for each test, since cgroups are the machine's.
pub(crate) struct Rig {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) engine: ProcessEngine,
    pub(crate) entry: String,
}

impl Rig {
    pub(crate) fn new(name: &str, cgroups: bool) -> Self {
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

    pub(crate) fn tag(&self) -> Tag {
        Tag {
            entry: self.entry.clone(),
            part: "b1a1".to_owned(),
        }
    }

    pub(crate) async fn reserve(&self, cpus: Option<CpuSet>, budget: Budget) -> Group {
        let role = RoleSpec {
            role: Role::Candidate,
            cpus,
            budget,
            members: vec![(main(), vec!["http".parse().unwrap()])],
        };
        self.engine.reserve(&role, &self.tag()).await.unwrap()
    }

    /// A group with one shell that runs a script.
    pub(crate) async fn shell(&self, script: &str) -> (Group, mpsc::Receiver<MemberEvent>) {
        let group = self.reserve(None, Budget::default()).await;
        let events = self.engine.events(&group).await.unwrap();
        self.engine.start(&group, &shell(script)).await.unwrap();
        (group, events)
    }

    /// Stops and releases, and checks that nothing is left; the member's log.
    pub(crate) async fn end(&self, group: Group) -> String {
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

impl Drop for Rig {
    /// A test that failed leaves nothing behind either.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for folder in cgroups_of(&self.entry).iter().rev() {
            let listed = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            let pids = listed.lines().filter_map(|line| line.parse().ok());
            for pid in pids.filter_map(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            let deadline = Instant::now() + Duration::from_secs(2);
            while fs::remove_dir(folder).is_err() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

pub(crate) fn settings(folder: &Path, cgroups: bool) -> ProcessSettings {
    ProcessSettings {
        gate_program: env!("CARGO_BIN_EXE_loadlab").into(),
        work: folder.join("work"),
        state: folder.join("state"),
        cgroups,
    }
}

pub(crate) fn main() -> MemberName {
    "main".parse().unwrap()
}

pub(crate) fn program(command: &[&str]) -> MemberSpec {
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

pub(crate) fn shell(script: &str) -> MemberSpec {
    program(&["/bin/sh", "-c", script])
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Every cgroup below loadlab's own with the entry in its path.
pub(crate) fn cgroups_of(entry: &str) -> BTreeSet<PathBuf> {
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
pub(crate) async fn change(events: &mut mpsc::Receiver<MemberEvent>) -> MemberChange {
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

pub(crate) async fn line(events: &mut mpsc::Receiver<MemberEvent>) -> String {
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

pub(crate) fn alive(pid: i32) -> bool {
    loadlab::measure::process::stat(pid).is_some_and(|stat| stat.state != 'Z')
}

/// Waits for something that another process does.
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen in 20 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn one_cpu() -> CpuSet {
    let last = host::online().iter().last().unwrap();
    CpuSet::of([last]).unwrap()
}

/// Whether this machine lets root make cgroups; says so where it does not.
pub(crate) fn can_limit(rig: &Rig) -> bool {
    let enforces = rig.engine.describe().enforces;
    for known in [&enforces.cpus, &enforces.memory, &enforces.processes] {
        if let Known::Absent(reason) = known {
            println!("skipped: {reason}");
            return false;
        }
    }
    true
}

/// Runs one test of this file in a process of its own.
pub(crate) fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--include-ignored", "--nocapture"]);
    command
}
