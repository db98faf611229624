//! loadlab's own test server: its settings with their defaults, and which of them contradict each other.

use super::context::{Context, Fault};
use super::steps;
use crate::manifest::code::DiagnosticCode;
use crate::manifest::tree::below;
use crate::manifest::wire;
use crate::model::stub::{Children, Stalls, Stub, StubFaults, WrongAnswers};
use crate::model::{Bytes, Nanoseconds, Share};

/// The largest body that the server keeps ready.
const LARGEST_BODY: Bytes = Bytes(1 << 30);

pub(super) fn expand(stub: &wire::Stub, pointer: &str, context: &mut Context<'_>) -> Stub {
    let expanded = Stub {
        work: time(stub.work.as_ref()),
        wait: time(stub.wait.as_ref()),
        hold: stub.hold.as_ref().map_or(Bytes(0), |hold| hold.0),
        status: stub.status.unwrap_or(200),
        body: stub.body.as_ref().map_or(Bytes(2), |body| body.0),
        faults: stub.faults.as_ref().map(faults).unwrap_or_default(),
    };
    let mut check = Check { pointer, context };
    check.answers(&expanded);
    check.times(&expanded.faults);
    check.shares(&expanded.faults);
    expanded
}

fn time(written: Option<&wire::Duration>) -> Nanoseconds {
    written.map_or(Nanoseconds(0), |time| time.0)
}

/// What changes nothing is the same as nothing.
fn faults(written: &wire::Faults) -> StubFaults {
    let longer = |time: Option<&wire::Duration>| Some(self::time(time)).filter(|time| time.0 > 0);
    StubFaults {
        wrong: written.wrong.as_ref().map(wrong),
        drop_every: written.drop_every,
        stall: written.stall.as_ref().map(stall),
        silent_after: written.silent_after,
        exit_after: written.exit_after,
        eat: written
            .eat
            .as_ref()
            .map(|eat| eat.0)
            .filter(|eat| eat.0 > 0),
        grow: longer(written.grow.as_ref()),
        children: written.children.as_ref().map(children),
        escape: written
            .escape
            .as_ref()
            .map(|share| share.0)
            .filter(|share| share.0 > 0),
        listen_after: longer(written.listen_after.as_ref()),
    }
}

fn wrong(written: &wire::WrongAnswers) -> WrongAnswers {
    WrongAnswers {
        every: written.every,
        body: written.body.as_ref().map(|body| body.0),
        status: written.status,
    }
}

fn stall(written: &wire::Stalls) -> Stalls {
    Stalls {
        every: written.every.0,
        time: written.time.0,
    }
}

fn children(written: &wire::Children) -> Children {
    Children {
        every: written.every,
        time: written.time.0,
        cpu: written.cpu.as_ref().map(|share| share.0),
    }
}

struct Check<'a, 'c> {
    pointer: &'a str,
    context: &'a mut Context<'c>,
}

impl Check<'_, '_> {
    fn at(&self, keys: &[&str]) -> String {
        let start = self.pointer.to_owned();
        keys.iter().fold(start, |pointer, key| below(&pointer, key))
    }

    fn never(&mut self, keys: &[&str], message: impl Into<String>, help: &str) {
        let pointer = self.at(keys);
        let fault = Fault::new(DiagnosticCode::NeverShown, &pointer, message);
        self.context.report(fault.help(help));
    }

    fn answers(&mut self, stub: &Stub) {
        self.body(&[], stub.status, stub.body);
        let Some(wrong) = stub.faults.wrong else {
            return;
        };
        let body = wrong.body.unwrap_or(stub.body);
        let status = wrong.status.unwrap_or(stub.status);
        if wrong.body.is_some() || wrong.status.is_some() {
            self.body(&["faults", "wrong"], status, body);
        }
        if body.0 == 0 && stub.body.0 == 0 && status == stub.status {
            let message =
                "the wrong answer is the right one: there is no body whose bytes could be others";
            let help = "give it a `body` or a `status` of its own";
            self.never(&["faults", "wrong"], message, help);
        }
    }

    /// A status without a body, and a body that is too large.
    fn body(&mut self, keys: &[&str], status: u16, body: Bytes) {
        let at = |key: &'static str| [keys, &[key]].concat();
        if matches!(status, 204 | 304) && body.0 > 0 {
            let message =
                format!("an answer of status {status} has no body, and {body} are asked for");
            self.never(&at("status"), message, "write `body: 0B`");
        }
        if body > LARGEST_BODY {
            let message = format!("a body of {body}: the test server keeps at most {LARGEST_BODY}");
            let fault = Fault::new(
                DiagnosticCode::BeyondMeaning,
                &self.at(&at("body")),
                message,
            );
            self.context.report(fault);
        }
    }

    fn times(&mut self, faults: &StubFaults) {
        if let Some(stall) = faults.stall {
            self.longer_than_nothing(
                &["faults", "stall", "every"],
                "the time from stall to stall",
                stall.every,
            );
            self.longer_than_nothing(&["faults", "stall", "time"], "a stall's length", stall.time);
            if stall.time >= stall.every && stall.every.0 > 0 {
                let message = format!(
                    "standing still for {} every {} leaves no time to answer",
                    stall.time, stall.every
                );
                self.never(
                    &["faults", "stall", "time"],
                    message,
                    "make `time` shorter than `every`",
                );
            }
        }
        if let Some(children) = faults.children {
            self.longer_than_nothing(
                &["faults", "children", "time"],
                "a child's life",
                children.time,
            );
        }
    }

    fn longer_than_nothing(&mut self, keys: &[&str], what: &str, time: Nanoseconds) {
        let pointer = self.at(keys);
        steps::longer_than_nothing(time, what, &pointer, self.context);
    }

    fn shares(&mut self, faults: &StubFaults) {
        let children = faults.children.and_then(|children| children.cpu);
        let shares = [
            (["faults", "children", "cpu"].as_slice(), children),
            (["faults", "escape"].as_slice(), faults.escape),
        ];
        for (keys, share) in shares {
            if let Some(share) = share.filter(|share| *share > Share::percent(100)) {
                let message = format!("{share} of a core: one process uses at most 100%");
                let fault = Fault::new(DiagnosticCode::BeyondMeaning, &self.at(keys), message);
                self.context.report(fault);
            }
        }
    }
}
