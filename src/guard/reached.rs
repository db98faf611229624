//! How many expected answers came inside a load window, and whether that holds the target.

use crate::model::account::Late;
use crate::model::{Account, Share};

use super::share::reaches;

/// Expected answers inside the load window: between these, both possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// No fewer.
    pub low: u64,
    /// No more.
    pub high: u64,
}

/// Expected answers inside the load window.
///
/// Answers after the window's end do not count. Where they cannot be told apart, the fewest are
/// left when all of them that may be late were late and as expected, the most when none was.
#[must_use]
pub fn inside(account: &Account, status: u16) -> Reached {
    let expected = account.with_status(status);
    let others = account.answered.get().saturating_sub(expected);
    let (fewest, most) = match account.late {
        Late::Exactly(late) => (late, late),
        Late::AtMost(late) => (0, late),
    };
    Reached {
        low: expected.saturating_sub(most),
        high: expected.saturating_sub(fewest.saturating_sub(others)),
    }
}

/// Whether a target is held for certain: the fewest answers inside the window are at least this
/// share of the planned requests.
#[must_use]
pub fn holds(reached: Reached, planned: u64, held_at: Share) -> bool {
    reaches(reached.low, planned, held_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::tests::account;

    #[test]
    fn late_answers_do_not_count() {
        let mut account = account(1000, 1000);
        account.late = Late::Exactly(10);
        assert_eq!(
            inside(&account, 200),
            Reached {
                low: 990,
                high: 990
            }
        );
        account.late = Late::AtMost(10);
        assert_eq!(
            inside(&account, 200),
            Reached {
                low: 990,
                high: 1000
            }
        );
        account.by_status = [(200, 995), (500, 5)].into();
        account.late = Late::Exactly(10);
        assert_eq!(
            inside(&account, 200),
            Reached {
                low: 985,
                high: 990
            }
        );
    }

    #[test]
    fn a_target_is_held_only_for_certain() {
        let held = |low| holds(Reached { low, high: 1000 }, 1000, Share::percent(99));
        assert!(held(990));
        assert!(!held(989));
    }
}
