//! Text that others wrote, made harmless for where it goes.
//!
//! Every text that reaches a page passes through here exactly once: first [`plain`], which leaves no
//! control character and no character that changes the direction of writing, then the escape of the
//! output's kind.

use std::fmt::Write as _;

use crate::model::text::is_treacherous;

/// What a text is written into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// Markdown: `CommonMark` with GitHub's tables.
    Markdown,
    /// HTML.
    Html,
    /// SVG.
    Svg,
}

impl Output {
    /// The text so that it cannot become markup in this output.
    #[must_use]
    pub fn escape(self, text: &str) -> String {
        match self {
            Self::Markdown => markdown(text),
            Self::Html | Self::Svg => html(text),
        }
    }
}

/// The text in one line: white space runs become a space, control characters and characters that are
/// invisible or turn the direction of writing become their visible escape, `\u{1b}`.
#[must_use]
pub fn plain(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.trim().chars() {
        match character {
            '\n' | '\r' | '\t' | ' ' => {
                if !shown.ends_with(' ') {
                    shown.push(' ');
                }
            }
            _ if character.is_control() || is_treacherous(character) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// HTML and SVG: the five characters of markup become entities.
#[must_use]
pub fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in plain(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Markdown: whatever could begin a construct of `CommonMark`, of GitHub's tables, links, mathematics
/// or emoji is preceded by a backslash; what cannot, such as the point of a number, stays readable.
#[must_use]
pub fn markdown(text: &str) -> String {
    let text = plain(text);
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    let marker = block_marker(&text);
    for (offset, character) in text.char_indices() {
        let after = text[offset + character.len_utf8()..].chars().next();
        if marker == Some(offset) || is_markup(before, character, after) {
            escaped.push('\\');
        }
        escaped.push(character);
        before = Some(character);
    }
    escaped
}

/// Whether a character can begin or end a construct inside a line.
fn is_markup(before: Option<char>, character: char, after: Option<char>) -> bool {
    let word = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    match character {
        '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '$' | '&' | '@' | '{' | '}'
        | '^' => true,
        // Inside a word an underscore is only itself.
        '_' => !(word(before) && word(after)),
        // `https://`, `www.` and `:emoji:`; a colon before a space is only itself.
        ':' => after.is_some_and(|next| !next.is_whitespace()),
        '.' => before.is_some_and(|last| last.eq_ignore_ascii_case(&'w')) && word(after),
        '!' => after == Some('['),
        _ => false,
    }
}

/// Where the marker stands that would make a heading, list or rule of a whole line, if there is one.
fn block_marker(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if matches!(first, '#' | '+' | '-' | '=') {
        return Some(0);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let closes = matches!(text.as_bytes().get(digits), Some(b'.' | b')'));
    let ends = matches!(text.as_bytes().get(digits + 1), None | Some(b' '));
    (digits > 0 && closes && ends).then_some(digits)
}

/// A cell of a CSV table: a text that a spreadsheet would run as a formula is preceded by `'`.
/// Numbers, which may begin with a sign, stay as they are.
#[must_use]
pub fn csv(text: &str) -> String {
    let text = plain(text);
    let runs = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    if runs { format!("'{text}") } else { text }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Texts that would do something in some output.
    pub(crate) const NASTY: [&str; 14] = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "\u{1b}[31mred\u{1b}[0m\u{7}",
        "a\u{202e}b\u{2066}c\u{200b}",
        "[click](javascript:alert(1))",
        "![x](https://evil.example/x.png)",
        "`code` *em* __strong__ ~~gone~~ | cell",
        "# heading\n\n- item\n\n1. first",
        "=HYPERLINK(\"https://evil.example\")",
        "</svg></style><!--",
        "{{ value() }}{% include 'x' %}",
        "&lt;b&gt; https://evil.example www.evil.example a@evil.example",
        "$x^2$ :smile: <https://evil.example>",
        "\u{0}\r\n\u{85}\u{9b}31m",
    ];

    fn live_markup(markdown: &str) -> Vec<String> {
        use pulldown_cmark::{Event, Options, Parser, Tag};
        let harmless = |event: &Event<'_>| match event {
            Event::Text(_) | Event::End(_) | Event::SoftBreak => true,
            Event::Start(tag) => *tag == Tag::Paragraph,
            _ => false,
        };
        Parser::new_ext(markdown, Options::all())
            .filter(|event| !harmless(event))
            .map(|event| format!("{event:?}"))
            .collect()
    }

    #[test]
    fn nothing_invisible_is_left() {
        for text in NASTY {
            let shown = plain(text);
            let left = shown
                .chars()
                .find(|it| it.is_control() || is_treacherous(*it));
            assert_eq!(left, None, "{shown:?}");
        }
        assert_eq!(
            plain("\u{1b}[31m a\n\n b\u{202e}"),
            "\\u{1b}[31m a b\\u{202e}"
        );
    }

    #[test]
    fn a_text_is_only_text_in_markdown() {
        let bare = [
            "- a", "+ a", "1. a", "2) a", "#", "a_b", "=", "---", "    code", "_a_", "***",
        ];
        for text in NASTY.into_iter().chain(bare) {
            assert_eq!(
                live_markup(&markdown(text)),
                Vec::<String>::new(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_text_is_the_same_text_after_markdown() {
        for text in NASTY
            .into_iter()
            .chain(["64.2 µs", "1. a", "a_b", "50,000/s", "PHP 8.5"])
        {
            let mut page = String::new();
            pulldown_cmark::html::push_html(
                &mut page,
                pulldown_cmark::Parser::new_ext(&markdown(text), pulldown_cmark::Options::empty()),
            );
            let expected = plain(text).replace('&', "&amp;").replace('<', "&lt;");
            let expected = expected.replace('>', "&gt;");
            assert_eq!(page.trim(), format!("<p>{expected}</p>"), "{text:?}");
        }
    }

    #[test]
    fn plain_numbers_stay_readable() {
        for text in [
            "64.2 µs",
            "50,000/s",
            "PHP 8.5",
            "a-b",
            "[2.1, 2.3]".trim_matches(['[', ']']),
        ] {
            assert_eq!(markdown(text), text);
        }
    }

    #[test]
    fn html_has_no_markup_of_others() {
        for text in NASTY {
            let escaped = html(text);
            assert!(!escaped.contains(['<', '>', '"', '\'']), "{escaped}");
        }
    }

    #[test]
    fn a_spreadsheet_runs_nothing() {
        assert_eq!(csv("=1+1"), "'=1+1");
        assert_eq!(csv("@x"), "'@x");
        assert_eq!(csv("-1.5"), "-1.5");
        assert_eq!(csv("+x"), "'+x");
    }
}
