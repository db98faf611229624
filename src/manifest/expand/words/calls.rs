//! Calls of the report's functions in a text, with the place of each argument.

/// The functions that name numbers.
const FUNCTIONS: [&str; 5] = ["value", "interval", "ratio", "derived", "planned"];

/// A call.
pub(super) struct Call {
    /// Its name.
    pub(super) function: &'static str,
    /// Where it stands in the text, bytes.
    pub(super) range: (usize, usize),
    /// Its arguments in order.
    pub(super) arguments: Vec<Argument>,
}

/// An argument of a call.
pub(super) struct Argument {
    /// Its name; empty: it has none.
    pub(super) key: String,
    /// What is written out; absent: a template computes it.
    pub(super) value: Option<String>,
    /// Where it stands in the text, bytes.
    pub(super) range: (usize, usize),
}

/// Every call between `{{` and `}}` that is closed.
pub(super) fn calls(text: &str) -> Vec<Call> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find("{{").map(|at| from + at + 2) {
        let close = text[open..].find("}}").map_or(text.len(), |at| open + at);
        calls_between(text, open, close, &mut found);
        from = close;
    }
    found
}

fn calls_between(text: &str, open: usize, close: usize, found: &mut Vec<Call>) {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    for function in FUNCTIONS {
        for (at, _) in text[open..close].match_indices(function) {
            let start = open + at;
            let after = start + function.len();
            let before = text[..start].chars().next_back();
            let rest = text[after..close].trim_start();
            if before.is_some_and(is_word) || !rest.starts_with('(') {
                continue;
            }
            let inside = close - rest.len() + 1;
            if let Some((arguments, end)) = arguments(text, inside, close) {
                found.push(Call {
                    function,
                    range: (start, end),
                    arguments,
                });
            }
        }
    }
}

/// The arguments and the place behind the closing parenthesis; absent: it is not closed.
fn arguments(text: &str, inside: usize, close: usize) -> Option<(Vec<Argument>, usize)> {
    let (mut quote, mut depth, mut start) = (None, 0_usize, inside);
    let mut arguments = Vec::new();
    for (at, it) in text[inside..close].char_indices() {
        let at = inside + at;
        match (quote, it) {
            (Some(mark), it) if it == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(it),
            (None, '(' | '[') => depth += 1,
            (None, ')') if depth == 0 => {
                arguments.extend(argument(text, start, at));
                return Some((arguments, at + 1));
            }
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                arguments.extend(argument(text, start, at));
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    None
}

fn argument(text: &str, start: usize, end: usize) -> Option<Argument> {
    let written = text[start..end].trim();
    if written.is_empty() {
        return None;
    }
    let start = start + (text[start..end].len() - text[start..end].trim_start().len());
    let named = written.split_once('=').filter(|(key, _)| {
        let mut letters = key.trim().chars();
        letters.all(|it| it.is_ascii_alphanumeric() || it == '_')
    });
    let (key, value) = named.unwrap_or(("", written));
    Some(Argument {
        key: key.trim().to_owned(),
        value: literal(value.trim()),
        range: (start, start + written.len()),
    })
}

/// A text in quotes without escapes, or a whole number.
fn literal(value: &str) -> Option<String> {
    let inner = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
    let quoted = inner('"').or_else(|| inner('\''));
    match quoted {
        Some(text) if !text.contains(['"', '\'', '\\']) => Some(text.to_owned()),
        Some(_) => None,
        None => (!value.is_empty() && value.bytes().all(|it| it.is_ascii_digit()))
            .then(|| value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let of = |call: Call| {
            let arguments: Vec<String> = call
                .arguments
                .iter()
                .map(|it| format!("{}={:?}", it.key, it.value.as_deref()))
                .collect();
            let (start, end) = call.range;
            format!(
                "{} [{}] {}",
                call.function,
                &text[start..end],
                arguments.join(" ")
            )
        };
        calls(text).into_iter().map(of).collect()
    }

    #[test]
    fn calls_are_found_where_a_template_fills_in() {
        assert_eq!(
            shown("a {{ value(metric=\"p99\", at=64) }} b value(x) {{ derived('a') | upper }}"),
            [
                "value [value(metric=\"p99\", at=64)] metric=Some(\"p99\") at=Some(\"64\")",
                "derived [derived('a')] =Some(\"a\")",
            ]
        );
        assert_eq!(
            shown("{{ value(candidate=name, metric=f(1, 2)) }}"),
            ["value [value(candidate=name, metric=f(1, 2))] candidate=None metric=None"]
        );
        for text in [
            "{{ my_value(a) }}",
            "{{ value(",
            "{{ value }}",
            "{{",
            "{{ 'ä' }}",
        ] {
            assert_eq!(shown(text), Vec::<String>::new(), "{text}");
        }
    }
}
