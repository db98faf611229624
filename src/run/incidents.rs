//! What happened to a candidate, from the engine's events and from its own readings.

use super::watch::Seen;
use crate::model::reading::{Edge, MemberReading};
use crate::model::{MemberName, Outcome, Role, RoleReading, Share};
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

/// CPU time that no answer through a socket can cost less than, nanoseconds: the cheapest ones of nginx
/// cost about thirty times as much.
const LEAST_CPU_PER_ANSWER_NS: u64 = 500;
/// Answers below which nothing can be said.
const ENOUGH_ANSWERS: u64 = 1000;

/// Work of the candidate that its group does not show: processes that left it used more of a core than
/// this share of the time, or answers came while the group did no work.
pub(super) fn escaped(
    answered: u64,
    before: &Edge,
    after: &Edge,
    allowed: Share,
) -> Option<Incident> {
    let detail = left(before, after, allowed).or_else(|| idle(answered, before, after))?;
    Some(Incident {
        outcome: Outcome::EscapedCpu,
        detail,
    })
}

fn left(before: &Edge, after: &Edge, allowed: Share) -> Option<String> {
    let outside = |edge: &Edge| {
        let known = edge.outside_ns.get(&Role::Candidate)?;
        known.value().copied()
    };
    let used = outside(after)?.saturating_sub(outside(before)?);
    let length = after
        .host
        .monotonic_ns
        .saturating_sub(before.host.monotonic_ns);
    let limit = u128::from(length) * u128::from(allowed.millionths());
    (u128::from(used) * 1_000_000 > limit)
        .then(|| format!("processes of the candidate used {used} ns of CPU outside of its group"))
}

fn idle(answered: u64, before: &Edge, after: &Edge) -> Option<String> {
    let cpu = |edge: &Edge| {
        let reading = edge.roles.get(&Role::Candidate)?;
        reading
            .cpu
            .value()
            .map(|cpu| (cpu.cpu_ns, cpu.granularity_ns))
    };
    let ((earlier, step), (later, _)) = cpu(before).zip(cpu(after))?;
    let used = later.checked_sub(earlier)? + step;
    let least = answered.saturating_mul(LEAST_CPU_PER_ANSWER_NS);
    (answered >= ENOUGH_ANSWERS && used < least).then(|| {
        format!("{answered} answers came while the candidate's group used {used} ns of CPU")
    })
}

/// The candidate had as many processes and threads as its budget allows, or was refused one in the
/// window.
pub(super) fn limit_reached(before: &Edge, after: &Edge) -> Option<Incident> {
    let limit = *after.limits.get(&Role::Candidate)?.processes.value()?;
    let reading = after.roles.get(&Role::Candidate)?;
    let refused = |edge: &Edge| {
        let reading = edge.roles.get(&Role::Candidate)?;
        reading.refused_processes.value().copied()
    };
    let refused = refused(after)
        .zip(refused(before))
        .map_or(0, |(after, before)| after.saturating_sub(before));
    let found = reading.processes.value().copied().unwrap_or(0);
    let detail = if refused > 0 {
        format!("{refused} processes or threads were refused, the budget allows {limit}")
    } else if found >= limit {
        format!("{found} processes and threads, the budget allows {limit}")
    } else {
        return None;
    };
    Some(Incident {
        outcome: Outcome::LimitReached,
        detail,
    })
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
