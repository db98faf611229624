//! Made-up readings of load windows beside the metrics.

use std::collections::BTreeMap;

use loadlab::estimate::summary::{Counted, Decimal, LimitsSeen, MemoryUse, Requests, Watched};
use loadlab::model::Role;

fn decimal(value: f64) -> Option<Decimal> {
    Some(Decimal::from(value))
}

pub fn requests(windows: u64, planned: Option<u64>) -> Requests {
    let answered = 79_990 * windows;
    let counted = |number| Counted {
        number,
        observed: true,
    };
    Requests {
        windows,
        planned,
        sent: Counted {
            number: answered + 7,
            observed: false,
        },
        answered: counted(answered),
        by_status: BTreeMap::from([(200, answered - 3), (503, 3)]),
        aborted: counted(5),
        errors: BTreeMap::from([("connection closed before message completed".to_owned(), 2)]),
        late: 4,
        late_is_exact: planned.is_some(),
        witness: Some((answered, answered)),
    }
}

pub fn memory() -> BTreeMap<Role, MemoryUse> {
    let of = MemoryUse {
        peak: decimal(6_400_000.0),
        mean: decimal(6_200_000.0),
        kernel: decimal(1_100_000.0),
        kernel_peak: decimal(28_300_000.0),
    };
    BTreeMap::from([(Role::Candidate, of)])
}

pub fn watched() -> Watched {
    Watched {
        context_switches: decimal(12_340.0),
        cpu_pressure: decimal(0.021),
        generator_wait: decimal(0.004),
        swapped_pages: Some(0),
        retransmitted: Some(3),
        listen_overflows: Some(0),
        throttled_ns: None,
    }
}

pub fn limits() -> Vec<LimitsSeen> {
    vec![LimitsSeen {
        role: Role::Candidate,
        cpus: Some("0".to_owned()),
        memory_bytes: Some(256 << 20),
        processes: Some(64),
        because: Vec::new(),
        edges: 36,
    }]
}
