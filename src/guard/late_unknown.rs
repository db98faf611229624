//! Caveat `late_unknown`: answers after the window's end could not be told apart, so that the
//! achieved rate is an interval, and a wide one.

use crate::model::{Caveat, Known, LoadPoint, Nanoseconds};
use crate::record::event::Measured;

use super::share::{exceeds, percent};
use super::{Context, Verdict, inside, place};

pub(super) fn judge(measured: &Measured, context: &Context<'_>) -> Verdict {
    let allowed = context.experiment.guards.late_unknown;
    let Known::Value(account) = &measured.account else {
        return Verdict::default();
    };
    let scenario = context.experiment.scenarios.get(&measured.id.scenario);
    let status = scenario.map_or(200, |scenario| scenario.expect.status);
    let reached = inside(account, status);
    let whole = match measured.id.at {
        LoadPoint::Rate(rate) => rate.planned(Nanoseconds(measured.window_ns)),
        LoadPoint::Connections(_) => reached.high,
    };
    let width = reached.high - reached.low;
    if exceeds(width, whole, allowed) {
        let width = percent(width, whole);
        let detail = format!("{}: the achieved rate is known to {width}", place(measured));
        Verdict::caveat(Caveat::LateUnknown, detail)
    } else {
        Verdict::default()
    }
}
