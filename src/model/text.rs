//! Text from elsewhere: what may not reach a terminal as it is.

/// Whether a character is invisible and changes how its neighbours are read or drawn.
#[must_use]
pub const fn is_treacherous(character: char) -> bool {
    matches!(character,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text with control characters, and characters that are invisible or turn the direction of
/// writing, as visible escapes: `\n`, `\u{1b}`. All else, quotes included, stays as it is.
#[must_use]
pub fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_treacherous(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_does_harm_is_escaped() {
        for (given, shown) in [
            ("it's \"C:\\x\" – é 漢 🦀", "it's \"C:\\x\" – é 漢 🦀"),
            ("\u{1b}[31mred\n\u{9b}0m", "\\u{1b}[31mred\\n\\u{9b}0m"),
            (
                "a\u{202e}b\u{200b}c\u{feff}",
                "a\\u{202e}b\\u{200b}c\\u{feff}",
            ),
        ] {
            assert_eq!(harmless(given), shown);
        }
    }
}
