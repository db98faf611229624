//! Numbers with their noun or unit, for sentences.

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

/// A length of time in its two largest units, seconds cut off at whole ones: `7 s`, `3 min 20 s`, `2 h 1 min`.
#[must_use]
pub fn lasting(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_for_people() {
        assert_eq!(lasting(7), "7 s");
        assert_eq!(lasting(200), "3 min 20 s");
        assert_eq!(lasting(7260), "2 h 1 min");
    }

    #[test]
    fn only_one_is_singular() {
        let shown = |number| counted(number, "process", "processes");
        assert_eq!(shown(0), "0 processes");
        assert_eq!(shown(1), "1 process");
        assert_eq!(shown(21), "21 processes");
    }
}
