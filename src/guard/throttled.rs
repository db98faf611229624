//! `throttled`: a CPU quota slowed a role down. loadlab sets none, so any is not the budget.

use crate::model::GuardCode;
use crate::record::event::Measured;

use super::{Context, Verdict, Window};

pub(super) fn judge(measured: &Measured, _: &Context<'_>) -> Verdict {
    let window = Window::of(measured);
    let mut verdict = Verdict::default();
    for role in window.roles() {
        let Ok((before, after)) = window.cpu(role) else {
            continue;
        };
        let of = |known: &crate::model::Known<u64>| known.value().copied();
        let throttled = of(&after.throttled_ns)
            .zip(of(&before.throttled_ns))
            .map_or(0, |(after, before)| after.saturating_sub(before));
        if throttled > 0 {
            let evidence = format!("{role} was throttled for {throttled} ns by a CPU quota");
            verdict.add(Verdict::breach(
                GuardCode::Throttled,
                evidence,
                Some(&measured.id),
            ));
        }
    }
    verdict
}
