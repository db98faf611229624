//! Other users.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;

use loadlab::engine::{Engine, Trouble};
use loadlab::model::Budget;

use crate::rig::{Rig, is_root, line, shell, this_test};

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
        "tree::work_is_counted_by_the_cgroup",
        "tree::daemons_are_ended_with_their_cgroup",
        "member::a_member_in_a_cgroup_is_itself",
    ] {
        let mut command = this_test(name);
        let command = command.uid(65534).gid(65534).env("TMPDIR", folder.path());
        let output = command.current_dir("/").output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains("1 passed"), "{name}: {printed}");
    }
}
