//! Why a report cannot be made. Each says which text, where, and the way out.

/// Why a report cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// A template is at fault.
    #[error("template `{template}`, line {line}: {message}")]
    Template {
        /// Its name.
        template: String,
        /// The line in it, from 1.
        line: usize,
        /// What was found and what is expected.
        message: String,
    },
    /// A text of the author is at fault: the prose, the finding, a limit, a result.
    #[error("{text}, line {line}: {message}")]
    Prose {
        /// Which text: `entry.md.j2`, `page.finding.text`, ….
        text: String,
        /// The line in it, from 1.
        line: usize,
        /// What was found and what is expected.
        message: String,
    },
}

impl RenderError {
    /// The engine's error with its place and its whole chain of causes.
    pub(super) fn template(error: &minijinja::Error) -> Self {
        Self::Template {
            template: error.name().unwrap_or("unnamed").to_owned(),
            line: error.line().unwrap_or(1),
            message: chain(error),
        }
    }

    /// The same for a text of the author.
    pub(super) fn prose(text: &str, error: &minijinja::Error) -> Self {
        Self::Prose {
            text: text.to_owned(),
            line: error.line().unwrap_or(1),
            message: chain(error),
        }
    }
}

/// What the engine says, and each cause after it.
fn chain(error: &minijinja::Error) -> String {
    let own = |error: &minijinja::Error| {
        let kind = error.kind().to_string();
        match (error.kind(), error.detail()) {
            // Our own functions and formatter say it all.
            (minijinja::ErrorKind::InvalidOperation, Some(detail)) => detail.to_owned(),
            (_, Some(detail)) => format!("{kind}: {detail}"),
            (_, None) => kind,
        }
    };
    let mut message = own(error);
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let text = inner.downcast_ref().map_or_else(|| inner.to_string(), own);
        message.push_str("; ");
        message.push_str(&text);
        cause = inner.source();
    }
    message
}
