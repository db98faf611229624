//! Waiting until a role that was started may be given load.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::ask::{ask, dial};
use super::bench::Bench;
use super::broken::Broken;
use super::role::Running;
use super::watch::Seen;
use crate::model::account::BoundRequest;
use crate::model::{Nanoseconds, Outcome, Ready};

/// The pause after a try that failed: short at first, so that a fast start is not measured as slow.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Longest wait for the answer of one try.
const ONE_TRY: Duration = Duration::from_secs(2);

/// Why a role did not become ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotReady {
    /// A member ended or was killed before.
    Broken(Seen),
    /// The time was over.
    TimedOut {
        within: Nanoseconds,
        asked: String,
        last: String,
        said: String,
    },
}

impl NotReady {
    /// What it means for a candidate.
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Self::Broken(seen) => seen
                .incidents()
                .first()
                .map_or(Outcome::Exited, |incident| incident.outcome),
            Self::TimedOut { .. } => Outcome::NotReady,
        }
    }
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(seen) => {
                let incidents = seen.incidents();
                let detail = incidents.first().map(|incident| incident.detail.as_str());
                write!(
                    f,
                    "ended before it was ready: {}",
                    detail.unwrap_or("it is gone")
                )
            }
            Self::TimedOut {
                within,
                asked,
                last,
                said,
            } => write!(f, "did not answer {asked} within {within}: {last}{said}"),
        }
    }
}

/// Waits until the role answers its ready request correctly.
///
/// The outer error is a request to stop; the inner one is about the role.
pub(super) async fn wait(
    bench: &Bench<'_>,
    running: &Running<'_>,
) -> Result<Result<(), NotReady>, Broken> {
    let waited = async {
        tokio::select! {
            biased;
            seen = running.watch.broken() => Err(NotReady::Broken(seen)),
            waited = answered(running) => waited,
        }
    };
    bench.unless_cancelled(waited).await
}

async fn answered(running: &Running<'_>) -> Result<(), NotReady> {
    let rule = &running.definition.ready;
    let deadline = Instant::now() + rule.within().duration();
    let mut pause = FIRST_PAUSE;
    let mut last = "no try came to an end".to_owned();
    loop {
        match timeout_at(deadline, one_try(running, rule)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(problem)) => last = problem,
            Err(_) => break,
        }
        if timeout_at(deadline, tokio::time::sleep(pause))
            .await
            .is_err()
        {
            break;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Err(NotReady::TimedOut {
        within: rule.within(),
        asked: asked(rule),
        last,
        said: running.watch.seen().said(),
    })
}

fn asked(rule: &Ready) -> String {
    match rule {
        Ready::Http { path, status, .. } => format!("GET {path} with {status}"),
        Ready::Tcp { .. } => "on its port".to_owned(),
    }
}

async fn one_try(running: &Running<'_>, rule: &Ready) -> Result<(), String> {
    match rule {
        Ready::Tcp { .. } => dial(running).await.map(drop),
        Ready::Http { path, status, .. } => {
            let answer = ask(running, &get(path), ONE_TRY).await?;
            if answer.status == *status {
                Ok(())
            } else {
                Err(format!("its last answer had status {}", answer.status))
            }
        }
    }
}

/// A GET without headers or a body.
pub(super) fn get(path: &str) -> BoundRequest {
    BoundRequest {
        method: "GET".to_owned(),
        path: path.to_owned(),
        headers: BTreeMap::new(),
        body: None,
    }
}
