//! The reference nginx: its configuration, its load, and the verdict on its readings.
//!
//! nginx runs no application code here: every answer is a fixed text from its own configuration.

pub mod fixed_work;
pub mod nginx;
pub mod verdict;

use crate::model::account::BoundRequest;
use crate::model::probe::Probe;
use crate::model::{LoadPoint, Quantile, Shot};

/// Longest wait for one answer of the reference nginx: far beyond anything that is a reading.
pub const TIMEOUT: crate::model::Nanoseconds = crate::model::Nanoseconds::seconds(2);

/// The load of one probe reading, by a generator of so many threads.
#[must_use]
pub fn shot(probe: &Probe, threads: u32) -> Shot {
    shaped(
        probe,
        LoadPoint::Rate(probe.rate),
        probe.connections,
        threads,
    )
}

/// The load of the probe's own ceiling; absent where the manifest does not ask for it.
#[must_use]
pub fn ceiling(probe: &Probe, threads: u32) -> Option<Shot> {
    let connections = probe.ceiling?;
    let at = LoadPoint::Connections(connections);
    Some(shaped(probe, at, connections, threads))
}

fn shaped(probe: &Probe, at: LoadPoint, connections: u32, threads: u32) -> Shot {
    Shot {
        request: BoundRequest {
            method: "GET".to_owned(),
            path: nginx::PATH.to_owned(),
            headers: std::collections::BTreeMap::new(),
            body: None,
        },
        at,
        connections,
        duration: probe.duration,
        timeout: TIMEOUT,
        threads,
        keep_requests: true,
        status: 200,
        quantiles: Quantile::PRINTED.to_vec(),
    }
}

/// Why a text is no `stub_status` page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected nginx's stub_status page, found `{0}`")]
pub struct NoStatusPage(String);

/// Requests that nginx has handled so far, from its `stub_status` page: the third number of the
/// line below `server accepts handled requests`. The request for the page itself is counted.
///
/// # Errors
/// When the text is no such page; the message holds its beginning, escaped.
pub fn witness(text: &str) -> Result<u64, NoStatusPage> {
    let fault = || {
        NoStatusPage(
            text.chars()
                .take(60)
                .collect::<String>()
                .escape_debug()
                .to_string(),
        )
    };
    let mut lines = text.lines().map(str::trim);
    lines
        .by_ref()
        .find(|line| *line == "server accepts handled requests")
        .ok_or_else(fault)?;
    let numbers: Option<Vec<u64>> = lines
        .next()
        .map(|line| {
            line.split_whitespace()
                .map(|word| word.parse().ok())
                .collect()
        })
        .ok_or_else(fault)?;
    match numbers.as_deref() {
        Some([_, _, requests]) => Ok(*requests),
        _ => Err(fault()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "Active connections: 51 \nserver accepts handled requests\n 151 151 40012 \n\
                        Reading: 0 Writing: 1 Waiting: 50 \n";

    #[test]
    fn the_witness_is_the_third_number() {
        assert_eq!(witness(PAGE), Ok(40_012));
    }

    #[test]
    fn another_page_is_no_witness() {
        for bad in [
            "",
            "<html>\u{1b}[31m404</html>",
            "server accepts handled requests\n",
            "server accepts handled requests\n 1 2\n",
            "server accepts handled requests\n 1 2 x\n",
            "server accepts handled requests\n 1 2 99999999999999999999\n",
        ] {
            assert!(witness(bad).is_err(), "{bad}");
        }
        assert_eq!(
            witness("<b>\u{1b}[31m").unwrap_err().to_string(),
            "expected nginx's stub_status page, found `<b>\\u{1b}[31m`"
        );
    }
}
