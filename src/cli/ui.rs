//! The only place that prints. Results go to standard output, everything else to standard error.
//!
//! Nothing here panics: a reader, a terminal or a disk that went away must never end a run that measures.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use super::args::ColorChoice;
use super::failure::{Code, Failure};
use crate::model::text::is_treacherous;

/// Whether a result could not be printed and somebody still wants it.
static LOST: AtomicBool = AtomicBool::new(false);

/// Whether a result was lost: the disk that standard output goes to is full, for example. A reader that
/// went away lost nothing.
#[must_use]
pub fn lost_a_result() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// How this process prints.
#[derive(Debug, Clone, Copy)]
pub struct Ui {
    /// Colours on standard output.
    pub stdout_color: bool,
    /// Colours on standard error.
    pub stderr_color: bool,
    /// Whether standard error is a terminal.
    pub terminal: bool,
}

impl Ui {
    /// Decides from the choice and from what the streams are.
    #[must_use]
    pub fn new(choice: ColorChoice) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = |terminal: bool| match choice {
            ColorChoice::Auto => terminal && !plain,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        let terminal = std::io::stderr().is_terminal();
        Self {
            stdout_color: color(std::io::stdout().is_terminal()),
            stderr_color: color(terminal),
            terminal,
        }
    }

    /// Prints a result. A reader that went away is no fault and no reason to leave work undone; any other
    /// failure is said at once and shows in the exit code.
    pub fn result(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let end = if text.ends_with('\n') { "" } else { "\n" };
        match write!(out, "{text}{end}").and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) => {
                LOST.store(true, Ordering::Relaxed);
                let text = format!("cannot write the result to standard output: {error}");
                self.failure(&Failure::new(Code::Internal, text));
            }
        }
    }

    /// Prints a value as JSON, indented.
    pub fn json<T: serde::Serialize>(&self, value: &T) {
        let text = serde_json::to_string_pretty(value).expect("a result has string keys");
        self.result(&text);
    }

    /// Prints a note that is no result.
    pub fn note(&self, text: &str) {
        say(&format!("{text}\n"));
    }

    /// Prints text that was made elsewhere, such as diagnostics, as it is.
    pub fn raw(&self, text: &str) {
        say(text);
    }

    /// Prints a caveat or another warning.
    pub fn warn(&self, text: &str) {
        say(&format!("{} {text}\n", self.paint("warning:", "33;1")));
    }

    /// Prints a failure with its hint.
    pub fn failure(&self, failure: &Failure) {
        if !failure.message.is_empty() {
            let error = self.paint("error:", "31;1");
            say(&format!("{error} {}\n", failure.message));
        }
        if let Some(hint) = &failure.hint {
            say(&format!("{} {hint}\n", self.paint("hint:", "36;1")));
        }
    }

    fn paint(self, text: &str, style: &str) -> String {
        if self.stderr_color {
            format!("\u{1b}[{style}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Writes to standard error in one piece. What cannot be said there can be said nowhere.
fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Text from elsewhere, made safe for a terminal: control, escape and bidirectional characters are
/// shown, not obeyed.
#[must_use]
pub fn safe(text: &str) -> String {
    let shown = |character: char| {
        let hidden = character.is_control() || is_treacherous(character);
        hidden && character != '\n' && character != '\t'
    };
    text.chars()
        .map(|character| {
            if shown(character) {
                character.escape_unicode().to_string()
            } else {
                character.to_string()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn escapes_are_shown_not_obeyed() {
        assert_eq!(safe("a\u{1b}[31mb\u{202e}c\n"), "a\\u{1b}[31mb\\u{202e}c\n");
    }
}
