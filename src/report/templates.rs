//! The layouts of the report and the engine that fills them.
//!
//! A template sees only what the view holds: texts that are formatted already. It does no arithmetic
//! (its tokens are checked when it is added), reads no file, ends (fuel) and stays small (a bound on
//! its output). Whatever it prints is a text, escaped for the output; a number, a missing name or an
//! absent value fails the render.

use std::collections::BTreeMap;
use std::io;

use minijinja::machinery::{Span, Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::error::RenderError;
use super::escape::Output;

/// Steps that one template may take.
const FUEL: u64 = 200_000_000;
/// Calls and includes inside one another.
const RECURSION: usize = 60;
/// Bytes that one template may print.
const LARGEST_OUTPUT: usize = 64 << 20;

/// The page as Markdown.
pub const MARKDOWN: &str = "page.md.j2";
/// The page as HTML.
pub const HTML: &str = "page.html.j2";
/// One chart.
pub const CHART: &str = "chart.svg.j2";

/// The templates that loadlab brings, by name.
#[must_use]
pub fn builtin() -> BTreeMap<String, &'static str> {
    let all = [
        (MARKDOWN, include_str!("../../templates/page.md.j2")),
        (HTML, include_str!("../../templates/page.html.j2")),
        (
            "standards.md.j2",
            include_str!("../../templates/standards.md.j2"),
        ),
        (
            "standards.html.j2",
            include_str!("../../templates/standards.html.j2"),
        ),
        ("page.css", include_str!("../../templates/page.css")),
        (CHART, include_str!("../../templates/chart.svg.j2")),
        ("chart.css", include_str!("../../templates/chart.css")),
    ];
    all.into_iter()
        .map(|(name, text)| (name.to_owned(), text))
        .collect()
}

/// The templates of one report: those built in, each replaced by the experiment's own of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Templates {
    texts: BTreeMap<String, String>,
}

impl Default for Templates {
    fn default() -> Self {
        Self::with(&BTreeMap::new())
    }
}

impl Templates {
    /// The built-in templates and the experiment's own, by file name in its `templates/`. A name that
    /// is not built in can be included by the others.
    #[must_use]
    pub fn with(own: &BTreeMap<String, String>) -> Self {
        let built_in = builtin()
            .into_iter()
            .map(|(name, text)| (name, text.to_owned()));
        let own = own.iter().map(|(name, text)| (name.clone(), text.clone()));
        Self {
            texts: built_in.chain(own).collect(),
        }
    }

    /// Every template that this report is made with, by name.
    #[must_use]
    pub fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// An engine that holds these templates and prints for one output.
    pub(super) fn engine(&self, output: Output) -> Result<Environment<'_>, RenderError> {
        let mut engine = engine(output);
        for (name, text) in &self.texts {
            refuse_arithmetic(name, text)?;
            engine
                .add_template(name, text)
                .map_err(|error| RenderError::template(&error))?;
        }
        Ok(engine)
    }
}

/// An engine without templates, filters, tests or functions that prints for one output.
pub(super) fn engine<'a>(output: Output) -> Environment<'a> {
    let mut engine = Environment::empty();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.set_fuel(Some(FUEL));
    engine.set_recursion_limit(RECURSION);
    engine.set_syntax(syntax());
    // What is escaped is decided by the output, below, not by a template's name or its own wish.
    engine.set_auto_escape_callback(|_| AutoEscape::Html);
    engine.set_formatter(move |out, _, value| {
        let text = value.as_str().ok_or_else(|| not_a_text(value))?;
        let written = if value.is_safe() {
            out.write_str(text)
        } else {
            out.write_str(&output.escape(text))
        };
        written.map_err(|_| Error::new(ErrorKind::WriteFailure, "the output is too large"))
    });
    engine
}

/// Jinja's own marks; a line that holds only a block leaves no line behind.
fn syntax() -> SyntaxConfig {
    let mut syntax = SyntaxConfig::builder();
    syntax
        .keep_trailing_newline(true)
        .trim_blocks(true)
        .lstrip_blocks(true);
    syntax
        .build()
        .expect("Jinja's own marks are a valid syntax")
}

fn not_a_text(value: &Value) -> Error {
    let found = if value.is_undefined() {
        "a name that is not there".to_owned()
    } else {
        format!("a {}", value.kind())
    };
    Error::new(
        ErrorKind::InvalidOperation,
        format!("a template prints texts that are formatted already, found {found}"),
    )
}

/// Fills a template.
pub(super) fn fill(
    engine: &Environment<'_>,
    name: &str,
    view: Value,
) -> Result<String, RenderError> {
    let template = engine
        .get_template(name)
        .map_err(|error| RenderError::template(&error))?;
    let mut page = Bounded(Vec::new());
    let filled = template.render_captured_to(view, &mut page);
    filled.map_err(|error| RenderError::template(&error))?;
    String::from_utf8(page.0).map_err(|_| RenderError::Template {
        template: name.to_owned(),
        line: 1,
        message: "the output is no UTF-8".to_owned(),
    })
}

/// A buffer that refuses to grow beyond the bound.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LARGEST_OUTPUT {
            let message = format!("the output is larger than {} MiB", LARGEST_OUTPUT >> 20);
            return Err(io::Error::other(message));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Refuses a template that calculates: numbers come from the summary, rounded once.
pub(super) fn refuse_arithmetic(name: &str, text: &str) -> Result<(), RenderError> {
    let fault = |line: u16, message: String| RenderError::Template {
        template: name.to_owned(),
        line: line.into(),
        message,
    };
    for token in tokenize(text, false, syntax()) {
        let (token, span): (Token<'_>, Span) = token.map_err(|error| RenderError::Template {
            template: name.to_owned(),
            line: error.line().unwrap_or(1),
            message: error.to_string(),
        })?;
        let operator = match token {
            Token::Plus => "+",
            Token::Minus => "-",
            Token::Mul => "*",
            Token::Div => "/",
            Token::FloorDiv => "//",
            Token::Pow => "**",
            Token::Mod => "%",
            _ => continue,
        };
        let message = format!(
            "a template does no arithmetic, found `{operator}`; declare the number under `derived` and print it with `derived(…)`"
        );
        return Err(fault(span.start_line, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(output: Output, text: &str) -> Result<String, RenderError> {
        let own = BTreeMap::from([("own.j2".to_owned(), text.to_owned())]);
        let templates = Templates::with(&own);
        let view = Value::from_pairs([("name", "<b>*x*</b>"), ("digits", "64")]);
        fill(&templates.engine(output)?, "own.j2", view)
    }

    fn fault(text: &str) -> String {
        filled(Output::Html, text).unwrap_err().to_string()
    }

    #[test]
    fn the_output_decides_what_is_escaped() {
        for (output, expected) in [
            (Output::Html, "&lt;b&gt;*x*&lt;/b&gt;"),
            (Output::Svg, "&lt;b&gt;*x*&lt;/b&gt;"),
            (Output::Markdown, "\\<b\\>\\*x\\*\\</b\\>"),
        ] {
            assert_eq!(filled(output, "{{ name }}").unwrap(), expected);
            let wish = "{% autoescape false %}{{ name }}{% endautoescape %}";
            assert_eq!(filled(output, wish).unwrap(), expected);
        }
        assert!(fault("{{ name | safe }}").contains("unknown filter"));
    }

    #[test]
    fn a_template_does_no_arithmetic() {
        for text in [
            "{{ 1 + 1 }}",
            "{% if 4 - 1 %}{% endif %}",
            "{{ digits * 2 }}",
            "{{ 4 // 2 }}",
            "{{ 2 ** 2 }}",
            "{{ 5 % 2 }}",
            "{{ -1 }}",
        ] {
            let fault = fault(text);
            assert!(fault.contains("a template does no arithmetic"), "{fault}");
        }
        assert_eq!(
            filled(Output::Html, "{#- 1 + 1 -#}a - b {{- digits -}} c").unwrap(),
            "a - b64c"
        );
        for (name, text) in builtin() {
            refuse_arithmetic(&name, text).unwrap();
        }
    }

    #[test]
    fn a_number_that_is_not_formatted_fails() {
        for text in [
            "{{ 1.5 }}",
            "{{ 2 }}",
            "{{ true }}",
            "{{ none }}",
            "{{ [name] }}",
        ] {
            assert!(fault(text).contains("formatted already"), "{text}");
        }
        assert!(
            fault("\n{{ nowhere }}").contains("line 2"),
            "{}",
            fault("\n{{ nowhere }}")
        );
    }

    #[test]
    fn a_template_reads_nothing_and_ends() {
        assert!(fault("{% include '/etc/passwd' %}").contains("/etc/passwd"));
        assert!(fault("{% include 'own.j2' %}").contains("recursion"));
        let mut long = String::new();
        for depth in 0..12 {
            long.push_str(&format!("{{% for a{depth} in [1,1,1,1,1,1,1,1,1,1] %}}"));
        }
        long.push('x');
        long.push_str(&"{% endfor %}".repeat(12));
        let fault = fault(&long);
        assert!(
            fault.contains("fuel") || fault.contains("larger"),
            "{fault}"
        );
    }
}
