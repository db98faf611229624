//! Stopping a group: asked first, then killed, whatever it forked.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::watch;
use tokio::time::Instant;

use super::group::{Progress, Running};
use super::{kill, outside, tree};
use crate::model::name::MemberName;
use crate::model::plural::counted;

/// How long what was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the rest of a member's output may take to be read.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Stops every process of a group. Can be called again.
pub(super) async fn stop(group: &Running) -> io::Result<()> {
    ask(group).await;
    if group.folders.listing().is_some() {
        kill::kill(&group.folders.all()).await?;
    }
    for process in outside::processes(group) {
        tree::signal(process.pid, Signal::KILL);
    }
    if group.stay {
        end_trees(group).await?;
    }
    for (name, mut progress) in watched(group, |_| true) {
        let gone = progress.wait_for(|progress| matches!(progress, Progress::Gone(_)));
        let waited = tokio::time::timeout(PATIENCE, gone).await;
        waited
            .map_err(|_| io::Error::other(format!("member `{name}` was killed and still lives")))?
            .map_err(|_| io::Error::other(format!("nobody follows member `{name}` any more")))?;
    }
    finish_logs(group).await;
    group.stop_watching();
    Ok(())
}

/// The progress of the members that a condition holds for.
fn watched(
    group: &Running,
    wanted: impl Fn(Progress) -> bool,
) -> BTreeMap<MemberName, watch::Receiver<Progress>> {
    let members = group.members();
    let chosen = members
        .iter()
        .filter(|(_, member)| wanted(*member.progress.borrow()));
    chosen
        .map(|(name, member)| (name.clone(), member.progress.clone()))
        .collect()
}

/// Asks every member to end and gives each its own time, all at once.
async fn ask(group: &Running) {
    let asked = Instant::now();
    let mut waited = Vec::new();
    for member in group.members().values_mut() {
        member.input = None;
        if *member.progress.borrow() == Progress::Running {
            tree::signal(member.program, Signal::TERM);
            waited.push((asked + member.grace, member.progress.clone()));
        }
    }
    for (deadline, mut progress) in waited {
        let ended = progress.wait_for(|progress| *progress != Progress::Running);
        drop(tokio::time::timeout_at(deadline, ended).await);
    }
}

/// Kills what is below the gates until they have nothing left to stay for.
async fn end_trees(group: &Running) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let gates: Vec<i32> = {
            let members = group.members();
            let here = |progress: Progress| !matches!(progress, Progress::Gone(_));
            let here = members
                .values()
                .filter(|member| here(*member.progress.borrow()));
            here.map(|member| member.identity.pid).collect()
        };
        if gates.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(io::Error::other(format!(
                "{} still alive",
                counted(gates.len() as u64, "gate is", "gates are")
            )));
        }
        gates.into_iter().for_each(tree::kill_below);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits until the members' output is in their logs.
async fn finish_logs(group: &Running) {
    let pumps: Vec<_> = {
        let mut members = group.members();
        let pumps = members.values_mut().map(|member| {
            std::mem::replace(&mut member.pump, tokio::spawn(std::future::ready(())))
        });
        pumps.collect()
    };
    for mut pump in pumps {
        if tokio::time::timeout(LAST_WORDS, &mut pump).await.is_err() {
            // A process that left the group still holds the pipe.
            pump.abort();
        }
    }
}

/// Moves the members' logs to `<logs>.<member>.log`.
pub(super) fn move_logs(group: &Running, logs: &Path) -> io::Result<()> {
    for (name, _) in &group.spec.members {
        let mut to = logs.as_os_str().to_owned();
        to.push(format!(".{name}.log"));
        group.work.move_log(name, &PathBuf::from(to))?;
    }
    Ok(())
}
