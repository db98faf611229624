//! What happened to a candidate, from the engine's events and from its own readings.

use super::watch::Seen;
use crate::model::reading::{Edge, MemberReading};
use crate::model::{MemberName, Outcome, Role, RoleReading};
use crate::record::event::Incident;

/// What happened to the candidate until now.
pub(super) fn now(seen: &Seen, reading: &RoleReading) -> Vec<Incident> {
    let killed = reading
        .members
        .iter()
        .filter_map(|member| killed(None, member));
    killed.chain(seen.incidents()).collect()
}

/// What happened to the candidate by the end of a window.
pub(super) fn between(seen: &Seen, before: &Edge, after: &Edge) -> Vec<Incident> {
    let Some(after) = after.roles.get(&Role::Candidate) else {
        return seen.incidents();
    };
    let before = before.roles.get(&Role::Candidate);
    let earlier = |member: &MemberReading| {
        let members = before.into_iter().flat_map(|reading| &reading.members);
        members.into_iter().find(|other| other.name == member.name)
    };
    let killed = after
        .members
        .iter()
        .filter_map(|member| killed(earlier(member), member));
    let restarted = after
        .members
        .iter()
        .filter_map(|member| restarted(seen, member));
    let lives = |name: &MemberName| {
        after
            .members
            .iter()
            .any(|member| member.name == *name && member.alive)
    };
    let mut gone = seen.clone();
    gone.ended.retain(|(name, _)| !lives(name));
    killed.chain(restarted).chain(gone.incidents()).collect()
}

fn killed(before: Option<&MemberReading>, after: &MemberReading) -> Option<Incident> {
    let kills = |reading: &MemberReading| reading.oom_kills.value().copied().unwrap_or(0);
    let more = kills(after).checked_sub(before.map_or(0, kills))?;
    (more > 0).then(|| Incident {
        outcome: Outcome::Oom,
        detail: format!(
            "the kernel killed {more} processes of member `{}` for want of memory",
            after.name
        ),
    })
}

/// A member that ended and lives again.
fn restarted(seen: &Seen, member: &MemberReading) -> Option<Incident> {
    let (_, exit) = seen.ended.iter().find(|(name, _)| *name == member.name)?;
    member.alive.then(|| Incident {
        outcome: Outcome::Restarted,
        detail: format!("member `{}` {exit} and runs again", member.name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Exit;
    use crate::model::Known;

    fn member(alive: bool, oom_kills: u64) -> MemberReading {
        MemberReading {
            name: "main".parse().unwrap(),
            alive,
            ended: None,
            oom_kills: Known::Value(oom_kills),
        }
    }

    #[test]
    fn only_kills_since_the_opening_edge_count() {
        assert_eq!(killed(Some(&member(true, 2)), &member(true, 2)), None);
        let one = killed(Some(&member(true, 2)), &member(true, 3)).unwrap();
        assert_eq!(one.outcome, Outcome::Oom);
        assert!(
            one.detail
                .starts_with("the kernel killed 1 processes of member `main`")
        );
        assert!(killed(None, &member(false, 1)).is_some());
    }

    #[test]
    fn a_member_that_ended_and_lives_was_restarted() {
        let mut seen = Seen::default();
        assert_eq!(restarted(&seen, &member(true, 0)), None);
        seen.ended.push(("main".parse().unwrap(), Exit::Status(1)));
        assert_eq!(restarted(&seen, &member(false, 0)), None);
        assert_eq!(
            restarted(&seen, &member(true, 0)).unwrap().detail,
            "member `main` exited with status 1 and runs again"
        );
    }
}
