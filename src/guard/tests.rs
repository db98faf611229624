use crate::model::account::{Count, Late};
use crate::model::{Account, Known};

/// An account in which every sent request was answered with 200.
pub(crate) fn account(planned: u64, answered: u64) -> Account {
    Account {
        planned: Some(planned),
        sent: Count::Observed(answered),
        answered: Count::Observed(answered),
        by_status: [(200, answered)].into(),
        aborted: Count::Observed(0),
        errors: [].into(),
        late: Late::Exactly(0),
        body_bytes: answered * 100,
        elapsed_ns: 1_000_000_000,
        latency: [].into(),
        release_lag_p99_ns: Known::Absent("not known".to_owned()),
        burst: Known::Absent("not known".to_owned()),
    }
}
