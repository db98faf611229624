//! Progress of a run: a bar with readings on a terminal, a plain log elsewhere. Both on standard error.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::ui::{Ui, safe};
use crate::model::plural::{counted, lasting};
use crate::model::reading::Known;
use crate::model::{LatencyValue, Quantile, Role};
use crate::record::event::{BlockFinished, Measured, Rehearsed};
use crate::record::progress::{Ending, ending};
use crate::run::{Closing, Notice, Observer, Unmeasured};

/// Shows a run's notices.
pub struct Progress {
    bar: Option<ProgressBar>,
    ui: Ui,
    readings: Vec<String>,
}

impl Progress {
    /// A bar where standard error is a terminal, else a log.
    #[must_use]
    pub fn new(ui: Ui) -> Self {
        let bar = ui.terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}")
                .expect("the template is well formed");
            bar.set_style(style);
            bar
        });
        Self {
            bar,
            ui,
            readings: Vec::new(),
        }
    }

    /// A line that stays.
    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => self.ui.note(text),
        }
    }

    /// What happens now: only on a terminal.
    fn now(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
        }
    }

    fn measured(&mut self, measured: &Measured) {
        self.readings
            .push(format!("{} {}", measured.id, reading(measured)));
    }

    fn finished(&mut self, finished: &BlockFinished, again: bool, left: Duration) {
        let readings = std::mem::take(&mut self.readings);
        let mut text = ended(finished, &readings.join("; "), again);
        if self.bar.is_none() {
            text = format!("{text}  [{} left]", lasting(left.as_secs()));
        }
        self.line(&text);
        if let Some(bar) = &self.bar
            && !again
            && ending(finished) != Ending::CutOff
        {
            bar.inc(1);
        }
    }
}

impl Observer for Progress {
    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Session {
                number,
                done,
                blocks,
                left,
            } => {
                if let Some(bar) = &self.bar {
                    bar.set_length(blocks as u64);
                    bar.set_position(done as u64);
                }
                let verb = if number > 1 { "going on" } else { "measuring" };
                self.line(&format!(
                    "{verb}: {done} of {} done, about {} left",
                    counted(blocks as u64, "block", "blocks"),
                    lasting(left.as_secs())
                ));
            }
            Notice::Calibrating { reading, of } => {
                self.now(format!("calibrating the probe, reading {reading} of {of}"));
            }
            Notice::Rehearsing(candidate) => self.now(format!("rehearsing {candidate}")),
            Notice::Rehearsed(rehearsed) => self.line(&rehearsal(rehearsed)),
            Notice::BlockStarted { attempt, left, .. } => {
                self.now(format!("{attempt}, about {} left", lasting(left.as_secs())));
            }
            Notice::Probing(attempt) => self.now(format!("{attempt}: probe")),
            Notice::Step { attempt, what, .. } => self.now(format!("{attempt}: {}", safe(what))),
            Notice::WarmingUp {
                attempt, scenario, ..
            } => self.now(format!("{attempt}: warming up {scenario}")),
            Notice::Window {
                attempt,
                measurement,
            } => self.now(format!("{attempt}: {}", measurement.id)),
            Notice::Reading { second, millicores } => self.now(cores(second, millicores)),
            Notice::Measured(measured) => self.measured(measured),
            Notice::BlockFinished {
                finished,
                again,
                left,
            } => self.finished(finished, again, left),
            Notice::Closed(closing) => {
                if let Some(bar) = &self.bar {
                    bar.finish_and_clear();
                }
                self.ui.note(&closed(closing));
            }
        }
    }
}

/// A try that ended: its measurements, what ended it, and what comes of it.
fn ended(finished: &BlockFinished, readings: &str, again: bool) -> String {
    let mut text = format!("{}  {readings}", finished.attempt);
    if let Some((outcome, detail)) = &finished.outcome {
        text = format!("{text}  {outcome}: {}", safe(detail));
    }
    for breach in &finished.breaches {
        let evidence = safe(&breach.evidence);
        text = format!("{text}\n    invalid: {} ({evidence})", breach.code);
    }
    if again {
        text.push_str("\n    will be tried again at the end of its round");
    } else if ending(finished) == Ending::CutOff {
        text.push_str("\n    left for `loadlab run --resume`");
    }
    text
}

fn rehearsal(rehearsed: &Rehearsed) -> String {
    let different = rehearsed
        .checks
        .iter()
        .filter_map(|check| check.difference.as_ref());
    let mut text = format!("rehearsed {}", rehearsed.candidate);
    match &rehearsed.failed {
        Some((outcome, detail)) => text = format!("{text}: {outcome}: {}", safe(detail)),
        None => text.push_str(": answers as expected"),
    }
    for difference in different {
        text = format!("{text}\n    {}", safe(difference));
    }
    if rehearsed.failed.is_some() {
        text.push_str(
            "\n    its blocks come all the same: what it does there is a result; Ctrl-C stops",
        );
    }
    text
}

fn cores(second: u64, millicores: &BTreeMap<Role, u64>) -> String {
    let shown: Vec<String> = millicores
        .iter()
        .map(|(role, used)| format!("{role} {}.{:02}", used / 1000, used % 1000 / 10))
        .collect();
    format!("second {second}, cores used: {}", shown.join(", "))
}

/// One measurement in a line: outcome, achieved rate, CPU of a request, p99.
fn reading(measured: &Measured) -> String {
    let Known::Value(account) = &measured.account else {
        return measured.outcome.to_string();
    };
    let answered = account.answered.get();
    let mut text = format!(
        "{}, {}",
        measured.outcome,
        counted(answered, "answer", "answers")
    );
    if let Some(cpu) = candidate_cpu(measured).and_then(|cpu| cpu.checked_div(answered)) {
        text = format!("{text}, {}.{} us of CPU each", cpu / 1000, cpu % 1000 / 100);
    }
    let p99: Quantile = "p99".parse().expect("p99 is a quantile");
    if let Some(LatencyValue::Exactly(latency)) = account.latency.get(&p99) {
        text = format!(
            "{text}, p99 {}.{:02} ms",
            latency / 1_000_000,
            latency % 1_000_000 / 10_000
        );
    }
    text
}

fn candidate_cpu(measured: &Measured) -> Option<u64> {
    let read = |edge: &crate::model::reading::Edge| {
        Some(edge.roles.get(&Role::Candidate)?.cpu.value()?.cpu_ns)
    };
    read(&measured.after)?.checked_sub(read(&measured.before)?)
}

fn closed(closing: &Closing) -> String {
    let Closing {
        valid,
        invalid,
        left,
        unmeasured,
        not_asked,
        ..
    } = closing;
    let state = match (closing.complete, not_asked) {
        (true, 0) => "complete",
        (true, _) => "the part that was asked for is complete",
        (false, _) => "not complete",
    };
    let mut text = format!(
        "{state}: {} valid, {invalid} invalid, {left} left",
        counted(*valid as u64, "block", "blocks")
    );
    if *not_asked > 0 {
        text = format!("{text}, {not_asked} not asked for");
    }
    if let Some(because) = &closing.because {
        text = format!("{text} ({})", safe(because));
    }
    for candidate in unmeasured {
        text = format!("{text}\n    {}", no_number(candidate));
    }
    text
}

/// A candidate of which valid blocks hold no measurement: `go gave no number in 4 of 4 valid blocks: exited`.
fn no_number(it: &Unmeasured) -> String {
    let outcomes: Vec<String> = it
        .outcomes
        .iter()
        .map(|(outcome, count)| match it.outcomes.len() {
            1 => outcome.to_string(),
            _ => format!("{outcome} {count}"),
        })
        .collect();
    format!(
        "{} gave no number in {} of its {}: {}",
        it.candidate,
        it.blocks(),
        counted(it.valid as u64, "valid block", "valid blocks"),
        outcomes.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{GuardCode, Outcome};
    use crate::record::event::Breach;

    #[test]
    fn the_end_names_who_gave_no_number() {
        let unmeasured = |valid, outcomes: &[(Outcome, usize)]| Unmeasured {
            candidate: "with-log".parse().unwrap(),
            valid,
            outcomes: outcomes.iter().copied().collect(),
        };
        let end = |unmeasured| {
            closed(&Closing {
                complete: true,
                because: None,
                valid: 7,
                invalid: 1,
                left: 0,
                not_asked: 0,
                unmeasured,
            })
        };
        let whole = "complete: 7 blocks valid, 1 invalid, 0 left";
        assert_eq!(end(vec![]), whole);
        let never = vec![unmeasured(4, &[(Outcome::Exited, 4)])];
        assert_eq!(
            end(never),
            format!("{whole}\n    with-log gave no number in 4 of its 4 valid blocks: exited")
        );
        let mixed = [(Outcome::NotReady, 1), (Outcome::Exited, 2)];
        assert_eq!(
            end(vec![unmeasured(4, &mixed)]),
            format!(
                "{whole}\n    with-log gave no number in 3 of its 4 valid blocks: not_ready 1, exited 2"
            )
        );
    }

    #[test]
    fn a_failed_rehearsal_says_that_the_blocks_come() {
        let mut rehearsed = Rehearsed {
            candidate: "with-log".parse().unwrap(),
            checks: Vec::new(),
            failed: None,
        };
        assert_eq!(
            rehearsal(&rehearsed),
            "rehearsed with-log: answers as expected"
        );
        rehearsed.failed = Some((Outcome::Exited, "member `main` exited".to_owned()));
        assert_eq!(
            rehearsal(&rehearsed),
            "rehearsed with-log: exited: member `main` exited\n    its blocks come all the same: what it does \
             there is a result; Ctrl-C stops"
        );
    }

    #[test]
    fn a_try_that_ended_says_what_comes_of_it() {
        let finished = |code| BlockFinished {
            attempt: crate::record::event::Attempt {
                block: crate::model::BlockId {
                    phase: "fixed-rate".parse().unwrap(),
                    round: 1,
                    candidate: "plain".parse().unwrap(),
                },
                attempt: 1,
            },
            outcome: None,
            breaches: vec![Breach {
                code,
                evidence: "so it was".to_owned(),
                measurement: None,
            }],
            host: Known::Absent("not read".to_owned()),
        };
        let name = "fixed-rate.r01.plain.a1";
        assert_eq!(
            ended(&finished(GuardCode::ProbeDrift), "page 1/s held", true),
            format!(
                "{name}  page 1/s held\n    invalid: probe_drift (so it was)\n    will be tried again at the \
                 end of its round"
            )
        );
        assert_eq!(
            ended(&finished(GuardCode::ProbeDrift), "", false),
            format!("{name}  \n    invalid: probe_drift (so it was)")
        );
        assert_eq!(
            ended(&finished(GuardCode::Interrupted), "", false),
            format!(
                "{name}  \n    invalid: interrupted (so it was)\n    left for `loadlab run --resume`"
            )
        );
    }
}
