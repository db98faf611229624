//! A number with its noun, for sentences.

/// The noun that goes with a number: `one` with 1, `many` with any other.
#[must_use]
pub const fn noun<'a>(number: u64, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

/// A number with its noun: `0 blocks`, `1 block`, `2 blocks`.
#[must_use]
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", noun(number, one, many))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let shown = |number| counted(number, "process", "processes");
        assert_eq!(shown(0), "0 processes");
        assert_eq!(shown(1), "1 process");
        assert_eq!(shown(21), "21 processes");
    }
}
