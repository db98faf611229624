//! Finds numbers with a metric's unit that were typed instead of named.

use std::sync::LazyLock;

use regex::Regex;

use super::super::error::RenderError;

/// A number, at most two spaces or a hyphen, and a unit that a metric can have.
static TYPED: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"\d(?:[\d,._\x{a0}\x{202f}]*\d)?";
    let units = [
        r"(?:[a-z]+[ \x{a0}])?/[ ]?s(?:ec|econd)?",
        r"(?:[a-z]+[ \x{a0}])?(?:a|per|each)[ \x{a0}]second",
        r"(?:req(?:uest)?s?|writes|reads)/s(?:ec|econd)?|rps|qps",
        r"[nuµμm]?s|[mM]illiseconds?|[mM]icroseconds?|[nN]anoseconds?|sec(?:ond)?s?",
        r"[cC]ores?|[cC]pus?",
        r"[kKMGT]i?B|B|[bB]ytes?|[kK]ilobytes?|[mM]egabytes?|[gG]igabytes?",
    ]
    .join("|");
    Regex::new(&format!(
        r"{number}[ \x{{a0}}\x{{202f}}\n-]{{0,2}}(?:{units})\b"
    ))
    .expect("the pattern of a typed number is a valid expression")
});

/// What is no prose: what a template fills in, fenced code, addresses.
static MASKED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?ms)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|^ {0,3}```.*?^ {0,3}```|https?://[^\s)>]+")
        .expect("the pattern of what is no prose is a valid expression")
});

/// Refuses a text in which a number with a metric's unit is typed.
pub(super) fn refuse(name: &str, source: &str) -> Result<(), RenderError> {
    let prose = MASKED.replace_all(source, |found: &regex::Captures<'_>| {
        let blank = |it: char| if it == '\n' { '\n' } else { '\u{1}' };
        found[0].chars().map(blank).collect::<String>()
    });
    let Some(found) = TYPED.find_iter(&prose).find(|it| stands_alone(&prose, it)) else {
        return Ok(());
    };
    let line = 1 + prose[..found.start()].matches('\n').count();
    let shown = super::super::escape::plain(found.as_str());
    Err(RenderError::Prose {
        text: name.to_owned(),
        line,
        message: format!(
            "`{shown}` is typed; a number with a unit comes from the summary: write `value(…)`, `derived(…)` or `ratio(…)`, `planned(…)` for a setting of the manifest, `cited(value, source)` for a figure from elsewhere"
        ),
    })
}

/// Whether the number and the unit are whole words; a decade such as `1990s` is no number of seconds.
fn stands_alone(prose: &str, found: &regex::Match<'_>) -> bool {
    let word = |it: char| it.is_alphanumeric() || it == '_';
    let mut before = prose[..found.start()].chars().rev();
    let joined = match before.next() {
        Some('.' | '-') => before.next().is_some_and(word),
        Some(it) => word(it),
        None => false,
    };
    let goes_on = prose[found.end()..].chars().next().is_some_and(word);
    let text = found.as_str();
    let decade =
        text.len() == 5 && text.ends_with("0s") && text[..4].bytes().all(|it| it.is_ascii_digit());
    !joined && !goes_on && !decade
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_number_is_refused_with_its_line() {
        for typed in [
            "64 µs",
            "64µs",
            "64 us",
            "50,000/s",
            "50,000 /s",
            "12 ms",
            "3.4 cores",
            "1 GiB",
            "27 MiB",
            "20,078 bytes",
            "10,000 writes/s",
            "10,000 writes a second",
            "500 requests per second",
            "4 kB",
            "1 core",
            "60s",
            "2.5 seconds",
            "64\u{a0}µs",
            "4-core",
            "64\nµs",
            "2000 rps",
        ] {
            let fault = refuse("entry.md.j2", &format!("one\n\nsaid {typed} here")).unwrap_err();
            let text = fault.to_string();
            assert!(
                text.starts_with("entry.md.j2, line 3: `"),
                "{typed}: {text}"
            );
            assert!(text.contains("is typed"), "{text}");
        }
    }

    #[test]
    fn what_is_no_measure_stays() {
        for prose in [
            "PHP 8.5 and nginx 1.26.3",
            "the 1990s",
            "level-6 sees",
            "three cores",
            "5 times",
            "RFC 7231 says",
            "95% coverage",
            "{{ value(metric=\"p99\") }} at 3 scenarios",
            "```\noha -z 60s -q 50000\n```",
            "see https://example.org/64ms",
            "10 minutes",
            "in 6 rounds",
            "{# 64 µs #}",
            "sha256 s",
            "HTTP/2 servers",
            "x86 CPUs",
        ] {
            assert_eq!(refuse("entry.md.j2", prose), Ok(()), "{prose}");
        }
    }
}
