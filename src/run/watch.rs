//! What happens to a group's members while nobody asks: kept for whoever asks later.

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::engine::{Exit, MemberChange, MemberEvent};
use crate::model::{MemberName, Outcome};
use crate::record::event::Incident;

/// What was seen of a group so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Members that ended by themselves, in order of time.
    pub(super) ended: Vec<(MemberName, Exit)>,
    /// Members of which the kernel killed a process for want of memory.
    pub(super) out_of_memory: Vec<MemberName>,
    /// The last line that a member printed on standard error.
    pub(super) last_line: Option<String>,
}

impl Seen {
    fn add(&mut self, event: MemberEvent) {
        match event.what {
            MemberChange::Line(line) => {
                self.last_line = Some(String::from_utf8_lossy(&line).into_owned());
            }
            MemberChange::Exited(exit) => self.ended.push((event.member, exit)),
            MemberChange::OutOfMemory => self.out_of_memory.push(event.member),
        }
    }

    /// Whether a member ended or was killed.
    pub(super) fn is_broken(&self) -> bool {
        !self.ended.is_empty() || !self.out_of_memory.is_empty()
    }

    /// What was seen, as it means for a candidate; the cause before its consequence.
    pub(super) fn incidents(&self) -> Vec<Incident> {
        let killed = self.out_of_memory.iter().map(|member| Incident {
            outcome: Outcome::Oom,
            detail: format!("the kernel killed a process of member `{member}` for want of memory"),
        });
        let ended = self.ended.iter().map(|(member, exit)| Incident {
            outcome: Outcome::Exited,
            detail: format!("member `{member}` {exit}{}", self.said()),
        });
        killed.chain(ended).collect()
    }

    /// The last log line as the end of a message; empty where there was none.
    pub(super) fn said(&self) -> String {
        let line = self.last_line.as_ref();
        line.map_or_else(String::new, |line| format!("; its last log line: {line}"))
    }
}

/// Watches a group until it is dropped.
#[derive(Debug)]
pub(super) struct Watch {
    seen: watch::Receiver<Seen>,
    pump: JoinHandle<()>,
}

impl Watch {
    /// Takes the events of a group.
    pub(super) fn over(mut events: mpsc::Receiver<MemberEvent>) -> Self {
        let (sender, seen) = watch::channel(Seen::default());
        let pump = tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                sender.send_modify(|seen| seen.add(event));
            }
            // Kept open, so that waiting for a change after the last event waits.
            std::future::pending::<()>().await;
        });
        Self { seen, pump }
    }

    /// What was seen so far.
    pub(super) fn seen(&self) -> Seen {
        self.seen.borrow().clone()
    }

    /// Waits until a member ends or is killed.
    pub(super) async fn broken(&self) -> Seen {
        let mut seen = self.seen.clone();
        match seen.wait_for(Seen::is_broken).await {
            Ok(seen) => seen.clone(),
            // The pump never ends before the watch.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.pump.abort();
    }
}
