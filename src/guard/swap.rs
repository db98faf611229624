//! `swap`: pages swapped in or out during a window.

use crate::model::GuardCode;
use crate::record::event::Measured;

use super::{Context, Verdict};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let allowed = context.experiment.guards.swap_pages;
    match swapped(measured) {
        Some(pages) if pages > allowed => Verdict::breach(
            GuardCode::Swap,
            format!("{pages} pages swapped in the window, allowed are {allowed}"),
            Some(&measured.id),
        ),
        _ => Verdict::default(),
    }
}

fn swapped(measured: &Measured) -> Option<u64> {
    let (before, after) = (&measured.before.host, &measured.after.host);
    let pages = (after.swapped_pages.value()?, before.swapped_pages.value()?);
    Some(pages.0.saturating_sub(*pages.1))
}
