//! Exact comparison of a part with a share of a whole, and its printed form.

use crate::model::Share;

/// Whether `part / whole` is above the share. False for an empty whole.
pub(super) fn exceeds(part: u64, whole: u64, share: Share) -> bool {
    u128::from(part) * 1_000_000 > u128::from(whole) * u128::from(share.millionths())
}

/// Whether `part / whole` is at least the share. True for an empty whole.
pub(super) fn reaches(part: u64, whole: u64, share: Share) -> bool {
    u128::from(part) * 1_000_000 >= u128::from(whole) * u128::from(share.millionths())
}

/// `part / whole` in hundredths with one digit, rounded half up: `74.2 %`.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "an unknown share".to_owned();
    }
    let (part, whole) = (u128::from(part), u128::from(whole));
    let tenths = (part * 2000 + whole) / (2 * whole);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_compared_exactly() {
        let third = Share(333_333);
        assert!(exceeds(1, 3, third));
        assert!(!exceeds(333_333, 1_000_000, third));
        assert!(reaches(333_333, 1_000_000, third));
        assert!(!exceeds(0, 0, third));
        assert!(exceeds(u64::MAX, u64::MAX, Share(999_999)));
    }

    #[test]
    fn hundredths_are_rounded_half_up() {
        for (part, whole, text) in [
            (1, 3, "33.3 %"),
            (1, 8, "12.5 %"),
            (2, 3, "66.7 %"),
            (3, 2, "150.0 %"),
        ] {
            assert_eq!(percent(part, whole), text);
        }
    }
}
