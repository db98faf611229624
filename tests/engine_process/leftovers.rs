//! What killed runs leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use loadlab::engine::process::ProcessEngine;
use loadlab::engine::{Engine, RoleSpec, Tag};
use loadlab::model::{Budget, Known, Role, Source};

use crate::rig::{Rig, alive, cgroups_of, eventually, main, settings, shell, this_test};

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
    let mut command = this_test("leftovers::owner");
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
