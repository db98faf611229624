//! The author's words: templates whose numbers come from the summary alone.
//!
//! A text is checked for typed numbers, filled by functions that name numbers, made harmless, and turned
//! to HTML. Raw HTML in it is shown as text; a link leads to the web or into the page; an image is one of
//! the report's own charts.

mod functions;
mod markdown;
mod names;
mod planned;
mod typed;

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Value;

use super::error::RenderError;
use super::escape::Output;
use super::templates;
use super::view::table::Text;
pub(super) use names::Numbers;

/// What fills the author's texts.
pub(super) struct Author {
    numbers: Arc<Numbers>,
}

impl Author {
    /// Fills texts with these numbers.
    pub(super) fn new(numbers: Numbers) -> Self {
        Self {
            numbers: Arc::new(numbers),
        }
    }

    /// A text in both outputs. `name` is what a message calls it; `charts` are those that the text may
    /// show, as path and inline SVG.
    pub(super) fn text(
        &self,
        name: &str,
        source: &str,
        charts: &BTreeMap<String, String>,
    ) -> Result<Text, RenderError> {
        typed::refuse(name, source)?;
        templates::refuse_arithmetic(name, source).map_err(|error| in_prose(name, error))?;
        let filled = self.fill(name, source)?;
        let safe = markdown::harmless(name, &filled, charts)?;
        let html = markdown::html(&safe, charts);
        Ok(Text {
            md: Value::from_safe_string(safe),
            html: Value::from_safe_string(html),
        })
    }

    fn fill(&self, name: &str, source: &str) -> Result<String, RenderError> {
        let mut engine = templates::engine(Output::Markdown);
        functions::add(&mut engine, &self.numbers);
        engine
            .add_template("text", source)
            .map_err(|error| RenderError::prose(name, &error))?;
        templates::fill(&engine, "text", Value::from(())).map_err(|error| in_prose(name, error))
    }
}

/// The fault of a template as the fault of a text.
fn in_prose(name: &str, error: RenderError) -> RenderError {
    match error {
        RenderError::Template { line, message, .. } => RenderError::Prose {
            text: name.to_owned(),
            line,
            message,
        },
        other => other,
    }
}
