//! What fake members do: they answer, carry load, and end when they are told to.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::group::{FakeGroup, Load, Member};
use super::{
    Asked, CPU_PER_REQUEST_NS, FakeAnswer, FakeEngine, LOAD_CPU_PER_REQUEST_NS, LOAD_NS, LOAD_PORT,
    LOAD_REQUESTS, START_LINE, locked,
};
use crate::engine::{Exit, Group, MemberChange, MemberEvent, MemberSpec};
use crate::model::MemberName;

impl FakeEngine {
    pub(super) fn send(&self, group: &str, member: &MemberName, what: MemberChange) {
        let sender = locked(&self.state)
            .groups
            .get(group)
            .map(|group| group.events.clone());
        let event = MemberEvent {
            member: member.clone(),
            monotonic_ns: self.time.now_ns(),
            what,
        };
        if let Some(sender) = sender {
            // A full or closed channel means that nobody asks any more.
            let _ = sender.try_send(event);
        }
    }

    pub(super) fn with_member<T>(
        &self,
        group: &str,
        member: &MemberName,
        change: impl FnOnce(&mut Member) -> T,
    ) -> Option<T> {
        let mut state = locked(&self.state);
        let group = state.groups.get_mut(group)?;
        group.members.get_mut(member).map(change)
    }

    pub(super) fn ends(
        &self,
        group: &Group,
        member: &MemberName,
        after: Duration,
        exit: Exit,
        again: bool,
    ) {
        let (engine, id, member) = (self.clone(), group.id.clone(), member.clone());
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            engine.with_member(&id, &member, |member| {
                member.alive = again;
                member.ended = Some(exit);
            });
            engine.send(&id, &member, MemberChange::Exited(exit));
        });
    }

    pub(super) fn out_of_memory(&self, group: &Group, member: &MemberName, after: Duration) {
        let (engine, id, member) = (self.clone(), group.id.clone(), member.clone());
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            engine.with_member(&id, &member, |member| member.oom_kills += 1);
            engine.send(&id, &member, MemberChange::OutOfMemory);
        });
    }

    /// Runs the load of a fake generator on whoever has its port.
    pub(super) fn load(&self, group: &Group, spec: &MemberSpec) {
        let number = |name: &str| spec.env.get(name).and_then(|text| text.parse::<u64>().ok());
        let length_ns = number(LOAD_NS).unwrap_or(0);
        let requests = number(LOAD_REQUESTS).unwrap_or(0);
        let port = number(LOAD_PORT).and_then(|port| u16::try_from(port).ok());
        let began_ns = self.time.now_ns();
        let load = |cpu_ns: u64| Load {
            began_ns,
            length_ns,
            cpu_ns: requests * cpu_ns,
            requests,
        };
        let of = |group: &FakeGroup, usual_ns: u64| load(group.uses_ns().unwrap_or(usual_ns));
        {
            let mut state = locked(&self.state);
            for other in state.groups.values_mut() {
                if other.group.id == group.id {
                    other.loads.push(of(other, LOAD_CPU_PER_REQUEST_NS));
                } else if other.group.ports.values().any(|given| Some(*given) == port) {
                    other.loads.push(of(other, CPU_PER_REQUEST_NS));
                }
            }
        }
        let marker = format!("{START_LINE}{began_ns}").into_bytes();
        self.send(&group.id, &spec.name, MemberChange::Line(marker));
        let never = self.with_member(&group.id, &spec.name, |member| member.never_ends);
        if never != Some(true) {
            let length = Duration::from_nanos(length_ns);
            self.ends(group, &spec.name, length, Exit::Status(0), false);
        }
    }

    pub(super) async fn serve(
        self,
        group: String,
        member: MemberName,
        mut stream: tokio::io::DuplexStream,
    ) {
        let mut head = Vec::new();
        while !head.windows(4).any(|window| window == b"\r\n\r\n") {
            let mut bytes = [0; 1024];
            match stream.read(&mut bytes).await {
                Ok(0) | Err(_) => return,
                Ok(count) => head.extend_from_slice(&bytes[..count]),
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let Some(asked) = self.asked(&group, &member, path) else {
            return std::future::pending().await;
        };
        let FakeAnswer { status, body } = (self.answers)(&asked);
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} fake\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let answer = [head.into_bytes(), body].concat();
        // The asker may have given up.
        let _ = stream.write_all(&answer).await;
        let _ = stream.shutdown().await;
    }

    /// Counts a request; absent: the member is silent.
    pub(super) fn asked(&self, group: &str, member: &MemberName, path: String) -> Option<Asked> {
        let now_ns = self.time.now_ns();
        let mut state = locked(&self.state);
        let group = state.groups.get_mut(group)?;
        let silent = group.members.get(member)?.silent_from_ns;
        if silent.is_some_and(|from| now_ns >= from) {
            return None;
        }
        let asked = Asked {
            role: group.spec.role.clone(),
            part: group.part.clone(),
            path,
            answered: group.answered(now_ns),
        };
        group.asked += 1;
        Some(asked)
    }
}
