//! Measuring a draft that is ready: the loop, what stops it, and how it ended.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::failure::{Code, Failure};
use super::progress::Progress;
use super::run::Ready;
use super::ui::{Ui, safe};
use super::{leftovers, paths};
use crate::model::plural::counted;
use crate::record::WriteError;
use crate::run::{Cancel, Closing, Observer, RunError};

/// Measures what is left of a draft, with progress, until its end or a person's.
///
/// # Errors
/// When the run cannot begin or go on.
pub fn measure(ready: &Ready, ui: Ui) -> Result<Ended, Failure> {
    let draft = paths::shown(ready.draft.folder());
    ui.note(&format!("draft: {draft}"));
    let cancel = Cancel::default();
    let mut progress = Progress::new(ui);
    match drive(ready, Hearing::begin()?, &mut progress, &cancel, ui)? {
        Ok(closing) => Ok(Ended {
            draft,
            closing,
            interrupted: cancel.is_requested(),
        }),
        Err(error) => Err(failed(&error, &cancel, &draft)),
    }
}

/// How a run ended, and whether a person asked it to.
pub struct Ended {
    draft: String,
    closing: Closing,
    interrupted: bool,
}

impl Ended {
    /// Nothing is left to measure.
    ///
    /// # Errors
    /// When a person interrupted it, or it ended early.
    pub fn complete(&self) -> Result<(), Failure> {
        let closing = &self.closing;
        let left = counted(closing.left as u64, "block is left", "blocks are left");
        let failure = if self.interrupted {
            Failure::new(Code::Interrupted, format!("interrupted; {left}"))
        } else if !closing.complete {
            let because = closing.because.as_deref();
            let because = safe(because.unwrap_or("the session ended early"));
            Failure::new(Code::Unfit, format!("{because}; {left}"))
        } else {
            return Ok(());
        };
        Err(failure.hint(format!("go on with `loadlab run --resume {}`", self.draft)))
    }

    /// Every block has an attempt that counts.
    ///
    /// # Errors
    /// When blocks stayed invalid.
    pub fn valid(&self) -> Result<(), Failure> {
        if self.closing.invalid == 0 {
            return Ok(());
        }
        let stayed = counted(
            self.closing.invalid as u64,
            "block stayed invalid",
            "blocks stayed invalid",
        );
        let hint = format!(
            "`loadlab report {}` shows why; a quiet machine helps",
            self.draft
        );
        Err(Failure::new(Code::Judgement, format!("{stayed} after every attempt")).hint(hint))
    }
}

/// Runs the loop until it ends or somebody stops it.
///
/// # Errors
/// When it cannot begin. How it ended is the value.
pub fn drive(
    ready: &Ready,
    hearing: Hearing,
    observer: &mut dyn Observer,
    cancel: &Cancel,
    ui: Ui,
) -> Result<Result<Closing, RunError>, Failure> {
    let Ready {
        draft,
        equipment,
        asked,
        records,
    } = ready;
    let experiment = draft
        .expanded()
        .map_err(|error| Failure::caused(Code::Damaged, &error))?;
    let mut writer = draft.writer().map_err(|error| unwritable(&error))?;
    let Hearing { runtime, signals } = hearing;
    for engine in equipment.rig.engines.values() {
        runtime.block_on(leftovers::clear(engine.as_ref(), &equipment.rig.entry, ui));
    }
    Ok(runtime.block_on(async {
        let signals = tokio::spawn(listen(signals, cancel.clone(), ui));
        let closing = crate::run::run(
            asked,
            &experiment,
            records,
            &equipment.rig,
            &mut writer,
            observer,
            cancel,
        )
        .await;
        signals.abort();
        closing
    }))
}

/// A draft that this user may not write to is whole; anything else is not.
fn unwritable(error: &WriteError) -> Failure {
    let denied = std::iter::successors(Some(error as &dyn std::error::Error), |error| {
        error.source()
    })
    .filter_map(|error| error.downcast_ref::<std::io::Error>())
    .any(|error| error.kind() == std::io::ErrorKind::PermissionDenied);
    if denied {
        Failure::caused(Code::Unfit, error)
            .hint("go on as the user that the draft belongs to, or give its folder to this one")
    } else {
        Failure::caused(Code::Damaged, error)
    }
}

/// The runtime of a run, which hears signals from its beginning: none of them ends loadlab any more, and
/// one that comes before the loop runs is heard when it does.
pub struct Hearing {
    runtime: tokio::runtime::Runtime,
    signals: Option<[Signal; 3]>,
}

impl Hearing {
    /// Begins to hear.
    ///
    /// # Errors
    /// When there can be no runtime.
    pub fn begin() -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                let message = format!("cannot start the run loop: {error}");
                Failure::new(Code::Internal, message)
            })?;
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let entered = runtime.enter();
        let signals: Result<Vec<_>, _> = kinds.map(signal).into_iter().collect();
        drop(entered);
        Ok(Self {
            runtime,
            signals: signals.ok().and_then(|signals| signals.try_into().ok()),
        })
    }
}

/// Hears SIGINT, SIGTERM and SIGHUP until the run ends.
async fn listen(signals: Option<[Signal; 3]>, cancel: Cancel, ui: Ui) {
    let Some([mut interrupt, mut terminate, mut hangup]) = signals else {
        return;
    };
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            // A terminal that closes says so more than once: its shell, then the kernel.
            _ = hangup.recv() => if cancel.is_requested() { continue },
        }
        if cancel.request() == 1 {
            ui.note(
                "stopping: the block in progress is marked interrupted; once more stops at once",
            );
        }
    }
}

fn failed(error: &RunError, cancel: &Cancel, draft: &str) -> Failure {
    let code = if cancel.is_requested() {
        Code::Interrupted
    } else {
        code_of(error)
    };
    let failure = Failure::new(code, safe(&error.to_string()));
    failure.hint(format!(
        "what was measured is kept; go on with `loadlab run --resume {draft}`"
    ))
}

/// The exit code that goes with a run's error.
#[must_use]
pub const fn code_of(error: &RunError) -> Code {
    match error {
        RunError::Unfit(_)
        | RunError::NoEngine { .. }
        | RunError::Engine(_)
        | RunError::Journal(_)
        | RunError::Beginning(_) => Code::Unfit,
        RunError::FileChanged { .. } => Code::Lock,
        RunError::Unbound { .. } | RunError::Unreadable { .. } => Code::Manifest,
        RunError::Records(_) => Code::Damaged,
        RunError::Abandoned => Code::Internal,
    }
}
