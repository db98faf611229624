use super::*;

fn places() -> Places {
    Places {
        v1: BTreeMap::from([
            ("memory", "/m/loadlab".into()),
            ("cpuacct", "/c/loadlab".into()),
        ]),
        v2: Some(Unified {
            folder: "/u/loadlab".into(),
            controllers: BTreeSet::from(["pids".to_owned()]),
        }),
        refused: BTreeMap::from([("cpuset", "not permitted".to_owned())]),
    }
}

#[test]
fn each_controller_has_its_place_or_a_reason() {
    let places = places();
    let reasons = WANTED.map(|controller| places.refusal(controller));
    let offers = |name| {
        Some(format!(
            "this machine offers no `{name}` cgroup controller to loadlab"
        ))
    };
    let expected = [
        offers("cpu"),
        None,
        Some("not permitted".to_owned()),
        None,
        None,
        offers("freezer"),
    ];
    assert_eq!(reasons, expected);
}

#[test]
fn a_members_memory_is_its_own() {
    let folders = places().folders("e", "p-candidate");
    let name: MemberName = "main".parse().unwrap();
    let expected = [
        "/c/loadlab/e/p-candidate",
        "/m/loadlab/e/p-candidate/main",
        "/u/loadlab/e/p-candidate/main",
    ];
    assert_eq!(
        folders.leaves(Some(&name)),
        expected.map(PathBuf::from).into()
    );
    let own = (Version::V1, PathBuf::from("/m/loadlab/e/p-candidate/main"));
    assert_eq!(folders.member(&name), Some(own));
    assert_eq!(folders.of("cpuset"), None);
    assert_eq!(
        folders.cpu_time(),
        Some((Version::V1, Path::new("/c/loadlab/e/p-candidate")))
    );
    assert_eq!(
        folders.listing(),
        Some(Path::new("/u/loadlab/e/p-candidate"))
    );
}

/// The unified hierarchy without controllers, as a hybrid machine has it: processes are counted and
/// killed there.
#[tokio::test]
async fn the_unified_hierarchy_counts_and_kills() {
    let mount = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(PathBuf::from);
    let mount = mount
        .into_iter()
        .find(|mount| mount.join("cgroup.controllers").exists());
    let Some(mount) =
        mount.filter(|mount| accessat(CWD, mount, Access::WRITE_OK, AtFlags::EACCESS).is_ok())
    else {
        println!("skipped: no unified hierarchy is there that groups can be made in");
        return;
    };
    let hierarchy = Hierarchy {
        version: Version::V2,
        own: mount.clone(),
        mount,
    };
    let controllers = Controllers(BTreeMap::from([("memory".to_owned(), hierarchy)]));
    let places = Places::make(&controllers);
    let folders = places.folders(
        &format!("entry-unified-{}", std::process::id()),
        "p-candidate",
    );
    let name: MemberName = "main".parse().unwrap();
    folders.make(std::slice::from_ref(&name)).unwrap();
    let mut child = std::process::Command::new("sleep")
        .arg("1000")
        .spawn()
        .unwrap();
    folders
        .join(i32::try_from(child.id()).unwrap(), Some(&name))
        .unwrap();
    let (version, folder) = folders.cpu_time().unwrap();
    assert_eq!(version, Version::V2);
    let reading = crate::measure::cgroup::v2::cpu(folder).unwrap();
    assert_eq!(reading.source, crate::model::Source::CgroupV2);
    super::super::kill::kill(&folders.all()).await.unwrap();
    let status = child.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(9)
    );
    super::super::kill::remove(&folders.all()).await.unwrap();
    assert!(!folder.exists());
}
